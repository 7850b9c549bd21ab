"""Points from scores, with reasons.

Pure functions without database access. The same rules and scores always yield the same marks, and a better score never
yields fewer points (tests/grades/test_marks.py).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Any

from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.common.numbers import MIN_DECIMALS, number_text

from .rules import Anchor, GradingMethod, GradingRules, anchor_reason, plain_number_text

MAX_SCORE_DECIMALS = 15
Fact = str | int
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Reason:
    """One reason of a mark: a code, and the facts for its sentence. Scores and points are formatted already."""

    code: str
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __str__(self) -> str:
        return _SENTENCES[self.code](self.facts)

    @classmethod
    def of(cls, code: str, /, **facts: Fact) -> Reason:
        return cls(code, facts)

    def as_json(self) -> dict[str, Fact]:
        return {"code": self.code, **self.facts}

    @classmethod
    def from_json(cls, stored: Facts) -> Reason:
        """The reason stored by `as_json`."""
        return cls(stored["code"], {name: fact for name, fact in stored.items() if name != "code"})


def _with_score(facts: Facts) -> dict[str, Any]:
    """The facts, with the score as text that names its board: “public score 0.87”."""
    boards = {"public": _("public score"), "private": _("private score")}
    return {**facts, "score": f"{boards.get(facts['board'], '')} {facts['score']}".strip()}


def _disqualified_sentence(facts: Facts) -> str:
    return _("Disqualified: 0 (%(reason)s)") % {"reason": facts["reason"] or _("no reason given")}


def _late_sentence(facts: Facts) -> str:
    days = ngettext("%(days)s day late", "%(days)s days late", facts["days"]) % facts
    return _("%(days)s, %(less)s %% off: %(points)s") % {**facts, "days": days}


def _with_valid_files(facts: Facts) -> dict[str, Any]:
    """The facts, with the number of files as text: “3 valid submissions”."""
    files = ngettext("%(number)s valid submission", "%(number)s valid submissions", facts["files"])
    return {**facts, "files": files % {"number": facts["files"]}}


def _share_sentence(facts: Facts) -> str:
    return _("%(score)s, %(above)s of %(total)s teams did better") % _with_score(facts)


_SENTENCES: dict[str, Callable[[Facts], str]] = {
    "disqualified": _disqualified_sentence,
    "no_file": lambda facts: _("No scored submission, so no grade"),
    "no_file_is_zero": lambda facts: _("No scored submission: 0"),
    "never_joined": lambda facts: _("Hasn't joined, so no grade"),
    "never_joined_is_zero": lambda facts: _("Hasn't joined: 0"),
    "below": lambda facts: _("%(score)s is below %(anchor)s: 0") % _with_score(facts),
    "reaches": lambda facts: _("%(score)s reaches %(anchor)s") % _with_score(facts) + f": {facts['points']}",
    "between": lambda facts: _("%(score)s is between %(low)s and %(high)s: %(points)s") % _with_score(facts),
    "share": lambda facts: f"{_share_sentence(facts)}: " + _("top %(percent)s %% → %(points)s points") % facts,
    "share_is_zero": lambda facts: f"{_share_sentence(facts)}: 0",
    "late": _late_sentence,
    "late_is_no_more": lambda facts: (
        _("a late submission with %(score)s and %(less)s %% off gives only %(points)s") % _with_score(facts)
    ),
    "took_part": lambda facts: _("%(files)s, +%(more)s: %(points)s") % _with_valid_files(facts),
    "took_no_part": lambda facts: (
        _("%(files)s on time; participation points need %(needed)s") % _with_valid_files(facts)
    ),
    "at_most": lambda facts: _("limited to the maximum of %(points)s") % facts,
    "at_least": lambda facts: _("raised to the minimum of %(points)s for a scored submission") % facts,
    "rounded": lambda facts: _("rounded to %(points)s") % facts,
}


# --- marks --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GradableFile:
    """A scored file that may decide a mark."""

    value: float
    days_late: int = 0


@dataclass(frozen=True)
class TeamWork:
    """A team's work: the `files` of which one decides the mark, and the number of files scored on time (`valid`)."""

    files: tuple[GradableFile, ...] = ()
    valid: int = 0
    disqualified: str | None = None
    """The reason for a disqualification; None for a team that is not disqualified."""


@dataclass(frozen=True)
class MarkingScale:
    """The scale for marks: anchors from the worst score to the best, the values of all ranked teams, and their board
    (`public` or `private`)."""

    anchors: tuple[Anchor, ...] = ()
    values: tuple[float, ...] = ()
    higher_is_better: bool = True
    board: str = ""
    decimals: int = MIN_DECIMALS
    """Decimals of scores in reasons."""

    def is_better(self, value: float, other: float) -> bool:
        return value > other if self.higher_is_better else value < other

    def number_better(self, value: float) -> int:
        """Number of ranked teams whose value is better than this one."""
        if self.higher_is_better:
            return len(self.values) - bisect_right(self._ascending, value)
        return bisect_left(self._ascending, value)

    @cached_property
    def _ascending(self) -> list[float]:
        return sorted(self.values)


@dataclass(frozen=True)
class Mark:
    """Points (None: no grade) and the reasons."""

    points: float | None
    reasons: tuple[Reason, ...]

    @property
    def explanation(self) -> str:
        return "; ".join(str(reason) for reason in self.reasons)


