"""Marks from scores: pure functions over plain data, with exact fractions and one rounding at the end.

The same rules and values always yield the same marks. `docs/grading.md` has the meaning of each rule, in the order in
which it is applied here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

from django.utils.functional import cached_property

from leaderboard.common.numbers import MIN_DECIMALS, number_text

from .reading import decimal_text, number_json
from .reasons import Reason
from .rules import FEWER_IS_BETTER, Anchor, AnyRules, GradeRules, Late, Term

MAX_SCORE_DECIMALS = 15
ZERO = Fraction(0)
Key = tuple[str, str, Fraction | None]
"""A competition's slug, a board, and the hours after the deadline until which files were received (None: in time)."""


@dataclass
class Field:
    """The results of a class in one competition, on one board, at one time: team → deciding value.

    `values` has all teams; those in `outside` are disqualified, and no other team's points depend on them.
    """

    values: Mapping[int, Fraction] = field(default_factory=dict)
    outside: frozenset[int] = frozenset()
    higher_is_better: bool = True
    baselines: Mapping[str, Fraction] = field(default_factory=dict)
    files: Mapping[int, int] = field(default_factory=dict)
    """Team → number of files scored in time, where a term counts them."""
    board: str = "private"
    """The board whose scores these are; before the deadline always the public one."""
    decimals: int = MIN_DECIMALS
    day: str = ""
    """The date of the moment, for sentences; "" without one."""

    @property
    def sign(self) -> int:
        return -1 if self.higher_is_better else 1

    @cached_property
    def ranked(self) -> list[Fraction]:
        """The values of all teams that are not disqualified, times `sign`, the best first."""
        return sorted(self.sign * value for team, value in self.values.items() if team not in self.outside)

    def place(self, value: Fraction, team: int) -> int:
        """One more than the number of other teams that are better."""
        better = bisect_left(self.ranked, self.sign * value)
        own = self.values.get(team) if team not in self.outside else None
        return 1 + better - (own is not None and self.sign * own < self.sign * value)

    def reached(self, value: Fraction) -> Fraction:
        """The number of baselines that a value reaches."""
        return Fraction(sum(self.sign * value <= self.sign * score for score in self.baselines.values()))

    def most(self, of: str) -> int:
        """The highest number of baselines, or of files."""
        return len(self.baselines) if of == "baselines" else max(self.files.values(), default=0)

    @cached_property
    def figures(self) -> Mapping[str, Fraction]:
        """The class's best, median and mean; nothing without values."""
        if not self.ranked:
            return {}
        number = len(self.ranked)
        middle = (self.ranked[(number - 1) // 2] + self.ranked[number // 2]) / 2
        figures = {"best": self.ranked[0], "median": middle, "mean": sum(self.ranked, ZERO) / number}
        return {name: self.sign * value for name, value in figures.items()}


@dataclass(frozen=True)
class LateFile:
    """The file of a late period: the number of the period, and board → value."""

    periods: int
    values: Mapping[str, Fraction]


@dataclass(frozen=True)
class Person:
    """The facts about a person that rules use: the team in each competition, late files, points by hand.

    `disqualified` is the reason, None for most. `late` has one file of each period, in order.
    """

    teams: Mapping[str, int] = field(default_factory=dict)
    members: int = 1
    is_attached: bool = False
    by_hand: Mapping[str, Fraction] = field(default_factory=dict)
    late: Sequence[LateFile] = ()
    disqualified: str | None = None
    is_awaited: bool = False
    has_joined: bool = True


@dataclass(frozen=True)
class ScoreScale:
    """A competition (its slug) with all fields that its rules need."""

    slug: str
    fields: Mapping[Key, Field]
    largest_team: int = 1

    def has_file(self, person: Person) -> bool:
        """Whether the team has a file that was scored in time."""
        return person.teams.get(self.slug, 0) in self.fields[self.slug, "private", None].values

    def fields_of(self, term: Term) -> list[Field]:
        """The fields that a term reads: one, or one of each of its sources."""
        return [self.fields[slug, term.board, term.until] for slug in term.sources or (self.slug,)]


@dataclass(frozen=True)
class Mark:
    """Points (None: no mark), the reasons, and the late periods used for nothing."""

    points: float | None
    reasons: tuple[Reason, ...]
    slack: int = 0

    @property
    def explanation(self) -> str:
        return " ".join(map(str, self.reasons))


# --- points of a term ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading:
    """A term's quantity, and for scores what it is compared with: its fields, and its place in each."""

    value: Fraction
    fields: Sequence[Field] = ()
    places: Sequence[int] = ()

    @property
    def total(self) -> int:
        """The number of teams; of several competitions the largest."""
        return max((len(known.ranked) for known in self.fields), default=0)

    def share_above(self) -> Fraction:
        """The percent of the teams that are better."""
        shares = [
            Fraction(100 * (place - 1), max(1, len(f.ranked)))
            for place, f in zip(self.places, self.fields, strict=True)
        ]
        return _average_of(shares)


def _average_of(numbers: Sequence[Fraction]) -> Fraction:
    return numbers[0] if len(numbers) == 1 else sum(numbers, ZERO) / len(numbers)


def _read_quantity(term: Term, scale: ScoreScale, person: Person, file: LateFile | None) -> _Reading | None:
    """The quantity of a term; None if it is missing. Several sources: their mean."""
    if term.of == "by_hand":
        return _Reading(person.by_hand[term.name]) if term.name in person.by_hand else None
    if term.of in ("members", "attached"):
        return _Reading(Fraction(person.members if term.of == "members" else person.is_attached))
    values, places, known = [], [], scale.fields_of(term)
    for slug, here in zip(term.sources or (scale.slug,), known, strict=True):
        team = person.teams.get(slug, 0)
        value = here.values.get(team)
        if file is not None and slug == scale.slug and term.until is None:
            value = file.values[term.board]
        if term.of == "files":
            values.append(Fraction(here.files.get(team, 0)))
        elif value is None:
            return None
        else:
            places.append(here.place(value, team))
            values.append(value if term.of == "score" else here.reached(value))
    return _Reading(_average_of([Fraction(place) for place in places] if term.of == "place" else values), known, places)


def _place_anchor(term: Term, reading: _Reading, anchor: Anchor, scale: ScoreScale) -> Fraction | None:
    """The value at an anchor; None while it has none, such as the best of a class without files."""
    if anchor.kind == "number":
        return anchor.number
    if anchor.kind == "last":
        last = {"place": reading.total, "members": scale.largest_team, "attached": 1}
        return Fraction(last[term.of] if term.of in last else max((f.most(term.of) for f in reading.fields), default=0))
    if anchor.kind == "baseline":
        found = [known.baselines[anchor.name] for known in reading.fields if anchor.name in known.baselines]
    else:
        found = [known.figures[anchor.name] for known in reading.fields if known.figures]
    return _average_of(found) - reading.fields[0].sign * anchor.better_by if found else None


def points_of(term: Term, scale: ScoreScale, person: Person, file: LateFile | None = None) -> tuple[Fraction, Reason]:
    """The most of `below`, the value on the line, and each step reached; with the reason."""
    reading = _read_quantity(term, scale, person, file)
    if reading is None:
        code = "no_hand" if term.of == "by_hand" else "missing"
        return term.below, Reason.of(code, name=term.name, points=points_text(term.below))
    if term.of == "by_hand" and not term.line and not term.steps:
        return reading.value, Reason.of("by_hand", name=term.name, points=points_text(reading.value))
    # Times this, a higher value is worse.
    sign = reading.fields[0].sign if term.of == "score" else 1 if term.of in FEWER_IS_BETTER else -1
    line = _rising_anchors(term, reading, scale, sign)
    scores = [line[0][1]] if line else [step for step in term.steps if step.kind not in ("top", "place")]
    # Where the steps are places alone, the place says why none is reached.
    found: list[Option] = [(term.below, "below" if scores or not term.steps else "place", scores[:1])]
    found += _on_line(line, sign * reading.value)
    found += [
        (anchor.points, {"top": "top", "place": "first"}.get(anchor.kind, "reaches"), (anchor,))
        for anchor in term.steps
        if _is_reached(term, reading, anchor, scale, sign)
    ]
    points, code, anchors = max(found, key=lambda option: option[0])
    return points, _explain_points(term, scale, reading, points, code, anchors)


Option = tuple[Fraction, str, Sequence[Anchor]]


def _rising_anchors(term: Term, reading: _Reading, scale: ScoreScale, sign: int) -> list[tuple[Fraction, Anchor]]:
    """The anchors of the line by points, each with its value times `sign`, without those that are not better than the
    one before."""
    rising: list[tuple[Fraction, Anchor]] = []
    placed = [(_place_anchor(term, reading, anchor, scale), anchor) for anchor in term.line]
    known = [(sign * value, anchor) for value, anchor in placed if value is not None]
    for value, anchor in sorted(known, key=lambda pair: (pair[1].points, -pair[0])):
        if not rising or value < rising[-1][0]:
            rising.append((value, anchor))
    return rising


def _on_line(line: Sequence[tuple[Fraction, Anchor]], value: Fraction) -> list[Option]:
    """The value on the line; [] before its first anchor."""
    if not line or value > line[0][0]:
        return []
    if value <= line[-1][0]:
        return [(line[-1][1].points, "reaches", (line[-1][1],))]
    for (low, worse), (high, better) in pairwise(line):
        if value > high:
            points = worse.points + (better.points - worse.points) * (low - value) / (low - high)
            return [(points, "between", (worse, better))]
    raise AssertionError("the last anchor is better")


def _is_reached(term: Term, reading: _Reading, anchor: Anchor, scale: ScoreScale, sign: int) -> bool:
    if anchor.kind == "top":
        return reading.share_above() < anchor.number
    if anchor.kind == "place":
        return _average_of([Fraction(place) for place in reading.places]) <= anchor.number
    value = _place_anchor(term, reading, anchor, scale)
    if value is None:
        return False
    return sign * reading.value < sign * value or (not anchor.beat and reading.value == value)


def _explain_points(
    term: Term, scale: ScoreScale, reading: _Reading, points: Fraction, code: str, anchors: Sequence[Anchor]
) -> Reason:
    facts: dict[str, Any] = {
        "name": term.name,
        "points": points_text(points),
        "board": reading.fields[0].board if reading.fields else term.board,
    }
    if term.sources or term.of == "by_hand":
        facts["is_named"] = True
    if reading.fields and reading.fields[0].day:
        facts["day"] = reading.fields[0].day
    if term.of == "score" and code != "place":
        return Reason(code, facts | _score_facts(term, scale, reading, code, anchors))
    value = decimal_text(round_half_up(reading.value, 2))
    if code == "place" or term.of == "place":
        value = decimal_text(round_half_up(_average_of([Fraction(place) for place in reading.places]), 2))
        more = {"competitions": len(term.sources)} if len(term.sources) > 1 else {"total": reading.total}
        return Reason("place", facts | {"place": value} | more)
    if term.of == "baselines":
        return Reason("baselines", facts | {"reached": value, "total": max(len(f.baselines) for f in reading.fields)})
    whole = {"files": "files", "members": "members", "attached": "attached"}.get(term.of)
    return Reason(term.of, facts | ({whole: floor(reading.value)} if whole else {}))


def _score_facts(
    term: Term, scale: ScoreScale, reading: _Reading, code: str, anchors: Sequence[Anchor]
) -> dict[str, Any]:
    """The score as on the board, with more decimals where those would make it look equal to an anchor."""
    decimals = reading.fields[0].decimals
    if code in ("top", "first"):
        return {"number": decimal_text(anchors[0].number)}
    placed = [(anchor, _place_anchor(term, reading, anchor, scale)) for anchor in anchors]
    near = [float(value) for _anchor, value in placed if value is not None and value != reading.value]
    score = float(reading.value)
    while decimals < MAX_SCORE_DECIMALS and any(round(score, decimals) == round(other, decimals) for other in near):
        decimals += 1
    facts: dict[str, Any] = {"score": number_text(score, decimals)}
    names = ("low", "high") if code == "between" else ("anchor",)
    for name, (anchor, value) in zip(names, placed, strict=False):
        text = anchor.number if anchor.kind == "number" else None
        shown = decimal_text(text) if text is not None else "" if value is None else number_text(float(value), decimals)
        by = f"{'+' if anchor.better_by > 0 else ''}{decimal_text(anchor.better_by)}" if anchor.better_by else ""
        facts[name] = [anchor.kind, anchor.name, by, shown]
        facts[f"{name}_points"] = points_text(anchor.points)
    return facts if names[0] in facts else facts | {"anchor": ["", "", "", ""]}


# --- the mark -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Choice:
    """One file that may decide (in time: 0 periods): the terms that it reduces, after the factors, and the rest."""

    periods: int
    reduced: Fraction
    rest: Fraction
    reasons: tuple[Reason, ...]
    rest_reasons: tuple[Reason, ...]

    def points(self, late: Late | None, slack: int) -> Fraction | None:
        """The points after lateness; None if the file counts for nothing."""
        reduced = self.reduced
        if late is not None and self.periods:
            cost = late.cost(self.periods - slack)
            if cost is None:
                return None
            reduced = reduced * (1 - cost / 100) if late.unit == "percent" else reduced - cost
        return max(ZERO, reduced) + self.rest


def compute_mark(rules: GradeRules, scale: ScoreScale, person: Person, *, slack: int = 0, slack_total: int = 0) -> Mark:
    """The mark of a person, by the file that yields most.

    Up to `slack` late periods cost nothing: as few as give the highest mark. `slack_total` are those left to the person
    in the whole course, for the sentence.
    """
    if person.disqualified is not None:
        return Mark(0.0, (Reason.of("disqualified", reason=person.disqualified),))
    if person.is_awaited:
        return Mark(None, (Reason.of("has_time"),))
    choices = _list_choices(rules, scale, person)
    best: tuple[Fraction, _Choice, int] | None = None
    for used in range(min(slack, max((choice.periods for choice in choices), default=0)) + 1):
        for choice in choices:
            points = choice.points(rules.late, used)
            # Without more slack the earlier file wins a tie; more slack must give a higher mark.
            if points is None:
                continue
            if best is None or (
                points > best[0] if used == best[2] else round_mark(rules, points) > round_mark(rules, best[0])
            ):
                best = (points, choice, used)
    if best is None:
        return _mark_without_file(rules, scale, person, is_too_late=bool(choices))
    points, choice, used = best
    reasons = [*choice.reasons, *_late_reasons(rules.late, choice, used, slack_total), *choice.rest_reasons]
    later = (other for other in choices if other.periods > choice.periods and other.reduced > choice.reduced)
    if (other := next(later, None)) and (less := other.points(rules.late, used)) is not None:
        reasons.append(Reason.of("later_is_less", points=points_text(less)))
    return finish_mark(rules, points, reasons, is_sum=len(rules.terms) > 1, slack=used)


def limit_points(rules: AnyRules, points: Fraction) -> Fraction:
    """Points between the least and the most."""
    points = max(points, rules.least)
    return points if rules.most is None else min(points, rules.most)


def round_mark(rules: AnyRules, points: Fraction) -> Fraction:
    """Points within the limits, rounded if the rules round."""
    limited = limit_points(rules, points)
    return limited if rules.decimals is None else round_half_up(limited, rules.decimals)


def _list_choices(rules: GradeRules, scale: ScoreScale, person: Person) -> list[_Choice]:
    files: list[LateFile | None] = [None] if scale.has_file(person) else []
    if rules.late is not None:
        files += person.late
    return [_weigh_file(rules, scale, person, file) for file in files]


def _weigh_file(rules: GradeRules, scale: ScoreScale, person: Person, file: LateFile | None) -> _Choice:
    reduced, rest = ZERO, ZERO
    reasons, rest_reasons = [], []
    for term in rules.terms:
        points, reason = points_of(term, scale, person, file)
        if term.is_reduced:
            reduced += points
            reasons.append(reason)
        else:
            rest += points
            rest_reasons.append(reason)
    for factor in rules.factors:
        percent, reason = points_of(factor, scale, person, file)
        reduced = reduced * percent / 100
        if percent != 100:
            facts = {"percent": points_text(percent), "points": points_text(reduced)}
            reasons.append(Reason.of("factor", what=reason.as_json(), **facts))
    return _Choice(file.periods if file else 0, reduced, rest, tuple(reasons), tuple(rest_reasons))


def _late_reasons(late: Late | None, choice: _Choice, used: int, left: int) -> list[Reason]:
    if late is None or not choice.periods:
        return []
    hours, reasons = number_json(late.every_hours), []
    if used:
        spent = min(used, choice.periods)
        reasons.append(Reason.of("slack", periods=choice.periods, hours=hours, used=spent, left=left - spent))
    counted = choice.periods - used
    if cost := late.cost(counted):
        without = replace(choice, rest=ZERO).points(late, used) or ZERO
        facts = {"unit": late.unit, "off": points_text(cost), "points": points_text(without)}
        reasons.append(Reason.of("late", periods=counted, hours=hours, **facts))
    return reasons


def finish_mark(rules: AnyRules, points: Fraction, reasons: list[Reason], *, is_sum: bool, slack: int = 0) -> Mark:
    """The mark after limits and rounding, with their sentences; `is_sum` if the points come from several terms."""
    limited, rounded = limit_points(rules, points), round_mark(rules, points)
    if is_sum:
        reasons.append(Reason.of("together", points=points_text(points)))
    if limited != points:
        reasons.append(Reason.of("at_most" if limited < points else "at_least", points=points_text(limited)))
    if points_text(rounded) != points_text(limited):
        reasons.append(Reason.of("rounded", points=points_text(rounded)))
    return Mark(float(rounded), tuple(reasons), slack)


def _mark_without_file(rules: GradeRules, scale: ScoreScale, person: Person, *, is_too_late: bool) -> Mark:
    why = "no_file" if person.has_joined else "never_joined"
    reasons = [Reason.of("too_late")] if is_too_late else []
    if rules.no_file == "none":
        return Mark(None, (*reasons, Reason.of(why)))
    if rules.no_file == "zero":
        return Mark(0.0, (*reasons, Reason.of(f"{why}_is_zero")))
    by_hand = [points_of(term, scale, person) for term in rules.terms if term.of == "by_hand"]
    reasons += [Reason.of(f"{why}_but_hand"), *(reason for _points, reason in by_hand)]
    total = sum((points for points, _reason in by_hand), ZERO)
    return finish_mark(rules, total, reasons, is_sum=len(rules.terms) > 1)


# --- numbers ------------------------------------------------------------------------------------------------------


def round_half_up(value: Fraction, decimals: int) -> Fraction:
    scale = 10**decimals
    return Fraction(floor(value * scale + Fraction(1, 2)), scale)


def round_points(points: float, decimals: int) -> float:
    """Round half up, on the decimal digits of the number and not on its binary value: 0.285 becomes 0.29."""
    return float(round_half_up(Fraction(repr(round(points, 9))), decimals))


def points_text(points: Fraction) -> str:
    """Points with up to three decimals."""
    return decimal_text(round_half_up(points, 3))
