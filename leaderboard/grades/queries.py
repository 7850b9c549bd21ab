"""Grade sheets: the students of a class, and their marks with reasons, computed from the scores of now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import JSONObject
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from leaderboard.boards import ranking
from leaderboard.boards.queries import baseline_scores
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.queries import only_row
from leaderboard.competitions.models import Competition, Course, GroundTruth, Membership, Submission, Team
from leaderboard.competitions.models.competition import Split

from . import marks, suggestions
from .models import Grade, GradeRelease, Override, SavedRules, owner_of
from .reading import BadRules
from .reasons import Reason
from .rules import AnyRules, CourseScheme, GradeRules, Slack
from .students import Student
from .values import class_values, fraction_of, people_facts

MEMBER_FACTS = (
    "user_id",
    "user__username",
    "user__email",
    "user__first_name",
    "user__last_name",
    "team_id",
    "team__name",
    "team__disqualified_at",
    "team__disqualified_reason",
    "team__is_awaited",
)
ROSTER_FACTS = ("user_id", "name", "email", "left_at", "student_id", "sis_user_id", "login", "section")


def students_of(competition: Competition) -> list[Student]:
    """All students who get a grade, sorted by name: members of teams, and students on the class list."""
    memberships = Membership.objects.filter(competition=competition).order_by()
    return students_from(memberships, RosterEntry.objects.filter(course=competition.course_id))


def students_from(
    memberships: QuerySet[Membership], entries: QuerySet[RosterEntry], *, is_course: bool = False
) -> list[Student]:
    """The students of memberships and class list, each person once; in a course without team."""
    # `values` instead of model instances: each page of grades reads the whole class, up to 500 students.
    facts = {member["user_id"]: member for member in memberships.values(*MEMBER_FACTS)}
    listed = {entry.user_id or -entry.pk: entry for entry in entries.only(*ROSTER_FACTS)}
    students = [_student_from_membership(member, listed.pop(user, None)) for user, member in facts.items()]
    if is_course:
        students = [
            replace(student, team="", team_id=None, disqualified=None, is_awaited=False) for student in students
        ]
    students += [
        Student(has_joined=False, user_id=entry.user_id, entry_id=entry.pk, **_roster_names(entry, str(entry), ""))
        for entry in listed.values()
        if entry.left_at is None
    ]
    return sorted(students, key=lambda student: (student.name.casefold(), student.username))


def _student_from_membership(member: Mapping[str, Any], entry: RosterEntry | None) -> Student:
    """A member of a team; names on the class list take precedence over those of the account."""
    first, last = member["user__first_name"], member["user__last_name"]
    of_account = {"first_name": first, "last_name": last, "email": member["user__email"]}
    name = f"{first} {last}".strip() or member["user__username"]
    return Student(
        username=member["user__username"],
        user_id=member["user_id"],
        team_id=member["team_id"],
        team=member["team__name"],
        disqualified=member["team__disqualified_reason"] if member["team__disqualified_at"] else None,
        is_awaited=member["team__is_awaited"],
        **(
            {**of_account, "name": name}
            if entry is None
            else {**of_account, **_roster_names(entry, name, of_account["email"])}
        ),
    )


def _roster_names(entry: RosterEntry, name: str, email: str) -> dict[str, Any]:
    """Fields of a `Student` from the class list; `name` and `email` are used where the list has none."""
    facts = {key: getattr(entry, key) for key in ("student_id", "sis_user_id", "login", "section")}
    named = {"first_name": "", "last_name": ""} if entry.name else {}
    return {**facts, **named, "name": entry.name or name, "email": entry.email or email, "is_listed": True}


# --- sheets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GradeRow:
    """A student with the mark of now, and the released mark that the student sees (None without one)."""

    student: Student
    mark: marks.Mark
    released: marks.Mark | None = None

    @property
    def mark_for_files(self) -> marks.Mark:
        """The released mark, else that of now."""
        return self.released or self.mark

    @property
    def is_changed(self) -> bool:
        return self.released is not None and self.released.points != self.mark.points


@dataclass(frozen=True)
class GradeSheet:
    """The marks of all students by saved or proposed rules (`is_saved`). With `faults` there are no rows."""

    rules: AnyRules
    is_saved: bool
    split: Split = Split.PRIVATE
    rows: tuple[GradeRow, ...] = ()
    faults: tuple[str, ...] = ()
    release: GradeRelease | None = None
    scale: marks.ScoreScale | None = None
    """What the marks were computed from; None for a course."""
    waiting: int = 0
    """Number of the competition's files that wait for a score."""
    is_awaited: bool = False
    """Whether a team of the competition still has time."""
    unreleased: tuple[Competition | CourseCompetition, ...] = ()
    """Competitions whose grades must be released first: of a course all, else those with late days."""

    @property
    def unlinked_students(self) -> int:
        """Number of students who are not on the class list, if a student on it has no account; else 0.

        The two may be one person, who is then on the sheet twice, once without a file.
        """
        students = [row.student for row in self.rows]
        has_absent = any(student.is_listed and student.user_id is None for student in students)
        if not has_absent:
            return 0
        return sum(not student.is_listed and student.user_id is not None for student in students)

    @cached_property
    def effective_rules(self) -> AnyRules:
        """The rules of the release that students see, else those of the sheet."""
        return self.release.scheme if self.release else self.rules

    @property
    def is_by_other_rules(self) -> bool:
        """Whether the released grades were made by other rules than those of the sheet."""
        return self.effective_rules != self.rules

    @property
    def is_ready(self) -> bool:
        """Whether the marks may be written to files."""
        return self.is_saved and not self.faults

    @cached_property
    def points(self) -> list[float]:
        return [row.mark.points for row in self.rows if row.mark.points is not None]

    @property
    def mean(self) -> float | None:
        return round(sum(self.points) / len(self.points), 1) if self.points else None

    @property
    def zeros(self) -> int:
        return self.points.count(0)

    @property
    def ungraded(self) -> int:
        """Number of students without points."""
        return len(self.rows) - len(self.points)

    @property
    def readers(self) -> int:
        """Number of students with an account, who can see a grade here."""
        return sum(row.student.user_id is not None for row in self.rows)

    @property
    def changed(self) -> int:
        """Number of students whose points are others than those released."""
        return sum(row.is_changed for row in self.rows)