def mark_team(rules: GradingRules, scale: MarkingScale, work: TeamWork) -> Mark:
    """The mark of all members of a team, by the file that yields most points after the late penalty."""
    if work.disqualified is not None:
        return Mark(0.0, (Reason.of("disqualified", reason=work.disqualified),))
    if not work.files:
        if rules.none_is_zero:
            return Mark(0.0, (Reason.of("no_file_is_zero"),))
        return Mark(None, (Reason.of("no_file"),))
    marked = [(file, *_mark_file(rules, scale, file)) for file in work.files]
    best, points, reasons = max(marked, key=lambda row: row[1])
    if rules.method != GradingMethod.PARTICIPATION:
        # For each late file with a better score: the reason why it does not count.
        for other, less, _reasons in marked:
            if other.days_late > best.days_late and scale.is_better(other.value, best.value):
                percent = _percent_off(rules, other)
                fact = _score_fact(scale, other.value)
                reasons.append(Reason.of("late_is_no_more", **fact, less=percent, points=_points_text(less)))
    return _final_mark(rules, points, reasons, work.valid)


def _percent_off(rules: GradingRules, late: GradableFile) -> str:
    return plain_number_text(min(100.0, (rules.late_percent or 0.0) * late.days_late))


def _mark_file(rules: GradingRules, scale: MarkingScale, file: GradableFile) -> tuple[float, list[Reason]]:
    if rules.method == GradingMethod.PARTICIPATION:
        return 0.0, []
    if rules.method == GradingMethod.LINEAR:
        points, reason = _linear_points(scale, file.value)
    elif rules.method == GradingMethod.THRESHOLDS:
        points, reason = _threshold_points(scale, file.value)
    else:
        points, reason = _percentile_points(rules, scale, file.value)
    reasons = [reason]
    if file.days_late and points:
        points *= max(0.0, 1 - (rules.late_percent or 0.0) * file.days_late / 100)
        less = _percent_off(rules, file)
        reasons.append(Reason.of("late", days=file.days_late, less=less, points=_points_text(points)))
    return points, reasons


def _final_mark(rules: GradingRules, points: float, reasons: list[Reason], valid: int) -> Mark:
    """Add participation points, limit to minimum and maximum, round."""
    if rules.participation_points:
        if valid >= rules.participation_files:
            points += rules.participation_points
            more = plain_number_text(rules.participation_points)
            reasons.append(Reason.of("took_part", files=valid, more=more, points=_points_text(points)))
        else:
            reasons.append(Reason.of("took_no_part", files=valid, needed=rules.participation_files))
    if points > rules.max_points:
        points = rules.max_points
        reasons.append(Reason.of("at_most", points=plain_number_text(points)))
    if points < rules.minimum:
        points = rules.minimum
        reasons.append(Reason.of("at_least", points=plain_number_text(points)))
    rounded = min(round_points(points, rules.decimals), rules.max_points)
    if _points_text(rounded) != _points_text(points):
        reasons.append(Reason.of("rounded", points=_points_text(rounded)))
    return Mark(rounded, tuple(reasons))


def round_points(points: float, decimals: int) -> float:
    """Round half up, on the decimal digits of the number and not on its binary value: 0.285 becomes 0.29."""
    seen = Decimal(repr(round(points, 9)))
    return float(seen.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def _points_text(points: float) -> str:
    return plain_number_text(round_points(points, 3))


def _linear_points(scale: MarkingScale, value: float) -> tuple[float, Reason]:
    worst, best = scale.anchors[0], scale.anchors[-1]
    fact = _score_fact(scale, value)
    if scale.is_better(worst.score, value):
        return 0.0, Reason.of("below", **fact, anchor=worst.label)
    if not scale.is_better(best.score, value):
        return best.points, Reason.of("reaches", **fact, anchor=best.label, points=plain_number_text(best.points))
    for low, high in pairwise(scale.anchors):
        if scale.is_better(high.score, value):
            # Halved first: the difference of two huge scores of opposite sign would overflow.
            share = (value / 2 - low.score / 2) / (high.score / 2 - low.score / 2)
            points = min(max(low.points + share * (high.points - low.points), low.points), high.points)
            ends = {"low": anchor_reason(low), "high": anchor_reason(high)}
            return points, Reason.of("between", **fact, **ends, points=_points_text(points))
    raise AssertionError("the best anchor is better")


def _threshold_points(scale: MarkingScale, value: float) -> tuple[float, Reason]:
    fact = _score_fact(scale, value)
    reached = [anchor for anchor in scale.anchors if not scale.is_better(anchor.score, value)]
    if not reached:
        return 0.0, Reason.of("below", **fact, anchor=scale.anchors[0].label)
    return reached[-1].points, Reason.of(
        "reaches", **fact, anchor=reached[-1].label, points=plain_number_text(reached[-1].points)
    )


def _percentile_points(rules: GradingRules, scale: MarkingScale, value: float) -> tuple[float, Reason]:
    """Points of the best step whose `top` percent the team is in: fewer than `top` percent of the teams are better.

    So the first team reaches every step.
    """
    total = max(1, len(scale.values))
    above = scale.number_better(value)
    facts: dict[str, Fact] = {**_score_fact(scale, value), "above": above, "total": total}
    reached = [step for step in rules.steps if step.top is not None and 100 * above < step.top * total]
    if not reached:
        return 0.0, Reason.of("share_is_zero", **facts)
    best = max(reached, key=lambda step: step.points)
    return best.points, Reason.of(
        "share", **facts, percent=plain_number_text(best.top or 0), points=plain_number_text(best.points)
    )


def _score_fact(scale: MarkingScale, value: float) -> dict[str, Fact]:
    """The score as on the board; with more decimals where those would make it look equal to an anchor's."""
    decimals = scale.decimals
    others = [anchor.score for anchor in scale.anchors if anchor.score != value]
    while decimals < MAX_SCORE_DECIMALS and any(round(value, decimals) == round(other, decimals) for other in others):
        decimals += 1
    return {"board": scale.board, "score": number_text(value, decimals)}
