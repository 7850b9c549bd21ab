"""How points follow from scores: rules that check themselves, and marks with their reasons in words.

Pure functions: nothing is read and nothing is stored here. The same rules and the same scores always give the same
marks; a better score never gives fewer points (tests/leaderboard/test_grading.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MOST_STEPS = 12
MOST_POINTS = 10_000.0
MOST_DECIMALS = 3


class Method(StrEnum):
    """Where the points of a score come from."""

    LINEAR = "linear"
    THRESHOLDS = "thresholds"
    PERCENTILE = "percentile"
    PARTICIPATION = "participation"


class BadRules(Exception):
    """Rules that cannot grade; `faults` are sentences for the host."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = list(faults)


@dataclass(frozen=True)
class Step:
    """What is worth how much: a baseline by name, a score, or the best `top` percent of the teams."""

    points: float
    baseline: str = ""
    score: float | None = None
    top: float | None = None


@dataclass(frozen=True)
class Rules:
    """What a host decides. `late_percent` is taken off for each day begun after the deadline; None means that late
    files count for nothing."""

    method: str = Method.LINEAR
    steps: tuple[Step, ...] = ()
    max_points: float = 100.0
    minimum: float = 0.0
    decimals: int = 1
    participation_points: float = 0.0
    participation_files: int = 1
    late_percent: float | None = None
    none_is_zero: bool = False
    title: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Rules:
        """Rules from what `as_json` gave, or from a form. Raises `BadRules` with every fault."""
        steps = tuple(Step(**step) for step in values.get("steps", ()))
        rules = cls(**{**values, "steps": steps})
        if faults := rules.faults():
            raise BadRules(faults)
        return rules

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "steps": [asdict(step) for step in self.steps]}

    def faults(self) -> list[str]:
        """Everything about the rules alone that would make marks wrong or unclear."""
        found = self._faults_of_numbers()
        if self.method not in list(Method):
            found.append(_("Choose how scores become points."))
        elif self.method != Method.PARTICIPATION and not self.steps:
            found.append(_("Write at least one line that says which score is worth how many points."))
        if len(self.steps) > MOST_STEPS:
            found.append(_("At most %(number)s lines say what a score is worth.") % {"number": MOST_STEPS})
        for step in self.steps:
            facts = {"points": number_text(step.points)}
            found += [_("The line worth %(points)s points: ") % facts + text for text in self._wrong(step)]
        return found

    def _faults_of_numbers(self) -> list[str]:
        late = 0.0 if self.late_percent is None else self.late_percent
        numbers = (self.max_points, self.minimum, self.participation_points, late)
        if not all(math.isfinite(number) for number in numbers):
            return [_("Write ordinary numbers.")]
        most = {"most": number_text(MOST_POINTS)}
        checks = (
            (0 < self.max_points <= MOST_POINTS, _("The most points lie above 0 and up to %(most)s.") % most),
            (0 <= self.minimum <= self.max_points, _("The fewest points lie between 0 and the most points.")),
            (
                0 <= self.participation_points <= self.max_points,
                _("The points for taking part lie between 0 and the most points."),
            ),
            (1 <= self.participation_files <= 1000, _("Taking part needs between 1 and 1000 valid files.")),
            (0 <= late <= 100, _("A day late costs between 0 and 100 percent.")),
            (0 <= self.decimals <= MOST_DECIMALS, _("Points are rounded to between 0 and 3 decimals.")),
        )
        return [text for holds, text in checks if not holds]

    def _wrong(self, step: Step) -> list[str]:
        found = []
        if not (math.isfinite(step.points) and 0 <= step.points <= self.max_points):
            found.append(_("the points lie between 0 and the most points."))
        if self.method == Method.PERCENTILE:
            if step.top is None or not 0 < step.top <= 100:
                found.append(_("write a share of the teams above 0 and up to 100 percent."))
        elif bool(step.baseline) == (step.score is not None):
            found.append(_("choose a baseline, or write a score."))
        elif step.score is not None and not math.isfinite(step.score):
            found.append(_("the score is an ordinary number."))
        return found


@dataclass(frozen=True)
class Anchor:
    """A step whose score is known. `words` name it: a baseline with its score, or the score alone."""

    words: str
    score: float
    points: float


