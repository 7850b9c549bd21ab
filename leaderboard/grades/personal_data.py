"""What grades know about a person: those released to them, and their lines in a gradebook of a host."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from leaderboard.accounts.hooks import Leaving, PersonalData
from leaderboard.accounts.models import User
from leaderboard.classroom.models import RosterEntry

from . import canvas
from .models import Gradebook
from .reasons import Reason
from .recipients import GradedPerson

EXPORTED = ("release__competition__slug", "release__number", "release__released_at", "points", "reasons")


def export(*, account: User, at: datetime) -> PersonalData:
    grades = account.grades.filter(release__withdrawn_at=None).values(*EXPORTED)
    return PersonalData({"grades": [_in_words(grade) for grade in grades]})


def _in_words(grade: dict[str, Any]) -> dict[str, Any]:
    """A grade with its reasons in words, as its owner reads them on the page."""
    return {**grade, "reasons": [str(Reason.from_json(stored)) for stored in grade["reasons"]]}


def forget(*, leaving: Leaving) -> None:
    """Remove the lines that are theirs by the host's own list or by a confirmed address: a name that somebody chose for
    themselves may be another's."""
    people = [_listed(entry) for entry in RosterEntry.objects.filter(user=leaving.account)]
    people += [GradedPerson(name="", email=address) for address in leaving.addresses]
    for held in Gradebook.objects.filter(competition__in=leaving.competitions):
        book = canvas.read_canvas_gradebook(bytes(held.data))
        theirs = {
            id(canvas.match_students(book, [person]).matches[0].record) for person in people if _is_in(book, person)
        }
        if theirs:
            book.records = [record for record in book.records if id(record) not in theirs]
            Gradebook.objects.filter(pk=held.pk).update(data=book.as_bytes())


def _listed(entry: RosterEntry) -> GradedPerson:
    names = ("name", "email", "student_id", "sis_user_id", "login")
    return GradedPerson(**{name: getattr(entry, name) for name in names}, is_listed=True)


def _is_in(book: canvas.CanvasGradebook, person: GradedPerson) -> bool:
    return bool(canvas.match_students(book, [person]).matches)
