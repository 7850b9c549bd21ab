"""Points from scores, with reasons.

Pure functions without database access. The same rules and scores always yield the same marks, and a better score never
yields fewer points (tests/grades/test_grading.py).
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

from .rules import Anchor, GradingMethod, GradingRules, anchor_reason, plain_number_text

Fact = str | int
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Reason:
    """One reason of a mark: a code, and the facts for its sentence. Scores and points are formatted already."""

    code: str
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __str__(self) -> str:
        return _WORDS[self.code](self.facts)

    def as_json(self) -> dict[str, Fact]:
        return {"code": self.code, **self.facts}

    @classmethod
    def from_json(cls, stored: str | Facts) -> Reason:
        """The reason stored by `as_json`. A plain string, as earlier versions stored, becomes the sentence itself."""
        if isinstance(stored, str):
            return cls("sentence", {"sentence": stored})
        return cls(stored["code"], {name: fact for name, fact in stored.items() if name != "code"})


def reason_text(code: str, /, **facts: Fact) -> Reason:
    return Reason(code, facts)


def _scored(facts: Facts) -> dict[str, Any]:
    """The facts, with the score as text that names its board: “public score 0.87”."""
    boards = {"public": _("public score"), "private": _("private score")}
    return {**facts, "score": f"{boards.get(facts['board'], '')} {facts['score']}".strip()}


def _disqualified(facts: Facts) -> str:
    return _("Disqualified: 0 (%(reason)s)") % {"reason": facts["reason"] or _("no reason given")}


def _late(facts: Facts) -> str:
    days = ngettext("%(days)s day late", "%(days)s days late", facts["days"]) % facts
    return _("%(days)s, %(less)s %% off: %(points)s") % {**facts, "days": days}


def _with_valid_files(facts: Facts) -> dict[str, Any]:
    """The facts, with the number of files as text: “3 valid submissions”."""
    words = ngettext("%(number)s valid submission", "%(number)s valid submissions", facts["files"])
    return {**facts, "files": words % {"number": facts["files"]}}


def _reaches(facts: Facts) -> str:
    words = _("%(score)s reaches %(anchor)s") % _scored(facts)
    # In grades from earlier versions the anchor's text contains the points already.
    return f"{words}: {facts['points']}" if "points" in facts else words


def _share(facts: Facts) -> str:
    return _("%(score)s, %(above)s of %(total)s teams did better") % _scored(facts)


_WORDS: dict[str, Callable[[Facts], str]] = {
    "sentence": lambda facts: str(facts["sentence"]),
    "disqualified": _disqualified,
    "no_file": lambda facts: _("No scored submission, so no grade"),
    "no_file_is_zero": lambda facts: _("No scored submission: 0"),
    "never_joined": lambda facts: _("Hasn't joined, so no grade"),
    "never_joined_is_zero": lambda facts: _("Hasn't joined: 0"),
    "below": lambda facts: _("%(score)s is below %(anchor)s: 0") % _scored(facts),
    "reaches": _reaches,
    "between": lambda facts: _("%(score)s is between %(low)s and %(high)s: %(points)s") % _scored(facts),
    "share": lambda facts: f"{_share(facts)}: " + _("top %(percent)s %% → %(points)s points") % facts,
    "share_is_zero": lambda facts: f"{_share(facts)}: 0",
    "late": _late,
    "late_is_no_more": lambda facts: (
        _("a late submission with %(score)s and %(less)s %% off gives only %(points)s") % _scored(facts)
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

    def better(self, one: float, other: float) -> bool:
        return one > other if self.higher_is_better else one < other

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
    def words(self) -> str:
        return "; ".join(str(reason) for reason in self.reasons)


def points_text(points: float | None, decimals: int) -> str:
    return "–" if points is None else f"{points:.{decimals}f}"


def mark_team(rules: GradingRules, field_: MarkingScale, work: TeamWork) -> Mark:
    """The mark of all members of a team, by the file that yields most points after the late penalty."""
    if work.disqualified is not None:
        return Mark(0.0, (reason_text("disqualified", reason=work.disqualified),))
    if not work.files:
        if rules.none_is_zero:
            return Mark(0.0, (reason_text("no_file_is_zero"),))
        return Mark(None, (reason_text("no_file"),))
    found = [(one, *_mark_of_file(rules, field_, one)) for one in work.files]
    best, points, reasons = max(found, key=lambda one: one[1])
    if rules.method != GradingMethod.PARTICIPATION:
        # For each late file with a better score: the reason why it does not count.
        for other, less, _reasons in found:
            if other.days_late > best.days_late and field_.better(other.value, best.value):
                percent = _percent_off(rules, other)
                fact = _score_fact(field_, other.value)
                reasons.append(reason_text("late_is_no_more", **fact, less=percent, points=_shown(less)))
    return _final_mark(rules, points, reasons, work.valid)


def _percent_off(rules: GradingRules, late: GradableFile) -> str:
    return plain_number_text(min(100.0, (rules.late_percent or 0.0) * late.days_late))


def _mark_of_file(rules: GradingRules, field_: MarkingScale, file: GradableFile) -> tuple[float, list[Reason]]:
    if rules.method == GradingMethod.PARTICIPATION:
        return 0.0, []
    if rules.method == GradingMethod.LINEAR:
        points, reason = _linear(field_, file.value)
    elif rules.method == GradingMethod.THRESHOLDS:
        points, reason = _thresholds(field_, file.value)
    else:
        points, reason = _percentile(rules, field_, file.value)
    reasons = [reason]
    if file.days_late and points:
        points *= max(0.0, 1 - (rules.late_percent or 0.0) * file.days_late / 100)
        less = _percent_off(rules, file)
        reasons.append(reason_text("late", days=file.days_late, less=less, points=_shown(points)))
    return points, reasons


def _final_mark(rules: GradingRules, points: float, reasons: list[Reason], valid: int) -> Mark:
    """Add participation points, limit to minimum and maximum, round."""
    if rules.participation_points:
        if valid >= rules.participation_files:
            points += rules.participation_points
            more = plain_number_text(rules.participation_points)
            reasons.append(reason_text("took_part", files=valid, more=more, points=_shown(points)))
        else:
            reasons.append(reason_text("took_no_part", files=valid, needed=rules.participation_files))
    if points > rules.max_points:
        points = rules.max_points
        reasons.append(reason_text("at_most", points=plain_number_text(points)))
    if points < rules.minimum:
        points = rules.minimum
        reasons.append(reason_text("at_least", points=plain_number_text(points)))
    final = min(round_points(points, rules.decimals), rules.max_points)
    if _shown(final) != _shown(points):
        reasons.append(reason_text("rounded", points=_shown(final)))
    return Mark(final, tuple(reasons))


def round_points(points: float, decimals: int) -> float:
    """Round half up, on the decimal digits of the number and not on its binary value: 0.285 becomes 0.29."""
    seen = Decimal(repr(round(points, 9)))
    return float(seen.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def _shown(points: float) -> str:
    return plain_number_text(round_points(points, 3))


def _linear(field_: MarkingScale, value: float) -> tuple[float, Reason]:
    worst, best = field_.anchors[0], field_.anchors[-1]
    fact = _score_fact(field_, value)
    if field_.better(worst.score, value):
        return 0.0, reason_text("below", **fact, anchor=worst.words)
    if not field_.better(best.score, value):
        return best.points, reason_text("reaches", **fact, anchor=best.words, points=plain_number_text(best.points))
    for low, high in pairwise(field_.anchors):
        if field_.better(high.score, value):
            # Halved first: the difference of two huge scores of opposite sign would overflow.
            share = (value / 2 - low.score / 2) / (high.score / 2 - low.score / 2)
            points = min(max(low.points + share * (high.points - low.points), low.points), high.points)
            ends = {"low": anchor_reason(low), "high": anchor_reason(high)}
            return points, reason_text("between", **fact, **ends, points=_shown(points))
    raise AssertionError("the best anchor is better")


def _thresholds(field_: MarkingScale, value: float) -> tuple[float, Reason]:
    fact = _score_fact(field_, value)
    reached = [anchor for anchor in field_.anchors if not field_.better(anchor.score, value)]
    if not reached:
        return 0.0, reason_text("below", **fact, anchor=field_.anchors[0].words)
    return reached[-1].points, reason_text(
        "reaches", **fact, anchor=reached[-1].words, points=plain_number_text(reached[-1].points)
    )


def _percentile(rules: GradingRules, field_: MarkingScale, value: float) -> tuple[float, Reason]:
    """Points of the best step whose `top` percent the team is in: fewer than `top` percent of the teams are better.

    So the first team reaches every step.
    """
    total = max(1, len(field_.values))
    above = field_.number_better(value)
    facts: dict[str, Fact] = {**_score_fact(field_, value), "above": above, "total": total}
    held = [step for step in rules.steps if step.top is not None and 100 * above < step.top * total]
    if not held:
        return 0.0, reason_text("share_is_zero", **facts)
    best = max(held, key=lambda step: step.points)
    return best.points, reason_text(
        "share", **facts, percent=plain_number_text(best.top or 0), points=plain_number_text(best.points)
    )


def _score_fact(field_: MarkingScale, value: float) -> dict[str, Fact]:
    return {"board": field_.board, "score": plain_number_text(value)}
