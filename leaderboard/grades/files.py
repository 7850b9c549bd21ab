"""Grades as files for learning platforms: the released grades, or before a release those that would be released."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.file_formats import safe_cell
from leaderboard.common.storage import clean_name
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost

from . import canvas, marks
from .models import Gradebook
from .rules import MOST_POINTS, GradingRules, plain_number_text
from .sheets import GradeSheet
from .students import Student

# Decimals of scaled points: with fewer, points out of twenty would be coarser than whole points out of a hundred.
FEWEST_DECIMALS = 2


@dataclass(frozen=True)
class GradebookFilling:
    """A gradebook uploaded by a host, its column to fill, and the students matched to its lines."""

    gradebook_row: Gradebook
    book: canvas.CanvasGradebook
    matching: canvas.GradebookMatching
    column: str
    rules: GradingRules
    """The rules behind the points: those of the release, else the current ones."""
    is_mixed: bool
    """Whether released grades and new ones, in the same file, have different maximum points."""

    @property
    def possible(self) -> str:
        """The maximum of the chosen column in Canvas; "" if Canvas has none or the column is new."""
        return self.book.possible(self.column) if self.column else ""

    @property
    def differs(self) -> bool:
        """Whether the column's maximum in Canvas is another than that of the rules."""
        try:
            return bool(self.possible) and float(self.possible.replace(",", ".")) != self.rules.max_points
        except ValueError:
            return False

    @property
    def scale(self) -> float | None:
        """The column's maximum in Canvas, if the host may scale the points to it; else None."""
        if not self.differs or self.is_mixed:
            return None
        number = float(self.possible.replace(",", "."))
        return number if 0 < number <= MOST_POINTS else None

    @property
    def is_scaled(self) -> bool:
        return self.gradebook_row.is_scaled and self.scale is not None

    @property
    def both(self) -> list[tuple[Student, str, str]]:
        """(student, points by the rules, points scaled to Canvas's maximum) for every matched student with points."""
        decimals = max(self.rules.decimals, FEWEST_DECIMALS)
        found = []
        for match in self.matching.matches:
            if (points := match.person.points) is not None:
                scaled = float(points) * (self.scale or 0.0) / self.rules.max_points
                found.append((match.person, points, marks.points_text(marks.round_points(scaled, decimals), decimals)))
        return found

    @property
    def written(self) -> canvas.GradebookMatching:
        """The matching with the points that are written into the file, scaled if the host chose that."""
        if not self.is_scaled:
            return self.matching
        texts = {id(person): scaled for person, _points, scaled in self.both}
        matches = [
            replace(match, person=replace(match.person, points=texts.get(id(match.person))))
            for match in self.matching.matches
        ]
        return replace(self.matching, matches=matches)

    @property
    def lines(self) -> list[str]:
        """The Canvas rows that match no student, each as one line of text."""
        names = (canvas.STUDENT, canvas.ID, canvas.SIS_LOGIN)
        found = ([record.value(self.book.place(name)) for name in names] for record in self.matching.records)
        return [" · ".join(value for value in values if value) for values in found]


def graded_people(sheet: GradeSheet) -> list[Student]:
    """The students of a sheet with names, points and reasons filled in for a file."""
    effective_rules = sheet.effective_rules
    found = []
    for row in sheet.rows:
        decimals = (effective_rules if row.released else sheet.rules).decimals
        first, last = _first_and_last_name(row.student)
        found.append(
            replace(
                row.student,
                first_name=first,
                last_name=last,
                login=row.student.login or row.student.username,
                points=None if row.final.points is None else marks.points_text(row.final.points, decimals),
                reasons=row.final.words,
            )
        )
    return found


def _first_and_last_name(student: Student) -> tuple[str, str]:
    """(first name, last name): the account's, else split from the full name at its comma or last space."""
    if student.first_name or student.last_name:
        return student.first_name, student.last_name
    last, comma, first = student.name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _space, last = student.name.rpartition(" ")
    return (first, last) if first else (last, "")


def grade_file(competition: Competition, sheet: GradeSheet, kind: str) -> bytes:
    """A file of grades; `kind` is `canvas` (the uploaded gradebook, filled), `moodle`, `brightspace` or `plain`.

    Raises `CannotHost`.
    """
    if not sheet.is_ready:
        raise CannotHost(_("Save the grade rules first."), sheet.faults)
    title = sheet.rules.title or competition.title
    if kind != "canvas":
        # Excel reads a file as UTF-8 only if it begins with a byte order mark.
        return b"\xef\xbb\xbf" + GRADE_FILES[kind](graded_people(sheet), title).encode()
    filling = gradebook_filling(competition, sheet)
    if filling is None:
        raise CannotHost(_("Upload a gradebook exported from Canvas first."))
    most = plain_number_text(filling.rules.max_points)
    return canvas.fill_gradebook(filling.book, filling.written, column=filling.column, title=title, most=most)


