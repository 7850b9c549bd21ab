"""The grade of a course: released marks by weight, bonus, limits; its sheet and its release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from django.utils.translation import gettext as _

from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions.models import Competition, Course, Membership
from leaderboard.competitions.models.competition import Split

from .marks import ZERO, Mark, Person, ScoreScale, finish_mark, points_of, points_text, round_half_up
from .models import Grade, GradeRelease
from .queries import GradeRow, GradeSheet, course_scheme, stored_marks, students_from
from .reading import BadRules
from .reasons import Reason
from .rules import CoursePart, CourseScheme, GradeRules, Term
from .students import Student
from .values import fields_of_sources, fraction_of, hand_points, needs_of, teams_in


@dataclass(frozen=True)
class PartResult:
    """A person's released mark in a competition of the course (None: no mark)."""

    part: CoursePart
    title: str
    out_of: Fraction
    points: Fraction | None

    @property
    def share(self) -> Fraction:
        return (self.points or ZERO) / self.out_of

    @property
    def weighted(self) -> Fraction:
        return self.share * self.part.weight


def course_mark(scheme: CourseScheme, results: Sequence[PartResult], plus: Sequence[tuple[Fraction, Reason]]) -> Mark:
    """Shares of the marks by weight, without the lowest, plus the bonus. No mark counts 0 beside others."""
    if all(result.points is None for result in results):
        return Mark(None, (Reason.of("no_parts"),))
    lowest = sorted(results, key=lambda result: (result.share, result.weighted))
    dropped = {id(result) for result in lowest[: scheme.drop_lowest]}
    total = sum((result.weighted for result in results if id(result) not in dropped), ZERO)
    reasons = [_part_reason(result, is_dropped=id(result) in dropped) for result in results]
    for points, reason in plus:
        total += points
        reasons.append(reason)
    return finish_mark(scheme, total, reasons, is_sum=len(reasons) > 1)


def _part_reason(result: PartResult, *, is_dropped: bool) -> Reason:
    if is_dropped:
        return Reason.of("dropped", title=result.title)
    weight = points_text(result.part.weight)
    if result.points is None:
        return Reason.of("part_missing", title=result.title, weight=weight)
    facts = {"points": points_text(result.points), "most": points_text(result.out_of)}
    return Reason.of("part", title=result.title, weight=weight, weighted=points_text(result.weighted), **facts)


# --- the sheet ----------------------------------------------------------------------------------------------------


def suggested_scheme(competitions: Sequence[Competition], title: str) -> CourseScheme:
    """Equal weights that add up to 100."""
    weight = Fraction(100, max(1, len(competitions)))
    parts = tuple(CoursePart(competition.slug, round_half_up(weight, 2)) for competition in competitions)
    return CourseScheme(parts=parts, out_of=Fraction(100), decimals=1, title=title)


def course_competitions(course_id: int) -> list[Competition]:
    """The competitions of a course that are not in the bin, in the order of their deadlines."""
    there = Competition.objects.outside_bin().filter(course=course_id)
    return sorted(there, key=lambda competition: (competition.closes_at, competition.pk))


def course_sheet(
    course: Course, competitions: Sequence[Competition] | None = None, tried: CourseScheme | None = None
) -> GradeSheet:
    """The course's marks of all students, from the released grades of its competitions. Only for its hosts.

    `competitions` are those of the course, if the caller has them already. With `tried` the marks are those that these
    rules would make, without the released ones.
    """
    there = {one.slug: one for one in (course_competitions(course.pk) if competitions is None else competitions)}
    saved = course_scheme(course.pk)
    rules = tried or saved or suggested_scheme(list(there.values()), course.title)
    release = None if tried else GradeRelease.current(course)
    sheet = GradeSheet(rules, rules == saved, release=release)
    gone = [part.competition for part in rules.parts if part.competition not in there]
    if gone or not there:
        text = _("The course has no competition “%(name)s”.")
        return replace(sheet, faults=tuple(text % {"name": name} for name in gone) or (_("Add a competition first."),))
    try:
        plus = _plus_points(course, rules.plus)
    except BadRules as error:
        return replace(sheet, faults=tuple(map(str, error.faults)))
    given, out_of = _released_points(course)
    known = stored_marks(course, release)
    unreleased = tuple(there[part.competition] for part in rules.parts if part.competition not in out_of)
    rows = []
    for student in students_of_course(course):
        user = student.user_id or 0
        results = [
            PartResult(
                part,
                there[part.competition].title,
                out_of.get(part.competition, Fraction(100)),
                given.get((part.competition, user)),
            )
            for part in rules.parts
        ]
        mark = known.set_by_host.get(user) or course_mark(rules, results, plus(student.key))
        rows.append(GradeRow(student, mark, known.released.get(user)))
    return replace(sheet, rows=tuple(rows), unreleased=unreleased)


def students_of_course(course: Course) -> list[Student]:
    """The members of all competitions, and the students on the class list, sorted by name."""
    memberships = Membership.objects.filter(competition__course=course).order_by("user", "pk")
    return students_from(memberships, RosterEntry.objects.filter(course=course), is_course=True)


def _released_points(course: Course) -> tuple[dict[tuple[str, int], Fraction], dict[str, Fraction]]:
    """((competition, user) → released points, competition → full mark of the released rules)."""
    releases = GradeRelease.current_of_course(course.pk)
    out_of = {
        slug: GradeRules.from_values(rules).out_of for slug, rules in releases.values_list("competition__slug", "rules")
    }
    grades = Grade.objects.filter(release__in=releases.values("pk"), points__isnull=False).order_by()
    rows = grades.values_list("release__competition__slug", "user", "points")
    return {(slug, user): fraction_of(points or 0.0) for slug, user, points in rows}, out_of


def _plus_points(course: Course, terms: Sequence[Term]) -> Callable[[int], list[tuple[Fraction, Reason]]]:
    """A function from `Student.key` to the points and reasons of the bonus terms."""
    by_hand = hand_points(course) if any(term.of == "by_hand" for term in terms) else {}
    sources = {slug for term in terms for slug in term.sources}
    scale = ScoreScale("", fields_of_sources(course.pk, needs_of(terms, ""), Split.PRIVATE))
    teams = teams_in(course.pk, sources)

    def plus(user: int) -> list[tuple[Fraction, Reason]]:
        person = Person(teams=teams.get(user, {}), by_hand=by_hand.get(user, {}))
        return [points_of(term, scale, person) for term in terms]

    return plus
