"""Points and marks by hand: points for terms, typed or from a file, and marks that a host sets with a reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.classroom import hooks as classroom_hooks
from leaderboard.classroom import roster
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Course
from leaderboard.competitions.services import CannotHost, require_reason

from .models import HandPoints, Override, owner_of
from .reading import MAX_POINTS, parse_number
from .services import in_audit_log, lock_grades
from .students import Student
from .values import fraction_of, hand_points

MAX_NAMED = 10
MATCHED_BY = ("email", "student_id", "sis_user_id", "login", "name")
Points = Mapping[tuple[int, str], Fraction | None]
"""(`Student.key`, term) → points; None takes them back."""


def points_in(text: str) -> Fraction:
    """Points that a host typed. Raises `CannotHost`."""
    try:
        points = parse_number(text)
    except ValueError as error:
        raise CannotHost(_("“%(text)s” isn't a number.") % {"text": text[:40]}) from error
    if abs(points) > MAX_POINTS:
        raise CannotHost(_("Use points up to %(most)s.") % {"most": MAX_POINTS})
    return points


def set_hand_points(*, graded: Competition | Course, points: Points, user: User | None) -> int:
    """Store points by hand; returns how many changed. Released grades do not change. Raises `CannotHost`."""
    with transaction.atomic():
        lock_grades(graded)
        stored = hand_points(graded)
        changed = {
            (person, name): value
            for (person, name), value in points.items()
            if stored.get(person, {}).get(name) != (None if value is None else fraction_of(float(value)))
        }
        given = [
            HandPoints(**_field_of(person), name=name, points=float(value), **owner_of(graded))
            for (person, name), value in changed.items()
            if value is not None
        ]
        entries = {-person for person, _name in changed if person < 0}
        if RosterEntry.objects.filter(pk__in=entries).count() < len(entries):
            raise CannotHost(_("Someone has just changed the roster. Look again."))
        for name in {name for _person, name in changed}:
            people = [person for person, other in changed if other == name]
            of_people = Q(user__in=people) | Q(entry__user__in=people) | Q(entry__in=[-person for person in people])
            HandPoints.objects.filter(of_people, name=name, **owner_of(graded)).delete()
        HandPoints.objects.bulk_create(given, batch_size=500)
        if changed:
            after = {"changed": len(changed)}
            AuditEntry.append(AuditEvent.POINTS_GIVEN, user=user, after=after, **in_audit_log(graded))
    return len(changed)


def _field_of(key: int) -> dict[str, int]:
    """The field of a person's points, from `Student.key`."""
    return {"user_id": key} if key > 0 else {"entry_id": -key}


@on(classroom_hooks.entry_merged)
def keep_points(*, entry: RosterEntry, into: RosterEntry) -> None:
    """Leave the points of an entry to the entry that it becomes, unless that has some for the same term."""
    for row in HandPoints.objects.filter(entry=entry):
        others = HandPoints.objects.filter(entry=into, name=row.name, competition=row.competition, course=row.course)
        if not others.exists():
            HandPoints.objects.filter(pk=row.pk).update(entry=into)


def read_points(
    data: bytes | str, students: Sequence[Student], names: Sequence[str]
) -> dict[tuple[int, str], Fraction]:
    """Points in a list, CSV or a workbook, with a column that identifies people and one for each term, by its name.

    Raises `CannotHost` with the lines that match no student, and then nothing is read.
    """
    _source, reading, _notes = roster.read_list(data)
    assert reading.table is not None, "a list that was read has a table"
    titles = [title.strip().casefold() for title in reading.table.titles]
    places = {name: titles.index(name.casefold()) for name in names if name.casefold() in titles}
    if not places:
        wanted = ", ".join(f"“{name}”" for name in names)
        raise CannotHost(_("The list has no column of points. Name it as the term: %(names)s.") % {"names": wanted})
    cells = dict(reading.table.rows)
    found, faults = dict[tuple[int, str], Fraction](), list[str]()
    index = _index_students(students)
    for line in reading.lines:
        student = _find_student(line.values, index)
        if student is None:
            shown = " · ".join(value for value in line.values.values() if value)[:80]
            faults.append(_("Row %(number)s: “%(who)s” isn't in this class.") % {"number": line.number, "who": shown})
        else:
            for name, place in places.items():
                if text := (cells[line.number][place : place + 1] or [""])[0].strip():
                    try:
                        found[student.key, name] = points_in(text)
                    except CannotHost as error:
                        faults.append(_("Row %(number)s: %(fault)s") % {"number": line.number, "fault": error.message})
    if faults:
        more = len(faults) - MAX_NAMED
        named = faults[:MAX_NAMED] + ([_("… and %(number)s more.") % {"number": more}] if more > 0 else [])
        raise CannotHost(_("No points were stored."), named)
    return found


def _index_students(students: Sequence[Student]) -> dict[tuple[str, str], list[Student]]:
    index: dict[tuple[str, str], list[Student]] = defaultdict(list)
    for student in students:
        for field in MATCHED_BY:
            if text := getattr(student, field).strip().casefold():
                index[field, text].append(student)
        if student.username:
            index["login", student.username.casefold()].append(student)
    return index


def _find_student(values: Mapping[str, str], index: Mapping[tuple[str, str], list[Student]]) -> Student | None:
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
