"""What hosts give by hand: points for terms, typed or from a file, and marks set with a reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.classroom import roster_files
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Course
from leaderboard.competitions.services import CannotHost, require_reason

from .models import HandPoints, Override, owner_of
from .reading import MAX_POINTS, exact
from .services import in_audit_log, lock_grades
from .students import Student

MAX_NAMED = 10
MATCHED_BY = ("email", "student_id", "sis_user_id", "login", "name")
Points = Mapping[tuple[int, str], Fraction | None]
"""(user, term) → points; None takes them back."""


def points_in(text: str) -> Fraction:
    """Points that a host typed. Raises `CannotHost`."""
    try:
        points = exact(text)
    except ValueError as error:
        raise CannotHost(_("“%(text)s” isn't a number.") % {"text": text[:40]}) from error
    if abs(points) > MAX_POINTS:
        raise CannotHost(_("Use points up to %(most)s.") % {"most": MAX_POINTS})
    return points


def set_hand_points(*, graded: Competition | Course, points: Points, user: User | None) -> int:
    """Store points by hand; returns how many changed. Released grades do not change."""
    with transaction.atomic():
        lock_grades(graded)
        stored = {
            (row.user_id, row.name): row.points
            for row in HandPoints.objects.filter(**owner_of(graded)).only("user_id", "name", "points")
        }
        changed = {
            key: value for key, value in points.items() if stored.get(key) != (None if value is None else float(value))
        }
        given = [
            HandPoints(user_id=person, name=name, points=float(value), **owner_of(graded))
            for (person, name), value in changed.items()
            if value is not None
        ]
        for name in {name for _person, name in changed}:
            people = [person for person, other in changed if other == name]
            HandPoints.objects.filter(name=name, user__in=people, **owner_of(graded)).delete()
        HandPoints.objects.bulk_create(given, batch_size=500)
        if changed:
            after = {"changed": len(changed)}
            AuditEntry.append(AuditEvent.POINTS_GIVEN, user=user, after=after, **in_audit_log(graded))
    return len(changed)


def read_points(
    data: bytes | str, students: Sequence[Student], names: Sequence[str]
) -> dict[tuple[int, str], Fraction]:
    """Points in a list with a column that identifies people and one column for each term, by its name.

    Raises `CannotHost` with the lines that match no student, and then nothing is read.
    """
    try:
        source = roster_files.decode_roster(data) if isinstance(data, bytes) else data
        reading = roster_files.read_roster(source)
    except roster_files.UnreadableRoster as error:
        raise CannotHost(str(error)) from error
    assert reading.table is not None, "a list that was read has a table"
    titles = [title.strip().casefold() for title in reading.table.titles]
    places = {name: titles.index(name.casefold()) for name in names if name.casefold() in titles}
    if not places:
        wanted = ", ".join(f"“{name}”" for name in names)
        raise CannotHost(_("The list has no column of points. Name it as the term: %(names)s.") % {"names": wanted})
    cells = dict(reading.table.rows)
    found, faults = dict[tuple[int, str], Fraction](), list[str]()
    index = _index(students)
    for line in reading.lines:
        student = _student_of(line.values, index)
        if student is None:
            shown = " · ".join(value for value in line.values.values() if value)[:80]
            faults.append(_("Row %(number)s: “%(who)s” isn't in this class.") % {"number": line.number, "who": shown})
        elif student.user_id is None:
            who = {"number": line.number, "who": student.name}
            faults.append(_("Row %(number)s: “%(who)s” has no account here yet.") % who)
        else:
            for name, place in places.items():
                if text := (cells[line.number][place : place + 1] or [""])[0].strip():
                    try:
                        found[student.user_id, name] = points_in(text)
                    except CannotHost as error:
                        faults.append(_("Row %(number)s: %(fault)s") % {"number": line.number, "fault": error.message})
    if faults:
        more = len(faults) - MAX_NAMED
        named = faults[:MAX_NAMED] + ([_("… and %(number)s more.") % {"number": more}] if more > 0 else [])
        raise CannotHost(_("No points were stored."), named)
    return found


def _index(students: Sequence[Student]) -> dict[tuple[str, str], list[Student]]:
    index: dict[tuple[str, str], list[Student]] = defaultdict(list)
    for student in students:
        for field in MATCHED_BY:
            if text := getattr(student, field).strip().casefold():
                index[field, text].append(student)
        if student.username:
            index["login", student.username.casefold()].append(student)
    return index


def _student_of(values: Mapping[str, str], index: Mapping[tuple[str, str], list[Student]]) -> Student | None:
    """The only student with the first of a line's identifiers that the class knows."""
    for field in MATCHED_BY:
        matches = index.get((field, values.get(field, "").strip().casefold()), [])
        if len({id(student) for student in matches}) == 1:
            return matches[0]
    return None


def set_override(
    *, graded: Competition | Course, student: User, points: Fraction, reason: str, user: User | None
) -> Override:
    """Set a student's mark. Raises `CannotHost` for negative points, and without a reason."""
    reason = require_reason(reason)
    if points < 0:
        raise CannotHost(_("A grade can't be negative."))
    with transaction.atomic():
        lock_grades(graded)
        fields = {"points": float(points), "reason": reason, "by": user, "at": database_now()}
        row = Override.objects.update_or_create(user=student, **owner_of(graded), defaults=fields)[0]
        after = {"points": float(points), "reason": reason}
        AuditEntry.append(AuditEvent.GRADE_SET, user=user, account=student, after=after, **in_audit_log(graded))
    return row


def remove_override(*, graded: Competition | Course, student: User, user: User | None) -> None:
    """Let the rules decide about a student's mark again."""
    with transaction.atomic():
        lock_grades(graded)
        if Override.objects.filter(user=student, **owner_of(graded)).delete()[0]:
            AuditEntry.append(AuditEvent.GRADE_SET_REMOVED, user=user, account=student, **in_audit_log(graded))
