"""Grade rules in six nouns: rules, terms, anchors, factors, lateness, and a course's parts.

A mark is what the terms add up to, less what lateness and factors take. Everything here is plain data: numbers are
exact fractions, stored as decimal texts. `docs/grading.md` says what each field means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from .reading import (
    MAX_POINTS,
    Noun,
    Reader,
    RuleFault,
    list_of,
    number_json,
    one_of,
    parse_number,
    read_flag,
    read_number,
    read_points,
    read_text,
    read_whole,
)

MAX_ROWS = 12
MAX_TERMS = 12
MAX_PARTS = 40
MAX_PERIODS = 60
MAX_DECIMALS = 3

QUANTITIES = ("score", "place", "baselines", "files", "members", "attached", "by_hand")
REDUCED = ("score", "place", "baselines")
"""Quantities of a file, whose points lateness and factors reduce."""
FEWER_IS_BETTER = ("place", "members")
CLASS_FIGURES = ("best", "median", "mean")


# --- anchors and terms --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Anchor:
    """A place on the scale and its points.

    `kind` is `number` (a score, or another quantity), `last`, `baseline` and `class` (named by `name`, `better_by` an
    amount); in steps also `place` (among the first so many) and `top` (the best so many percent). `beat` asks for more
    than the place itself.
    """

    kind: str
    points: Fraction
    number: Fraction = Fraction(0)
    name: str = ""
    better_by: Fraction = Fraction(0)
    beat: bool = False

    @classmethod
    def read(cls, values: Any, where: str, faults: list[RuleFault]) -> Anchor:
        """An anchor from [place, points]. Raises `ValueError`."""
        if not isinstance(values, list | tuple) or len(values) != 2:
            raise ValueError(_("enter a place on the scale and its points."))
        place, points = values[0], read_points(values[1], where, faults)
        if place == "last":
            return cls("last", points)
        if not isinstance(place, Mapping):
            return cls("number", points, parse_number(place))
        kinds = [kind for kind in ("score", "baseline", "class", "place", "top") if kind in place]
        if len(kinds) != 1 or set(place) - {kinds[0], "better_by", "beat"}:
            raise ValueError(_("choose a baseline or enter a score."))
        kind, value = kinds[0], place[kinds[0]]
        beat, better_by = bool(place.get("beat")), parse_number(place.get("better_by") or 0)
        if kind == "baseline":
            return cls(kind, points, name=read_text(value, where, faults), better_by=better_by, beat=beat)
        if kind == "class":
            figure = one_of(*CLASS_FIGURES)(value, where, faults)
            return cls(kind, points, name=figure, better_by=better_by, beat=beat)
        return cls("number" if kind == "score" else kind, points, parse_number(value), beat=beat)

    def as_json(self) -> list[Any]:
        if self.kind == "last":
            return ["last", number_json(self.points)]
        place: dict[str, Any] = {"number": {"score": number_json(self.number)}}.get(self.kind) or {
            self.kind: self.name or number_json(self.number)
        }
        if self.better_by:
            place["better_by"] = number_json(self.better_by)
        return [place | ({"beat": True} if self.beat else {}), number_json(self.points)]

    def goodness(self, sign: int) -> tuple[tuple[str, str], tuple[Fraction, bool]] | None:
        """(a group, a key that is higher for the better anchor of this group); None if its place may change freely."""
        if self.kind == "last":
            return None
        by = self.number * sign if self.kind == "number" else self.better_by - self.number
        return (self.kind, self.name), (by, self.beat)


@dataclass(frozen=True)
class Term(Noun):
    """Points for one quantity: the most of `below`, the value on the `line`, and each of the `steps` reached.

    As a factor the points are percent. `until` counts hours after the deadline, negative before it. `sources` are
    competitions of the course whose values are averaged. With `late` false neither lateness nor factors reduce it.
    """

    name: str = ""
    of: str = "score"
    board: str = "private"
    sources: tuple[str, ...] = ()
    until: Fraction | None = None
    below: Fraction = Fraction(0)
    line: tuple[Anchor, ...] = ()
    steps: tuple[Anchor, ...] = ()
    late: bool = True

    READERS: ClassVar[Mapping[str, Reader]] = {
        "name": read_text,
        "of": one_of(*QUANTITIES),
        "board": one_of("public", "private"),
        "from": list_of(read_text, MAX_ROWS),
        "until": read_number,
        "below": read_points,
        "line": list_of(Anchor.read, MAX_ROWS),
        "steps": list_of(Anchor.read, MAX_ROWS),
        "late": read_flag,
    }

    @property
    def is_reduced(self) -> bool:
        """Whether lateness and factors take from its points."""
        return self.of in REDUCED and self.late

    @property
    def depends_on_class(self) -> bool:
        """Whether the points of one team depend on what others reach."""
        kinds = {anchor.kind for anchor in (*self.line, *self.steps)}
        return self.of == "place" or bool(kinds & {"class", "place", "top"}) or (self.of == "files" and "last" in kinds)

    @property
    def baselines(self) -> set[str]:
        """Names of the baselines that the term needs."""
        return {anchor.name for anchor in (*self.line, *self.steps) if anchor.kind == "baseline"}

    def faults_at(self, where: str, higher_is_better: bool | None) -> Iterator[RuleFault]:
        if not self.name:
            yield RuleFault(where, _("give it a name."))
        if self.of != "by_hand" and not self.line and not self.steps:
            yield RuleFault(where, _("add at least one row with points."))
        for part, anchors in (("line", self.line), ("steps", self.steps)):
            for number, anchor in enumerate(anchors):
                if text := self._anchor_fault(part, anchor):
                    yield RuleFault(f"{where}.{part}.{number}", text)
            yield from self._contradictions(f"{where}.{part}", anchors, higher_is_better)

    def _anchor_fault(self, part: str, anchor: Anchor) -> str:
        allowed = {"number"} if self.of == "by_hand" else {"number", "last"}
        if self.of == "score":
            allowed = {"number", "baseline", "class"} | ({"place", "top"} if part == "steps" else set())
        if anchor.kind not in allowed:
            return _("choose “the value”. Only scores have baselines, and only steps have places.")
        if anchor.kind == "top" and not 0 < anchor.number <= 100:
            return _("enter a share of teams above 0 and up to 100 percent.")
        if anchor.kind == "place" and anchor.number < 1:
            return _("enter a place of at least 1.")
        return ""

    def _contradictions(
        self, where: str, anchors: Sequence[Anchor], higher_is_better: bool | None
    ) -> Iterator[RuleFault]:
        """Two fixed anchors of which the better one has fewer points, or which are the same place."""
        if self.of == "score" and higher_is_better is None:
            anchors = [anchor for anchor in anchors if anchor.kind != "number"]
        fewer = self.of in FEWER_IS_BETTER if self.of != "score" else not higher_is_better
        for (one, first), (other, second) in combinations(enumerate(anchors), 2):
            good, better = first.goodness(-1 if fewer else 1), second.goodness(-1 if fewer else 1)
            if good is None or better is None or good[0] != better[0] or first.points == second.points:
                continue
            if good[1] == better[1]:
                yield RuleFault(f"{where}.{other}", _("it is the same place as row %(row)s.") % {"row": one + 1})
            elif (good[1] < better[1]) != (first.points < second.points):
                rows = (other, one) if good[1] < better[1] else (one, other)
                facts = {"better": rows[0] + 1, "worse": rows[1] + 1}
                text = _("row %(better)s is better than row %(worse)s but gives fewer points.") % facts
                yield RuleFault(f"{where}.{other}", text)


@dataclass(frozen=True)
class Late(Noun):
    """The deduction for late files: `off` has the total one after the first, second … period of `every_hours`.

    `then` is the deduction of further periods: none (`stay`), the last difference for each (`add`), or the file does
    not count (`zero`). The first `grace_minutes` are free.
    """

    every_hours: Fraction = Fraction(24)
    off: tuple[Fraction, ...] = ()
    grace_minutes: Fraction = Fraction(0)
    unit: str = "percent"
    then: str = "stay"

    READERS: ClassVar[Mapping[str, Reader]] = {
        "every_hours": read_number,
        "off": list_of(read_points, MAX_PERIODS),
        "grace_minutes": read_number,
        "unit": one_of("percent", "points"),
        "then": one_of("stay", "add", "zero"),
    }

    def faults(self, higher_is_better: bool | None = None) -> Iterator[RuleFault]:
        if not 0 < self.every_hours <= MAX_POINTS:
            yield RuleFault("late", _("A late period must be longer than 0 hours."))
        if not 0 <= self.grace_minutes <= MAX_POINTS:
            yield RuleFault("late", _("Free minutes can't be negative."))
        if not self.off:
            yield RuleFault("late", _("Enter what the first late period costs."))
        if any(later < earlier for earlier, later in pairwise((Fraction(0), *self.off))):
            yield RuleFault("late", _("A later period can't cost less than an earlier one."))
        if self.unit == "percent" and any(off > 100 for off in self.off):
            yield RuleFault("late", _("Late work can't lose more than 100 percent."))

    def periods(self, seconds: Fraction) -> int:
        """The late periods begun by a file so long after its team's deadline; 0 for one in the free minutes."""
        grace = self.grace_minutes * 60
        if grace and seconds <= grace:
            return 0
        return max(1, ceil((seconds - grace) / (self.every_hours * 3600)))

    def cost(self, periods: int) -> Fraction | None:
        """The total deduction after so many periods; None if the file does not count."""
        if periods <= 0:
            return Fraction(0)
        if periods <= len(self.off):
            return self.off[periods - 1]
        if self.then == "zero":
            return None
        step = self.off[-1] - (self.off[-2] if len(self.off) > 1 else 0) if self.then == "add" else 0
        return self.off[-1] + step * (periods - len(self.off))


