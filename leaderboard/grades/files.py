"""Grades as files for learning platforms: the released grades, or before a release those that would be released."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from leaderboard.common.file_formats import safe_cell
from leaderboard.common.numbers import points_text
from leaderboard.competitions.models import Competition, Course
from leaderboard.competitions.services import CannotHost

from . import canvas
from .marks import round_points
from .models import Gradebook, owner_of
from .queries import GradeSheet
from .reading import MAX_POINTS, decimal_text
from .rules import CourseScheme, GradeRules
from .students import Student

# Decimals of scaled points: with fewer, points out of twenty would be coarser than whole points out of a hundred.
MIN_SCALED_DECIMALS = 2


@dataclass(frozen=True)
class GradebookFilling:
    """A gradebook uploaded by a host, its column to fill, and the students matched to its lines."""

    gradebook: Gradebook
    book: canvas.CanvasGradebook
    matching: canvas.GradebookMatching
    column: str
    rules: GradeRules | CourseScheme
    """The rules behind the points: those of the release, else the current ones."""
    is_mixed: bool
    """Whether released grades and new ones, in the same file, have different maximum points."""

    @property
    def possible(self) -> str:
        """The maximum of the chosen column in Canvas; "" if Canvas has none or the column is new."""
        return self.book.possible(self.column) if self.column else ""

    @property
    def full(self) -> float:
        """The full mark of the rules."""
        return float(self.rules.full)

    @property
    def differs(self) -> bool:
        """Whether the column's maximum in Canvas is another than that of the rules."""
        try:
            return bool(self.possible) and float(self.possible.replace(",", ".")) != self.full
        except ValueError:
            return False

    @property
    def scale(self) -> float | None:
        """The column's maximum in Canvas, if the host may scale the points to it; else None."""
        if not self.differs or self.is_mixed:
            return None
        number = float(self.possible.replace(",", "."))
        return number if 0 < number <= MAX_POINTS else None

    @property
    def is_scaled(self) -> bool:
        return self.gradebook.is_scaled and self.scale is not None

    @property
    def scaled_points(self) -> list[tuple[Student, str, str]]:
        """(student, points by the rules, points scaled to Canvas's maximum) for every matched student with points."""
        decimals = max(self.rules.shown_decimals, MIN_SCALED_DECIMALS)
        rows = []
        for match in self.matching.matches:
            if (points := match.student.points) is not None:
                scaled = float(points) * (self.scale or 0.0) / self.full
                rows.append((match.student, points, points_text(round_points(scaled, decimals), decimals)))
        return rows

    @property
    def written(self) -> canvas.GradebookMatching:
        """The matching with the points that are written into the file, scaled if the host chose that."""
        if not self.is_scaled:
            return self.matching
        texts = {id(student): scaled for student, _points, scaled in self.scaled_points}
        matches = [
            replace(match, student=replace(match.student, points=texts.get(id(match.student))))
            for match in self.matching.matches
        ]
        return replace(self.matching, matches=matches)

    @property
    def unmatched_lines(self) -> list[str]:
        """The Canvas rows that match no student, each as one line of text."""
        names = (canvas.STUDENT, canvas.ID, canvas.SIS_LOGIN)
        rows = ([self.book.text(record, name) for name in names] for record in self.matching.records)
        return [" · ".join(value for value in values if value) for values in rows]


def graded_students(sheet: GradeSheet) -> list[Student]:
    """The students of a sheet with names, points and reasons filled in for a file."""
    effective_rules = sheet.effective_rules
    students = []
    for row in sheet.rows:
        decimals = (effective_rules if row.released else sheet.rules).shown_decimals
        first, last = _first_and_last_name(row.student)
        students.append(
            replace(
                row.student,
                first_name=first,
                last_name=last,
                login=row.student.login or row.student.username,
                points=None if row.mark_for_files.points is None else points_text(row.mark_for_files.points, decimals),
                reasons=row.mark_for_files.explanation,
            )
        )
    return students


def _first_and_last_name(student: Student) -> tuple[str, str]:
    """(first name, last name): the account's, else split from the full name at its comma or last space."""
    if student.first_name or student.last_name:
        return student.first_name, student.last_name
    last, comma, first = student.name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _space, last = student.name.rpartition(" ")
    return (first, last) if first else (last, "")


