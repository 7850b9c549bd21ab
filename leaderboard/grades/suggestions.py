"""Grade rules to begin with: the site's suggestion, and policies of real courses that fill the form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from . import marks
from .marks import Field, Person, ScoreScale
from .rules import GradeRules
from .values import fraction_of

MEAN_RANGE = (70.0, 85.0)


def _score(**parts: Any) -> dict[str, Any]:
    return {"name": "Score", "of": "score", **parts}


def _line_between(low: str, high: str) -> list[Any]:
    return [[{"baseline": low}, 60], [{"baseline": high}, 100]]


@dataclass(frozen=True)
class Picture:
    """A policy of real courses that fills the form, with the path of its drawing (64 × 32)."""

    key: str
    label: Any
    path: str
    values: Callable[[str, str], dict[str, Any]]
    """The rules, from the names of the worst and the best baseline."""


def _by_hand(name: str) -> dict[str, Any]:
    return {"name": name, "of": "by_hand"}


PICTURES = (
    Picture(
        "between",
        _("Between two baselines"),
        "M4 26H16L48 6H60",
        lambda low, high: {"terms": [_score(line=[[{"baseline": low}, 60], [{"baseline": high}, 100]])]},
    ),
    Picture(
        "cutoffs",
        _("Cut-offs"),
        "M4 28H18V20H32V12H46V5H60",
        lambda low, high: {"terms": [_score(steps=[[{"baseline": low}, 70], [{"baseline": high}, 100]], below=50)]},
    ),
    Picture(
        "best",
        _("Against the best of the class"),
        "M4 28L60 5M56 3V9M52 5H60",
        lambda low, high: {"terms": [_score(line=[[{"baseline": low}, 50], [{"class": "best"}, 100]])]},
    ),
    Picture(
        "place",
        _("By place"),
        "M4 6H16V12H28V18H40V24H60",
        lambda low, high: {"terms": [{"name": "Place", "of": "place", "line": [["last", 60], [1, 100]]}]},
    ),
    Picture(
        "baselines",
        _("Baselines beaten"),
        "M4 10H60M4 20H60M14 28V14M32 28V6M50 28V6",
        lambda low, high: {"terms": [{"name": "Baselines", "of": "baselines", "line": [[0, 0], ["last", 100]]}]},
    ),
    Picture(
        "bonus",
        _("Bonus on top"),
        "M4 26L40 12H60M50 8V2M47 5H53",
        lambda low, high: {
            "cap": 105,
            "terms": [
                _score(line=[[{"baseline": low}, 60], [{"baseline": high}, 100]]),
                {"name": "Winner", "of": "place", "steps": [[1, 5]]},
            ],
        },
    ),
    Picture(
        "hand",
        _("Points by hand"),
        "M8 26L36 8L42 12L14 28ZM44 28H60",
        lambda low, high: {
            "no_file": "rest",
            "terms": [_score(line=[[{"baseline": low}, 30], [{"baseline": high}, 60]]), _by_hand("Report")],
        },
    ),
    Picture("empty", _("Empty"), "M4 28H60M4 28V4", lambda low, high: {"terms": []}),
)


def picture_values(key: str, baselines: Mapping[str, float], *, higher_is_better: bool) -> dict[str, Any] | None:
    """The rules of a picture, with the competition's baselines or scores to be filled in; None for another key."""
    ordered = sorted(baselines, key=lambda name: baselines[name], reverse=not higher_is_better)
    for picture in PICTURES:
        if picture.key == key:
            values = picture.values(ordered[0], ordered[-1]) if ordered else picture.values("", "")
            return values if len(ordered) > 1 else _without_baselines(values)
    return None


def _without_baselines(values: Any) -> Any:
    """The rules with empty scores in place of baselines, for a competition that has fewer than two."""
    if isinstance(values, dict):
        return (
            {"score": ""} if "baseline" in values else {key: _without_baselines(each) for key, each in values.items()}
        )
    return [_without_baselines(each) for each in values] if isinstance(values, list) else values


RANKS = _score(steps=[[{"top": 10}, 100], [{"top": 25}, 90], [{"top": 50}, 80], [{"top": 100}, 70]])


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
    ordered = sorted(set(baselines), key=lambda name: baselines[name], reverse=not higher_is_better)
    policies = []
    if len(set(baselines.values())) >= 2:
        policies.append(_score(line=_line_between(ordered[0], ordered[-1])))
    policies += [_score(line=[[{"baseline": name}, 60], [{"class": "best"}, 100]]) for name in ordered]
    policies.append(RANKS)
    for policy in policies:
        rules = GradeRules.from_values({"terms": [policy], "title": title})
        if not values or MEAN_RANGE[0] <= _mean_points(rules, field) <= MEAN_RANGE[1]:
            break
    return rules


def _mean_points(rules: GradeRules, field: Field) -> float:
    scale = ScoreScale("", {("", "private", None): field})
    points = [marks.mark(rules, scale, Person(teams={"": team})).points or 0.0 for team in field.values]
    return sum(points) / len(points)