class Scheme(Noun):
    """Rules with terms, in the fields named by `TERMS`: those of a competition, or of a course."""

    TERMS: ClassVar[Sequence[str]]

    @property
    def all_terms(self) -> dict[str, Term]:
        """Place, such as `terms.0` → term."""
        return {f"{kind}.{number}": term for kind in self.TERMS for number, term in enumerate(getattr(self, kind))}

    @property
    def hand_names(self) -> list[str]:
        """Names of the terms by hand."""
        return [term.name for term in self.all_terms.values() if term.of == "by_hand"]

    @property
    def reads_private(self) -> bool:
        """Whether private scores decide about points."""
        return any(term.of in REDUCED and term.board == "private" for term in self.all_terms.values())

    @property
    def depends_on_class(self) -> bool:
        """Whether the points of one team depend on what others reach."""
        return any(term.depends_on_class for term in self.all_terms.values())

    @property
    def named_competitions(self) -> list[tuple[str, str]]:
        """(place, slug) of each competition of the course that the rules name."""
        return [(where, slug) for where, term in self.all_terms.items() for slug in term.sources]

    def _term_faults(self, higher_is_better: bool | None) -> Iterator[RuleFault]:
        for where, term in self.all_terms.items():
            # The direction of other competitions is not known here.
            yield from term.faults_at(where, None if term.sources else higher_is_better)
        if len(self.hand_names) != len(set(self.hand_names)):
            yield RuleFault("", _("Two terms by hand have the same name."))