@dataclass(frozen=True)
class File:
    """A scored file that may decide a mark."""

    value: float
    days_late: int = 0


@dataclass(frozen=True)
class Work:
    """What a team did. `files` may decide, `valid` is the number of its scored files in time."""

    files: tuple[File, ...] = ()
    valid: int = 0
    disqualified: str | None = None
    """The reason, where the team is out."""


@dataclass(frozen=True)
class Field:
    """What marks are given against: anchors from the worst score to the best, the values of all ranked teams, and
    which board the values are from, in words."""

    anchors: tuple[Anchor, ...] = ()
    values: tuple[float, ...] = ()
    higher_is_better: bool = True
    board: str = field(default="")

    def better(self, one: float, other: float) -> bool:
        return one > other if self.higher_is_better else one < other


@dataclass(frozen=True)
class Mark:
    """Points, None where there is nothing to grade, and why, sentence by sentence."""

    points: float | None
    reasons: tuple[str, ...]

    @property
    def words(self) -> str:
        return "; ".join(self.reasons)


def number_text(value: float) -> str:
    """A score or a number of points, as it is said in a sentence."""
    return f"{value:.6g}"


def points_text(points: float | None, decimals: int) -> str:
    return "–" if points is None else f"{points:.{decimals}f}"


def anchors_of(rules: Rules, baselines: Mapping[str, float | None], *, higher_is_better: bool) -> tuple[Anchor, ...]:
    """The steps of linear rules and thresholds with their scores, the worst first.

    Raises `BadRules` for a baseline that is gone or has no score, and where a better score would be worth less.
    """
    if rules.method not in (Method.LINEAR, Method.THRESHOLDS):
        return ()
    faults = [
        _("The baseline “%(name)s” is not there any more, or has no score yet.") % {"name": step.baseline}
        for step in rules.steps
        if step.baseline and baselines.get(step.baseline) is None
    ]
    if faults:
        raise BadRules(faults)
    found = [_anchor(step, baselines) for step in rules.steps]
    found.sort(key=lambda anchor: (anchor.score if higher_is_better else -anchor.score, anchor.points))
    for worse, better in pairwise(found):
        if better.points < worse.points or (better.score == worse.score and better.points != worse.points):
            faults.append(
                _("%(better)s is at least as good as %(worse)s, but is not worth as much.")
                % {"better": _worth(better), "worse": _worth(worse)}
                if better.points < worse.points
                else _("%(one)s and %(other)s are the same score.") % {"one": _worth(worse), "other": _worth(better)}
            )
    if faults:
        raise BadRules(faults)
    return tuple(found)


def _anchor(step: Step, baselines: Mapping[str, float | None]) -> Anchor:
    score = baselines[step.baseline] if step.baseline else step.score
    assert score is not None, "looked at before"
    words = f"{step.baseline} {number_text(score)}" if step.baseline else number_text(score)
    return Anchor(words, score, step.points)


def _worth(anchor: Anchor) -> str:
    return f"{anchor.words} = {number_text(anchor.points)}"


def mark(rules: Rules, field_: Field, work: Work) -> Mark:
    """The mark of everybody in a team. Of several files the one counts that gives most after the late penalty."""
    if work.disqualified is not None:
        reason = work.disqualified or _("no reason was written")
        return Mark(0.0, (_("Disqualified: %(reason)s → 0") % {"reason": reason},))
    if not work.files:
        if rules.none_is_zero:
            return Mark(0.0, (_("No scored file → 0"),))
        return Mark(None, (_("No scored file, so no grade"),))
    points, reasons = max((_of_file(rules, field_, one) for one in work.files), key=lambda found: found[0])
    return _settled(rules, points, reasons, work.valid)


def _of_file(rules: Rules, field_: Field, file: File) -> tuple[float, list[str]]:
    points, reason = _METHODS[Method(rules.method)](rules, field_, file.value)
    reasons = [reason] if reason else []
    if file.days_late and points:
        percent = rules.late_percent or 0.0
        points *= max(0.0, 1 - percent * file.days_late / 100)
        days = ngettext("%(days)s day late", "%(days)s days late", file.days_late) % {"days": file.days_late}
        less = number_text(min(100.0, percent * file.days_late))
        reasons.append(f"{days} −{less} % → {_shown(points)}")
    return points, reasons


