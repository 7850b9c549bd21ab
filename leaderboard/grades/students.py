"""The students who get a grade, with all names and numbers that a learning platform may know them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef

from leaderboard.boards.scores import ranked_files
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, Membership, Submission

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


@dataclass(frozen=True)
class Student:
    """A student who gets a grade, with all names and numbers that a learning platform may know them by.

    `points` and `reasons` are the grade as text for a file; None is no grade.
    """

    name: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    student_id: str = ""
    sis_user_id: str = ""
    login: str = ""
    section: str = ""
    team: str = ""
    points: str | None = None
    reasons: str = ""
    is_listed: bool = False
    """Whether the names come from the teacher's class list; otherwise the person chose them."""
    username: str = ""
    user_id: int | None = None
    team_id: int | None = None
    has_joined: bool = True
    disqualified: str | None = None
    """The reason if the team is disqualified."""
    valid: int = 0
    """Number of the team's files scored on time, if `students_of` was called `with_valid`."""

    @property
    def university_id(self) -> str:
        """The university's number. If the class list came from Canvas, `student_id` is Canvas's internal ID."""
        return self.sis_user_id or self.student_id


def students_of(competition: Competition, *, with_valid: bool) -> list[Student]:
    """All students who get a grade, sorted by name: members of teams, and students on the class list."""
    # `values` instead of model instances: each page of grades reads the whole class, up to 500 students.
    memberships = Membership.objects.filter(competition=competition).order_by()
    if with_valid:
        valid = Submission.objects.filter(ranked_files(), team=OuterRef("team"))
        memberships = memberships.annotate(valid=count_rows(valid, "team"))
    facts = memberships.values(*MEMBER_FACTS, *(["valid"] if with_valid else []))
    entries = RosterEntry.objects.filter(competition=competition).only(*ROSTER_FACTS)
    listed = {entry.user_id or -entry.pk: entry for entry in entries}
    found = [_student_from_membership(one, listed.pop(one["user_id"], None)) for one in facts]
    found += [
        Student(has_joined=entry.user_id is not None, user_id=entry.user_id, **_roster_names(entry, str(entry), ""))
        for entry in listed.values()
        if entry.left_at is None
    ]
    return sorted(found, key=lambda student: (student.name.casefold(), student.username))


def _student_from_membership(one: Mapping[str, Any], entry: RosterEntry | None) -> Student:
    """A member of a team; names on the class list take precedence over those of the account."""
    first, last = one["user__first_name"], one["user__last_name"]
    own = {"first_name": first, "last_name": last, "email": one["user__email"]}
    name = f"{first} {last}".strip() or one["user__username"]
    return Student(
        username=one["user__username"],
        user_id=one["user_id"],
        team_id=one["team_id"],
        team=one["team__name"],
        disqualified=one["team__disqualified_reason"] if one["team__disqualified_at"] else None,
        valid=one.get("valid", 0),
        **({**own, "name": name} if entry is None else {**own, **_roster_names(entry, name, own["email"])}),
    )


def _roster_names(entry: RosterEntry, name: str, email: str) -> dict[str, Any]:
    """Fields of a `Student` from the class list; `name` and `email` are used where the list has none."""
    facts = {key: getattr(entry, key) for key in ("student_id", "sis_user_id", "login", "section")}
    named = {"first_name": "", "last_name": ""} if entry.name else {}
    return {**facts, **named, "name": entry.name or name, "email": entry.email or email, "is_listed": True}