def deciding_split(competition: Competition, at: datetime) -> Split:
    """Private rows after the deadline; before it public ones, for a preview of the grades."""
    return Split.PRIVATE if at >= competition.closes_at else Split.PUBLIC


class CourseCompetition(NamedTuple):
    """A competition of a course, with the release that its students see."""

    slug: str
    title: str
    release: GradeRelease | None


class StoredRules(NamedTuple):
    """The saved rules of a competition and its course, and more that a sheet needs: the number of files that wait for a
    score, whether a team still has time, and the course's competitions in the order of their deadlines; one query."""

    rules: GradeRules | None
    scheme: CourseScheme | None
    waiting: int
    is_awaited: bool
    release: GradeRelease | None
    competitions: Sequence[CourseCompetition]


RELEASE_FACTS = ("pk", "number", "rules", "ground_truth_number", "released_at", "withdrawn_at")


def stored_rules(competition: Competition) -> StoredRules:
    pending = Submission.objects.filter(competition=competition, status=Submission.Status.PENDING).order_by()
    # Those of baselines are subtracted: with a condition on them SQLite would scan all files of the competition.
    waiting = pending.values("competition").annotate(number=Count("pk") - Count("baseline")).values("number")
    awaited = Team.objects.filter(competition=competition, is_awaited=True, disqualified_at=None)
    newest = GradeRelease.objects.filter(competition=OuterRef("pk")).order_by("-number").values("pk")[:1]
    there = Competition.objects.filter(Q(archive__binned_at=None) | Q(pk=competition.pk), course=competition.course_id)
    rows = there.filter(Q(graderelease=None) | Q(graderelease=Subquery(newest))).order_by("closes_at", "pk")
    facts = rows.annotate(waiting=Subquery(waiting), has_awaited=Exists(awaited)).values(
        "pk", "slug", "title", "savedrules__values", "course__savedrules__values", "waiting", "has_awaited",
        *(f"graderelease__{name}" for name in RELEASE_FACTS),
    )  # fmt: skip
    competitions = [CourseCompetition(row["slug"], row["title"], _shown_release(row)) for row in facts]
    own = next(row for row in facts if row["slug"] == competition.slug)
    values, course_values = own["savedrules__values"], own["course__savedrules__values"]
    return StoredRules(
        GradeRules.from_values(values) if values else None,
        CourseScheme.from_values(course_values) if course_values else None,
        own["waiting"] or 0,
        own["has_awaited"],
        next(one.release for one in competitions if one.slug == competition.slug),
        competitions,
    )


