"""Hooks for export and deletion of a person's data: grades, points by hand, lines in hosts' gradebooks."""

from __future__ import annotations

from datetime import datetime

from django.db.models import OuterRef, Q

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.hooks import Leaving, PersonalData
from leaderboard.accounts.models import User
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.hooks import on

from . import canvas
from .models import Gradebook, GradeRelease, HandPoints
from .reasons import Reason
from .students import Student

EXPORTED = (
    "release__competition__slug",
    "release__course__title",
    "release__number",
    "release__released_at",
    "points",
    "slack",
    "reasons",
)


@on(accounts_hooks.export)
def export_grades(*, account: User, at: datetime) -> PersonalData:
    grades = list(account.grades.filter(release__withdrawn_at=None).values(*EXPORTED))
    for grade in grades:
        # As sentences, like on the page.
        grade["reasons"] = [str(Reason.from_json(stored)) for stored in grade["reasons"]]
    # What a host gives is the student's to read from a release on, which may also correct it before.
    own = (Q(user=account) | Q(entry__user=account)) & _is_released()
    overrides = account.grade_overrides.filter(_is_released(released_at__gte=OuterRef("at")))
    of = ("competition__slug", "course__title", "points")
    return PersonalData(
        {
            "grades": grades,
            "points_by_hand": list(HandPoints.objects.filter(own).values(*of, "name")),
            "grades_set_by_hosts": list(overrides.values(*of, "reason", "at")),
        }
    )


def _is_released(**facts: object) -> Q:
    """Condition for rows of a competition or course: whether its students can see their grades, by a release with these
    facts."""
    exists = GradeRelease.exists_for_students
    return Q(exists("competition", **facts)) | Q(exists("course", **facts))


@on(accounts_hooks.forget)
def remove_gradebook_lines(*, leaving: Leaving) -> None:
    """Remove the person's lines from uploaded gradebooks.

    Lines are matched by the class list and by confirmed addresses, not by names that the person chose, which may be
    another student's.
    """
    names = ("name", "email", "student_id", "sis_user_id", "login")
    listed = RosterEntry.objects.filter(user=leaving.account).values(*names)
    students = [Student(**entry, is_listed=True) for entry in listed]
    students += [Student(name="", email=address) for address in leaving.addresses]
    of_competitions = Q(competition__in=leaving.competitions) | Q(course__competitions__in=leaving.competitions)
    for gradebook in Gradebook.objects.filter(of_competitions).distinct():
        book = canvas.read_canvas_gradebook(bytes(gradebook.data))
        matches = [match for student in students for match in canvas.match_students(book, [student]).matches]
        deleted = {id(match.record) for match in matches}
        if deleted:
            book.records = [record for record in book.records if id(record) not in deleted]
            Gradebook.objects.filter(pk=gradebook.pk).update(data=book.as_bytes())