def gradebook_filling(competition: Competition, sheet: GradeSheet) -> GradebookFilling | None:
    """The uploaded gradebook matched with the students of the sheet; None without a gradebook."""
    held = Gradebook.objects.filter(competition=competition).first()
    if held is None:
        return None
    book = canvas.read_canvas_gradebook(bytes(held.data))
    column = held.column if held.column in book.columns else ""
    rules = sheet.effective_rules
    news = [row for row in sheet.rows if row.released is None and row.final.points is not None]
    is_mixed = bool(sheet.release and news and rules.max_points != sheet.rules.max_points)
    return GradebookFilling(held, book, canvas.match_students(book, graded_people(sheet)), column, rules, is_mixed)


def save_gradebook(*, competition: Competition, user: User | None, file_name: str, data: bytes) -> Gradebook:
    """Store a gradebook exported from Canvas; a newer one replaces it. Raises `CannotHost`."""
    try:
        book = canvas.read_canvas_gradebook(data)
    except canvas.BadGradebook as error:
        raise CannotHost(str(error)) from error
    # Preselect the column named like the competition; without one, a new column until the host chooses another.
    wanted = competition.title.casefold()
    facts = {
        "file_name": clean_name(file_name),
        "data": data,
        "column": next((name for name in book.columns if name.casefold().startswith(wanted)), ""),
        "is_scaled": False,
        "uploaded_at": database_now(),
        "uploaded_by": user,
    }
    with transaction.atomic():
        return Gradebook.objects.update_or_create(competition=competition, defaults=facts)[0]


def choose_column(*, competition: Competition, column: str, is_scaled: bool = False) -> None:
    """Choose the column to fill ("" for a new one), and whether points are scaled to its maximum in Canvas.

    Raises `CannotHost` for a column that the file does not have.
    """
    held = Gradebook.objects.filter(competition=competition).first()
    if held is None:
        raise CannotHost(_("Upload a gradebook exported from Canvas first."))
    if column and column not in canvas.read_canvas_gradebook(bytes(held.data)).columns:
        raise CannotHost(_("The file has no assignment “%(column)s”.") % {"column": column[:80]})
    Gradebook.objects.filter(pk=held.pk).update(column=column, is_scaled=is_scaled)


def forget_gradebook(*, competition: Competition) -> None:
    """Delete the uploaded file, which holds names and marks of the whole class."""
    Gradebook.objects.filter(competition=competition).delete()


def moodle_file(people: Iterable[Student], title: str) -> str:
    """CSV for Moodle's import of grades, in which “-” means no grade."""
    header = ["Email address", "ID number", "First name", "Last name", title, f"{title} (feedback)"]
    rows = (
        [p.email, p.university_id, p.first_name, p.last_name, "-" if p.points is None else p.points, p.reasons]
        for p in without_claimed_identities(people)
    )
    return _csv_table(header, rows, numbers={4})


def brightspace_file(people: Iterable[Student], title: str) -> str:
    """CSV for Brightspace's import of grades, without students that have neither an ID nor a user name there."""
    header = ["OrgDefinedId", "Username", f"{title} Points Grade", "End-of-Line Indicator"]
    rows = (
        [p.university_id, p.login, p.points or "", "#"]
        for p in without_claimed_identities(people)
        if p.university_id or p.login
    )
    return _csv_table(header, rows, numbers={2})


def without_claimed_identities(people: Iterable[Student]) -> list[Student]:
    """The students, without e-mail addresses and user names that the class list has for another student.

    Unlisted students enter these themselves. With one of them on two lines a platform would import both marks for one
    person and keep the last.
    """
    everybody = list(people)
    emails = {p.email.casefold() for p in everybody if p.is_listed}
    logins = {p.login.casefold() for p in everybody if p.is_listed}
    return [
        p
        if p.is_listed
        else replace(
            p,
            email="" if p.email.casefold() in emails else p.email,
            login="" if p.login.casefold() in logins else p.login,
        )
        for p in everybody
    ]


def full_file(people: Iterable[Student], title: str) -> str:
    """CSV with all known names, team, points and reasons, one student per line."""
    names = ("name", "email", "student_id", "sis_user_id", "login", "section", "team")
    rows = ([*(getattr(p, name) for name in names), p.points or "", p.reasons] for p in people)
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