@dataclass(frozen=True)
class GradeRules(Scheme):
    """The grade rules of a competition. A mark is at least `least` and at most `cap`.

    `no_file` decides about people without a file: no mark (`none`), `zero`, or their points by hand (`rest`). `title`
    is the column's name in files.
    """

    out_of: Fraction = Fraction(100)
    cap: Fraction | None = None
    least: Fraction = Fraction(0)
    decimals: int = 1
    no_file: str = "none"
    terms: tuple[Term, ...] = ()
    factors: tuple[Term, ...] = ()
    late: Late | None = None
    title: str = ""

    TERMS = ("terms", "factors")
    READERS: ClassVar[Mapping[str, Reader]] = {
        "out_of": read_points,
        "cap": read_points,
        "least": read_points,
        "decimals": read_whole,
        "no_file": one_of("none", "zero", "rest"),
        "terms": list_of(Term.read, MAX_TERMS),
        "factors": list_of(Term.read, MAX_TERMS),
        "late": Late.read,
        "title": read_text,
    }

    @property
    def most(self) -> Fraction:
        """The highest possible mark."""
        return self.out_of if self.cap is None else self.cap

    @property
    def full(self) -> Fraction:
        """The full mark."""
        return self.out_of

    @property
    def shown_decimals(self) -> int:
        return self.decimals

    def faults(self, higher_is_better: bool | None = None) -> Iterator[RuleFault]:
        yield from _limit_faults(self.out_of, self.cap, self.decimals)
        if not 0 <= self.least <= self.most:
            yield RuleFault("", _("The minimum must be between 0 and the maximum."))
        if not self.terms:
            yield RuleFault("", _("Add at least one term."))
        yield from self._term_faults(higher_is_better)
        for number, factor in enumerate(self.factors):
            if any(points < 0 for points in (factor.below, *(row.points for row in (*factor.line, *factor.steps)))):
                yield RuleFault(f"factors.{number}", _("a factor can't be negative."))
        if self.late is not None:
            yield from self.late.faults()