def _settled(rules: Rules, points: float, reasons: list[str], valid: int) -> Mark:
    """Add what is for taking part, keep within the ends, round."""
    if rules.participation_points:
        files = ngettext("%(number)s valid file", "%(number)s valid files", valid) % {"number": valid}
        if valid >= rules.participation_files:
            points += rules.participation_points
            reasons.append(f"{files} +{number_text(rules.participation_points)} → {_shown(points)}")
        else:
            needed = {"files": files, "needed": rules.participation_files}
            reasons.append(_("%(files)s, %(needed)s are needed for the points for taking part") % needed)
    if points > rules.max_points:
        points = rules.max_points
        reasons.append(_("at most %(points)s") % {"points": number_text(points)})
    if points < rules.minimum:
        points = rules.minimum
        reasons.append(_("at least %(points)s for a scored file") % {"points": number_text(points)})
    rounded = min(_rounded(points, rules.decimals), rules.max_points)
    if _shown(rounded) != _shown(points):
        reasons.append(_("rounded → %(points)s") % {"points": _shown(rounded)})
    return Mark(rounded, tuple(reasons))


def _rounded(points: float, decimals: int) -> float:
    """Half up, as people do, on the decimal number that they see and not on the binary one beside it."""
    seen = Decimal(repr(round(points, 9)))
    return float(seen.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def _shown(points: float) -> str:
    return number_text(_rounded(points, 3))


def _linear(rules: Rules, field_: Field, value: float) -> tuple[float, str]:
    worst, best = field_.anchors[0], field_.anchors[-1]
    said = _said(field_, value)
    if field_.better(worst.score, value):
        return 0.0, _("%(score)s, below %(anchor)s → 0") % {"score": said, "anchor": worst.words}
    if not field_.better(best.score, value):
        return best.points, _("%(score)s, reaches %(anchor)s") % {"score": said, "anchor": _worth(best)}
    for low, high in pairwise(field_.anchors):
        if field_.better(high.score, value):
            # Halves keep the span of two huge scores of opposite sign finite.
            share = (value / 2 - low.score / 2) / (high.score / 2 - low.score / 2)
            points = min(max(low.points + share * (high.points - low.points), low.points), high.points)
            between = {"score": said, "low": _worth(low), "high": _worth(high), "points": _shown(points)}
            return points, _("%(score)s, between %(low)s and %(high)s → %(points)s") % between
    raise AssertionError("the best anchor is better")


def _thresholds(rules: Rules, field_: Field, value: float) -> tuple[float, str]:
    said = _said(field_, value)
    reached = [anchor for anchor in field_.anchors if not field_.better(anchor.score, value)]
    if not reached:
        return 0.0, _("%(score)s, below %(anchor)s → 0") % {"score": said, "anchor": field_.anchors[0].words}
    return reached[-1].points, _("%(score)s, reaches %(anchor)s") % {"score": said, "anchor": _worth(reached[-1])}


def _percentile(rules: Rules, field_: Field, value: float) -> tuple[float, str]:
    """A step holds for those of whom fewer than `top` percent of the teams are better: the first one always does."""
    total = max(1, len(field_.values))
    above = sum(field_.better(other, value) for other in field_.values)
    facts = {"score": _said(field_, value), "above": above, "total": total}
    where = _("%(score)s, %(above)s of %(total)s teams are better") % facts
    held = [step for step in rules.steps if step.top is not None and 100 * above < step.top * total]
    if not held:
        return 0.0, f"{where} → 0"
    best = max(held, key=lambda step: step.points)
    top = _("top %(percent)s %% = %(points)s")
    return best.points, f"{where}: " + top % {
        "percent": number_text(best.top or 0),
        "points": number_text(best.points),
    }


def _participation(rules: Rules, field_: Field, value: float) -> tuple[float, str]:
    return 0.0, ""


def _said(field_: Field, value: float) -> str:
    return f"{field_.board} {number_text(value)}".strip()


_METHODS: dict[Method, Callable[[Rules, Field, float], tuple[float, str]]] = {
    Method.LINEAR: _linear,
    Method.THRESHOLDS: _thresholds,
    Method.PERCENTILE: _percentile,
    Method.PARTICIPATION: _participation,
}
