"""Grade rules to begin with: the site's suggestion, and policies of real courses that fill the form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from . import marks
from .marks import Field, Person, ScoreScale
from .rules import GradeRules
from .values import fraction_of

MEAN_RANGE = (70.0, 85.0)


def _score_term(**parts: Any) -> dict[str, Any]:
    return {"name": "Score", "of": "score", **parts}


# The worst and the best baseline.
LOW, HIGH = {"baseline": "low"}, {"baseline": "high"}
RISING = _score_term(line=[[LOW, 60], [HIGH, 100]])
WINNER = {"name": "Winner", "of": "place", "steps": [[1, 5]]}
REPORT = {"name": "Report", "of": "by_hand"}
PLACE = {"name": "Place", "of": "place", "line": [["last", 60], [1, 100]]}
BASELINES = {"name": "Baselines", "of": "baselines", "line": [[0, 0], ["last", 100]]}


class Picture(NamedTuple):
    """A policy of real courses that fills the form, with the path of its drawing (64 × 32)."""

    key: str
    label: Any
    path: str
    terms: Sequence[Any]
    more: Mapping[str, Any] = {}


PICTURES = (
    Picture("between", _("Between two baselines"), "M4 26H16L48 6H60", [RISING]),
    Picture(
        "cutoffs",
        _("Cut-offs"),
        "M4 28H18V20H32V12H46V5H60",
        [_score_term(steps=[[LOW, 70], [HIGH, 100]], below=50)],
    ),
    Picture(
        "best",
        _("Against the best of the class"),
        "M4 28L60 5M56 3V9M52 5H60",
        [_score_term(line=[[LOW, 50], [{"class": "best"}, 100]])],
    ),
    Picture("place", _("By place"), "M4 6H16V12H28V18H40V24H60", [PLACE]),
    Picture("baselines", _("Baselines beaten"), "M4 10H60M4 20H60M14 28V14M32 28V6M50 28V6", [BASELINES]),
    Picture("bonus", _("Bonus on top"), "M4 26L40 12H60M50 8V2M47 5H53", [RISING, WINNER], {"cap": 105}),
    Picture(
        "hand",
        _("Points by hand"),
        "M8 26L36 8L42 12L14 28ZM44 28H60",
        [_score_term(line=[[LOW, 30], [HIGH, 60]]), REPORT],
        {"no_file": "rest"},
    ),
    Picture("empty", _("Empty"), "M4 28H60M4 28V4", []),
)


def order_baselines(baselines: Mapping[str, float], *, higher_is_better: bool) -> list[str]:
    """The names from the worst to the best score."""
    return sorted(baselines, key=lambda name: baselines[name], reverse=not higher_is_better)


def picture_values(key: str, baselines: Mapping[str, float], *, higher_is_better: bool) -> dict[str, Any] | None:
    """The rules of a picture, with the competition's baselines or scores to be filled in; None for another key."""
    ordered = order_baselines(baselines, higher_is_better=higher_is_better)
    for picture in PICTURES:
        if picture.key == key:
            return {"terms": _name_baselines(picture.terms, ordered), **picture.more}
    return None


def _name_baselines(values: Any, ordered: Sequence[str]) -> Any:
    """The rules with names for `LOW` and `HIGH`, or with empty scores if there are fewer than two baselines."""
    if values in (LOW, HIGH):
        name = ordered[0 if values == LOW else -1] if len(ordered) > 1 else None
        return {"baseline": name} if name else {"score": ""}
    if isinstance(values, dict):
        return {key: _name_baselines(each, ordered) for key, each in values.items()}
    return [_name_baselines(each, ordered) for each in values] if isinstance(values, list) else values


RANKS = _score_term(steps=[[{"top": 10}, 100], [{"top": 25}, 90], [{"top": 50}, 80], [{"top": 100}, 70]])


def choose_policy(
    values: Sequence[float], baselines: Mapping[str, float], *, higher_is_better: bool, title: str
) -> GradeRules:
    """The first policy by which the class's mean lies between 70 and 85 points; by rank where none does.

    `values` are the public scores of the teams, `baselines` those of the baselines.
    """
    field = Field(
        values={number: fraction_of(value) for number, value in enumerate(values)},
        higher_is_better=higher_is_better,
        baselines={name: fraction_of(score) for name, score in baselines.items()},
    )
    ordered = order_baselines(baselines, higher_is_better=higher_is_better)
    policies = []
    if len(set(baselines.values())) >= 2:
        policies.append(_name_baselines(RISING, ordered))
    policies += [_score_term(line=[[{"baseline": name}, 60], [{"class": "best"}, 100]]) for name in ordered]
    policies.append(RANKS)
    for policy in policies:
        rules = GradeRules.from_values({"terms": [policy], "title": title})
        if not values or MEAN_RANGE[0] <= _mean_points(rules, field) <= MEAN_RANGE[1]:
            break
    return rules


def _mean_points(rules: GradeRules, field: Field) -> float:
    scale = ScoreScale("", {("", "private", None): field})
    points = [marks.compute_mark(rules, scale, Person(teams={"": team})).points or 0.0 for team in field.values]
    return sum(points) / len(points)