def _limit_faults(out_of: Fraction | None, cap: Fraction | None, decimals: int | None) -> Iterator[RuleFault]:
    if out_of is not None and out_of <= 0:
        yield RuleFault("", _("The full mark must be above 0."))
    if cap is not None and cap < (out_of or 0):
        yield RuleFault("", _("The cap can't be below the full mark."))
    if decimals is not None and not 0 <= decimals <= MAX_DECIMALS:
        yield RuleFault("", _("Decimal places must be between 0 and 3."))


# --- courses ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CoursePart(Noun):
    """A competition of a course and its weight."""

    competition: str = ""
    weight: Fraction = Fraction(0)

    READERS: ClassVar[Mapping[str, Reader]] = {"competition": read_text, "weight": read_points}


@dataclass(frozen=True)
class Slack(Noun):
    """Late periods that each person may use for nothing: in the whole course, and at most in one competition."""

    periods: int = 0
    most: int | None = None

    READERS: ClassVar[Mapping[str, Reader]] = {"periods": read_whole, "most": read_whole}

    def left(self, used: int) -> int:
        """The periods that may be used in one competition, after so many in earlier ones."""
        left = max(0, self.periods - used)
        return left if self.most is None else min(left, self.most)


@dataclass(frozen=True)
class CourseScheme(Scheme):
    """How the marks of a course's competitions add up.

    Without `out_of` the full mark is the sum of the weights, and without both `out_of` and `cap` nothing limits it.
    """

    parts: tuple[CoursePart, ...] = ()
    plus: tuple[Term, ...] = ()
    drop_lowest: int = 0
    out_of: Fraction | None = None
    cap: Fraction | None = None
    decimals: int | None = None
    slack: Slack | None = None
    title: str = ""

    TERMS = ("plus",)
    least: ClassVar = Fraction(0)
    READERS: ClassVar[Mapping[str, Reader]] = {
        "parts": list_of(CoursePart.read, MAX_PARTS),
        "plus": list_of(Term.read, MAX_TERMS),
        "drop_lowest": read_whole,
        "out_of": read_points,
        "cap": read_points,
        "decimals": read_whole,
        "slack": Slack.read,
        "title": read_text,
    }

    @property
    def full(self) -> Fraction:
        """The full mark."""
        return self.out_of or sum((part.weight for part in self.parts), Fraction(0))

    @property
    def shown_decimals(self) -> int:
        """Decimals of marks on pages; unrounded ones have three."""
        return MAX_DECIMALS if self.decimals is None else self.decimals

    @property
    def most(self) -> Fraction | None:
        return self.out_of if self.cap is None else self.cap

    @property
    def named_competitions(self) -> list[tuple[str, str]]:
        parts = [(f"parts.{number}", part.competition) for number, part in enumerate(self.parts)]
        return parts + super().named_competitions

    def faults(self, higher_is_better: bool | None = None) -> Iterator[RuleFault]:
        yield from _limit_faults(self.out_of, self.cap, self.decimals)
        if not self.parts:
            yield RuleFault("", _("Add at least one competition."))
        yield from self._part_faults()
        if not 0 <= self.drop_lowest < max(1, len(self.parts)):
            yield RuleFault("", _("Fewer competitions must be dropped than there are."))
        yield from self._term_faults(None)
        for where, term in self.all_terms.items():
            if term.of != "by_hand" and not term.sources:
                yield RuleFault(where, _("choose a competition, or points by hand."))
        if self.slack is not None and (self.slack.periods < 0 or (self.slack.most or 0) < 0):
            yield RuleFault("", _("Late days can't be negative."))

    def _part_faults(self) -> Iterator[RuleFault]:
        names = [part.competition for part in self.parts]
        for number, part in enumerate(self.parts):
            if not part.competition or part.competition in names[:number]:
                yield RuleFault(f"parts.{number}", _("choose each competition once."))
            if part.weight < 0:
                yield RuleFault(f"parts.{number}", _("a weight can't be negative."))
        if self.parts and not any(part.weight for part in self.parts):
            yield RuleFault("", _("Give at least one competition a weight."))


AnyRules = GradeRules | CourseScheme