def grade_file(graded: Competition | Course, sheet: GradeSheet, kind: str) -> bytes:
    """A file of grades; `kind` is `canvas` (the uploaded gradebook, filled), `moodle`, `brightspace` or `plain`.

    Raises `CannotHost`.
    """
    if not sheet.is_ready:
        raise CannotHost(_("Save the grade rules first."), sheet.faults)
    title = sheet.rules.title or graded.title or _("Course grade")
    if kind != "canvas":
        return GRADE_FILES[kind](graded_students(sheet), title).encode()
    filling = gradebook_filling(graded, sheet)
    if filling is None:
        raise CannotHost(_("Upload a gradebook exported from Canvas first."))
    maximum = decimal_text(filling.rules.full)
    return canvas.fill_gradebook(filling.book, filling.written, column=filling.column, title=title, most=maximum)


def gradebook_filling(graded: Competition | Course, sheet: GradeSheet) -> GradebookFilling | None:
    """The uploaded gradebook matched with the students of the sheet; None without a gradebook."""
    gradebook = Gradebook.objects.filter(**owner_of(graded)).first()
    if gradebook is None:
        return None
    book = canvas.read_canvas_gradebook(bytes(gradebook.data))
    column = gradebook.column if gradebook.column in book.columns else ""
    rules = sheet.effective_rules
    news = [row for row in sheet.rows if row.released is None and row.mark_for_files.points is not None]
    is_mixed = bool(sheet.release and news and rules.full != sheet.rules.full)
    return GradebookFilling(
        gradebook, book, canvas.match_students(book, graded_students(sheet)), column, rules, is_mixed
    )


def moodle_file(students: Iterable[Student], title: str) -> str:
    """CSV for Moodle's import of grades, in which “-” means no grade."""
    header = ["Email address", "ID number", "First name", "Last name", title, f"{title} (feedback)"]
    rows = (
        [
            student.email,
            student.university_id,
            student.first_name,
            student.last_name,
            "-" if student.points is None else student.points,
            student.reasons,
        ]
        for student in without_claimed_identities(students)
    )
    return _csv_table(header, rows, numbers={4})


def brightspace_file(students: Iterable[Student], title: str) -> str:
    """CSV for Brightspace's import of grades, without students that have neither an ID nor a user name there."""
    header = ["OrgDefinedId", "Username", f"{title} Points Grade", "End-of-Line Indicator"]
    rows = (
        [student.university_id, student.login, student.points or "", "#"]
        for student in without_claimed_identities(students)
        if student.university_id or student.login
    )
    return _csv_table(header, rows, numbers={2})


def without_claimed_identities(students: Iterable[Student]) -> list[Student]:
    """The students, without e-mail addresses and user names that the class list has for another student.

    Unlisted students enter these themselves. With one of them on two lines a platform would import both marks for one
    person and keep the last.
    """
    all_students = list(students)
    emails = {student.email.casefold() for student in all_students if student.is_listed}
    logins = {student.login.casefold() for student in all_students if student.is_listed}
    return [
        student
        if student.is_listed
        else replace(
            student,
            email="" if student.email.casefold() in emails else student.email,
            login="" if student.login.casefold() in logins else student.login,
        )
        for student in all_students
    ]


def full_file(students: Iterable[Student], title: str) -> str:
    """CSV with all known names, team, points and reasons, one student per line."""
    names = ("name", "email", "student_id", "sis_user_id", "login", "section", "team")
    rows = (
        [*(getattr(student, name) for name in names), student.points or "", student.reasons] for student in students
    )
    return _csv_table([*names, title, "reasons"], rows, numbers={len(names)})


GRADE_FILES: Mapping[str, Callable[[Iterable[Student], str], str]] = {
    "moodle": moodle_file,
    "brightspace": brightspace_file,
    "plain": full_file,
}


def _csv_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: set[int]) -> str:
    """Text of a CSV. Columns in `numbers` hold points, never negative, and need no guard against formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([safe_cell(name) for name in header])
    for row in rows:
        writer.writerow([cell if place in numbers else safe_cell(cell) for place, cell in enumerate(row)])
    return text.getvalue()
