"""Grade sheets: the students of a class, and their marks with reasons, computed from the scores of now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from leaderboard.boards import standings
from leaderboard.boards.queries import baseline_scores_by_ground_truth
from leaderboard.boards.scores import ranked_files, sign_of
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, GroundTruth, Membership, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import extended_deadline

from . import marks
from .models import GradeRelease
from .rules import BadRules, GradingRules, anchors_of, grade_rules
from .students import Student

DAY = timedelta(days=1)
# Team → the files of which one decides its mark.
Files = Mapping[int, list[marks.GradableFile]]

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
)
ROSTER_FACTS = ("user_id", "name", "email", "left_at", "student_id", "sis_user_id", "login", "section")


def students_of(competition: Competition, *, with_valid: bool) -> list[Student]:
    """All students who get a grade, sorted by name: members of teams, and students on the class list."""
    # `values` instead of model instances: each page of grades reads the whole class, up to 500 students.
    memberships = Membership.objects.filter(competition=competition).order_by()
    if with_valid:
        valid = Submission.objects.filter(ranked_files(), team=OuterRef("team"))
        memberships = memberships.annotate(valid=count_rows(valid, "team"))
    facts = memberships.values(*MEMBER_FACTS, *(["valid"] if with_valid else []))
    entries = RosterEntry.objects.filter(course=competition.course_id).only(*ROSTER_FACTS)
    listed = {entry.user_id or -entry.pk: entry for entry in entries}
    students = [_student_from_membership(member, listed.pop(member["user_id"], None)) for member in facts]
    students += [
        Student(has_joined=False, user_id=entry.user_id, **_roster_names(entry, str(entry), ""))
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
        valid=member.get("valid", 0),
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

    rules: GradingRules
    is_saved: bool
    split: Split
    rows: tuple[GradeRow, ...] = ()
    faults: tuple[str, ...] = ()
    release: GradeRelease | None = None

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

    @property
    def effective_rules(self) -> GradingRules:
        """The rules of the release that students see, else those of the sheet."""
        return GradingRules.from_values(self.release.rules) if self.release else self.rules

    @property
    def is_by_other_rules(self) -> bool:
        """Whether the released grades were made by other rules than those of the sheet."""
        return self.effective_rules != self.rules

    @property
    def is_ready(self) -> bool:
        """Whether the marks may be written to files."""
        return self.is_saved and not self.faults


def deciding_split(competition: Competition, at: datetime) -> Split:
    """Private rows after the deadline; before it public ones, for a preview of the grades."""
    return Split.PRIVATE if at >= competition.closes_at else Split.PUBLIC


def grade_sheet(competition: Competition, *, at: datetime) -> GradeSheet:
    """The marks of all students by the scores of now. Only for hosts: it may use private scores before the reveal."""
    rules, is_saved = grade_rules(competition)
    # None for a withdrawn release.
    release = GradeRelease.current(competition)
    released_marks = {}
    if release is not None:
        for user_id, points, reasons in release.grades.order_by().values_list("user_id", "points", "reasons"):
            released_marks[user_id] = marks.Mark(points, tuple(map(marks.Reason.from_json, reasons)))
    sheet = GradeSheet(rules, is_saved, deciding_split(competition, at), release=release)
    return _sheets_by_ground_truth([competition.ground_truth], sheet, competition, released_marks)[0]


def _sheets_by_ground_truth(
    ground_truths: Sequence[GroundTruth | None],
    sheet: GradeSheet,
    competition: Competition,
    released_marks: Mapping[int, marks.Mark],
) -> list[GradeSheet]:
    """The sheet for each ground truth, in their order; students, rules and order of the rows are the same."""
    students = students_of(competition, with_valid=sheet.rules.participation_points > 0)
    has_baselines = any(step.baseline for step in sheet.rules.steps)
    baselines = baseline_scores_by_ground_truth(ground_truths, sheet.split) if has_baselines else {}
    late = _late_files(competition, ground_truths, sheet.split) if sheet.rules.late_percent is not None else {}
    sheets = []
    for ground_truth in ground_truths:
        if ground_truth is None:
            sheets.append(replace(sheet, faults=(_("Publish answers first. Grades depend on scores."),)))
            continue
        ground_truth.competition = competition
        try:
            scale, files = _scale_and_files(
                ground_truth, sheet, baselines.get(ground_truth.pk, {}), late.get(ground_truth.pk, {})
            )
        except BadRules as error:
            sheets.append(replace(sheet, faults=tuple(error.faults)))
            continue
        rows = [
            GradeRow(
                student, _mark_student(sheet.rules, scale, student, files), released_marks.get(student.user_id or 0)
            )
            for student in students
        ]
        sheets.append(replace(sheet, rows=tuple(rows)))
    return sheets


def _mark_student(rules: GradingRules, scale: marks.MarkingScale, student: Student, files: Files) -> marks.Mark:
    may_decide = tuple(files.get(student.team_id or 0, ()))
    work = marks.TeamWork(may_decide, student.valid, student.disqualified)
    mark = marks.mark_team(rules, scale, work)
    if student.has_joined:
        return mark
    # A single reason, "never joined", because "no submission" would follow from it.
    code = "never_joined" if mark.points is None else "never_joined_is_zero"
    return replace(mark, reasons=(marks.Reason.of(code),))


def _scale_and_files(
    ground_truth: GroundTruth, sheet: GradeSheet, baselines: Mapping[str, float], late: Files
) -> tuple[marks.MarkingScale, Files]:
    """The scale for marks, and for each team the files of which one decides its mark.

    These are the team's best file by public score, or after the deadline the final that counts by private score, with
    unrounded values; and its late files.
    """
    if sheet.split == Split.PRIVATE:
        candidates = standings.deciding_standings(ground_truth)
        values = {best.team_id: best.value for split, best in candidates if split == sheet.split}
    else:
        values = standings.best_values(ground_truth)
    higher = sign_of(ground_truth) < 0
    decimals = ground_truth.competition.score_decimals
    anchors = anchors_of(sheet.rules, baselines, higher_is_better=higher, decimals=decimals)
    files = {team: [marks.GradableFile(value)] for team, value in values.items()}
    for team, more in late.items():
        files[team] = files.get(team, []) + more
    return marks.MarkingScale(anchors, tuple(values.values()), higher, sheet.split.value, decimals), files


def _late_files(
    competition: Competition, ground_truths: Sequence[GroundTruth | None], split: Split
) -> dict[int, dict[int, list[marks.GradableFile]]]:
    """Ground truth → team → one late file for each day after the deadline: the one with the best public score.

    The choice is by public score, so that trying many files on the private rows cannot improve a grade. Days are
    counted from the team's deadline, with its extension.
    """
    signs = {ground_truth.pk: sign_of(ground_truth) for ground_truth in ground_truths if ground_truth is not None}
    columns = [(ground_truth, side) for ground_truth in signs for side in Split]
    # The query starts at the teams, because the index on teams covers `is_late`, and reads each score by its file: a
    # join would read all scores of the ground truth. A file with a score is scored, so the status is not needed.
    late = Submission.objects.filter(team__in=competition.teams.order_by().values("pk"), is_late=True, hidden_at=None)
    scores_of_file = Score.objects.filter(submission=OuterRef("pk"))
    rows = (
        late.order_by()
        .annotate(extended_to=extended_deadline())
        .values_list(
            "team",
            "pk",
            "received_at",
            "extended_to",
            *(
                Subquery(scores_of_file.filter(ground_truth=ground_truth, split=side).values("value")[:1])
                for ground_truth, side in columns
            ),
        )
    )
    scores: dict[tuple[int, int, Any, int], dict[Split, float]] = defaultdict(dict)
    for team, submission, received_at, extended_to, *values in rows:
        assert team is not None
        late_by = received_at - max(competition.closes_at, extended_to or competition.closes_at)
        for (ground_truth, side), value in zip(columns, values, strict=True):
            if value is not None:
                scores[ground_truth, team, submission, max(1, -(-late_by // DAY))][side] = value
    chosen: dict[tuple[int, int, int], tuple[tuple[float, str], float]] = {}
    for (ground_truth, team, submission, day), both in scores.items():
        order = (signs[ground_truth] * both[Split.PUBLIC], str(submission))
        if (ground_truth, team, day) not in chosen or order < chosen[ground_truth, team, day][0]:
            chosen[ground_truth, team, day] = (order, both[split])
    files: dict[int, dict[int, list[marks.GradableFile]]] = {ground_truth: defaultdict(list) for ground_truth in signs}
    for (ground_truth, team, day), (_order, value) in chosen.items():
        files[ground_truth][team].append(marks.GradableFile(value, day))
    return files


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
    rules, is_saved = grade_rules(competition)
    if not is_saved:
        return None
    sheet = GradeSheet(rules, is_saved, deciding_split(competition, at))
    sheet_now, new_sheet = _sheets_by_ground_truth((current, candidate), sheet, competition, {})
    moves = [
        GradeMove(row.student, row.mark.points, new_row.mark.points, new_row.mark.explanation)
        for row, new_row in zip(sheet_now.rows, new_sheet.rows, strict=False)  # a sheet with faults has no rows
        if new_row.mark.points != row.mark.points
    ]
    moves.sort(key=lambda move: (-abs(move.gained), move.student.name.casefold()))
    faults = tuple(dict.fromkeys((*sheet_now.faults, *new_sheet.faults)))
    is_released = GradeRelease.current(competition) is not None
    return TouchedGrades(len(sheet_now.rows), tuple(moves), faults, is_released)