def _shown_release(row: Mapping[str, Any]) -> GradeRelease | None:
    """The newest release in a row, if it isn't withdrawn."""
    newest = GradeRelease(competition_id=row["pk"], **{name: row[f"graderelease__{name}"] for name in RELEASE_FACTS})
    return newest if newest.pk is not None and newest.withdrawn_at is None else None


def suggested_rules(competition: Competition, baselines: Mapping[str, float] | None = None) -> GradeRules:
    """The site's suggestion; `baselines` are their public scores, if the caller has them already."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return suggestions.choose_policy([], {}, higher_is_better=True, title=competition.title)
    ground_truth.competition = competition
    scores = baseline_scores(ground_truth, Split.PUBLIC) if baselines is None else baselines
    values = list(ranking.best_values(ground_truth).values())
    higher = ground_truth.sort_sign < 0
    return suggestions.choose_policy(values, scores, higher_is_better=higher, title=competition.title)


def course_scheme(course_id: int) -> CourseScheme | None:
    """The rules that a host saved for a course; None without."""
    stored = only_row(SavedRules.objects.filter(course=course_id))
    return CourseScheme.from_values(stored.values) if stored else None


def tried_sheet(competition: Competition, rules: AnyRules, stored: StoredRules, *, at: datetime) -> GradeSheet:
    """The marks as these rules make them, without the released ones and those set by hosts. Only for hosts."""
    sheet = GradeSheet(rules, rules == stored.rules, deciding_split(competition, at))
    ground_truths = [competition.ground_truth]
    return _sheets_by_ground_truth(ground_truths, sheet, competition, stored, None, with_overrides=False)[0]


def grade_sheet(competition: Competition, *, at: datetime) -> GradeSheet:
    """The marks of all students by the scores of now.

    Only for hosts: it may use private scores before the reveal.
    """
    stored = stored_rules(competition)
    effective = stored.rules or suggested_rules(competition)
    sheet = GradeSheet(
        effective,
        stored.rules is not None,
        deciding_split(competition, at),
        release=stored.release,
        waiting=stored.waiting,
        is_awaited=stored.is_awaited,
    )
    return _sheets_by_ground_truth([competition.ground_truth], sheet, competition, stored, stored.release)[0]


class StoredMarks(NamedTuple):
    """Marks by user: those of a release, those set by a host, and the late periods used in earlier releases."""

    released: dict[int, marks.Mark]
    set_by_host: dict[int, marks.Mark]
    used: Counter[int]


def stored_marks(
    graded: Competition | Course, release: GradeRelease | None, earlier: Sequence[GradeRelease] = ()
) -> StoredMarks:
    """One query; `earlier` are the releases in which late periods were used before."""
    found = StoredMarks({}, {}, Counter())
    current = release.pk if release else None
    wanted = Q(release__in=[current] if current else []) | Q(release__in=[one.pk for one in earlier], slack__gt=0)
    grades = Grade.objects.filter(wanted).values_list("release_id", "user_id", "points", "reasons", "slack").order_by()
    names = {name: f"by__{name}" for name in ("first_name", "last_name", "username")}
    overrides = Override.objects.filter(**owner_of(graded)).order_by()
    no_release, no_slack = Value(0), Value(0)
    facts = JSONObject(reason="reason", **names)
    rows: Any = grades.union(overrides.values_list(no_release, "user_id", "points", facts, no_slack), all=True)
    for release_id, user, points, reasons, slack in rows:
        if not release_id:
            found.set_by_host[user] = marks.Mark(points, (_override_reason(points, **reasons),))
        elif release_id == current:
            found.released[user] = marks.Mark(points, tuple(map(Reason.from_json, reasons)), slack)
        else:
            found.used[user] += slack
    return found


def _override_reason(points: float, *, reason: str, first_name: str | None, last_name: str, username: str) -> Reason:
    by = _("a host") if first_name is None else f"{first_name} {last_name}".strip() or username
    return Reason.of("override", points=marks.points_text(fraction_of(points)), by=by, reason=reason)


def _sheets_by_ground_truth(
    ground_truths: Sequence[GroundTruth | None],
    sheet: GradeSheet,
    competition: Competition,
    stored: StoredRules,
    release: GradeRelease | None,
    *,
    with_overrides: bool = True,
) -> list[GradeSheet]:
    """The sheet for each ground truth, in their order; students, rules and order of the rows are the same."""
    present = [ground_truth for ground_truth in ground_truths if ground_truth is not None]
    if len(present) < len(ground_truths):
        return [replace(sheet, faults=(_("Publish answers first. Grades depend on scores."),)) for _gt in ground_truths]
    rules = sheet.rules
    assert isinstance(rules, GradeRules)
    students = students_of(competition)
    people = people_facts(competition, students, rules)
    try:
        for ground_truth in present:
            GradeRules.from_values(rules.as_json(), higher_is_better=ground_truth.sort_sign < 0)
        known = class_values(competition, present, rules, sheet.split, people.largest_team)
    except BadRules as error:
        return [replace(sheet, faults=tuple(map(str, error.faults))) for _gt in ground_truths]
    slack, earlier = _course_slack(competition, rules, stored)
    known_marks = stored_marks(competition, release, [one.release for one in earlier if one.release])
    released, used = known_marks.released, known_marks.used
    overrides = known_marks.set_by_host if with_overrides else {}
    unreleased = tuple(one for one in earlier if one.release is None)
    sheets = []
    for values in known:
        rows = []
        for student in students:
            user = student.user_id or 0
            person = people.person(student, competition.slug, values.late)
            left = slack.left(used.get(user, 0)) if slack else 0
            total = slack.periods - used.get(user, 0) if slack else 0
            mark = overrides.get(user) or marks.compute_mark(rules, values.scale, person, slack=left, slack_total=total)
            rows.append(GradeRow(student, mark, released.get(user)))
        sheets.append(replace(sheet, rows=tuple(rows), scale=values.scale, unreleased=unreleased))
    return sheets


def _course_slack(
    competition: Competition, rules: GradeRules, stored: StoredRules
) -> tuple[Slack | None, Sequence[CourseCompetition]]:
    """The late periods of the course, if they count in this competition, and where they can be used before it."""
    parts = {part.competition for part in stored.scheme.parts} if stored.scheme else set()
    if not rules.late or stored.scheme is None or stored.scheme.slack is None or competition.slug not in parts:
        return None, ()
    earlier = takewhile(lambda one: one.slug != competition.slug, stored.competitions)
    return stored.scheme.slack, [one for one in earlier if one.slug in parts]


# --- grades that a new ground truth would change ------------------------------------------------------------------


@dataclass(frozen=True)
class GradeMove:
    """A student whose points would change; None is no grade."""

    student: Student
    points: float | None
    new_points: float | None
    explanation: str
    """The reasons for `new_points`."""

    @property
    def gained(self) -> float:
        """Points gained, negative when lost; no grade counts as 0."""
        return (self.new_points or 0.0) - (self.points or 0.0)


@dataclass(frozen=True)
class TouchedGrades:
    """The moves, largest first. `faults`: reasons why the rules cannot grade with one of the two ground truths."""

    students: int
    moves: tuple[GradeMove, ...]
    faults: tuple[str, ...]
    is_released: bool
    """Whether students can see released grades."""

    @property
    def better(self) -> int:
        return sum(move.gained > 0 for move in self.moves)

    @property
    def worse(self) -> int:
        return sum(move.gained < 0 for move in self.moves)


def touched_grades(competition: Competition, *, at: datetime) -> TouchedGrades | None:
    """Grades that would change if the candidate ground truth were published.

    None without a candidate, and without saved rules, because proposed rules grade no student.
    """
    current, candidate = competition.ground_truth, competition.candidate
    if current is None or candidate is None:
        return None
    stored = stored_rules(competition)
    if stored.rules is None:
        return None
    sheet = GradeSheet(stored.rules, True, deciding_split(competition, at))
    sheet_now, new_sheet = _sheets_by_ground_truth((current, candidate), sheet, competition, stored, None)
    moves = [
        GradeMove(row.student, row.mark.points, new_row.mark.points, new_row.mark.explanation)
        for row, new_row in zip(sheet_now.rows, new_sheet.rows, strict=False)  # a sheet with faults has no rows
        if new_row.mark.points != row.mark.points
    ]
    moves.sort(key=lambda move: (-abs(move.gained), move.student.name.casefold()))
    faults = tuple(dict.fromkeys((*sheet_now.faults, *new_sheet.faults)))
    is_released = stored.release is not None
    return TouchedGrades(len(sheet_now.rows), tuple(moves), faults, is_released)
