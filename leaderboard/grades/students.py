"""Students who get a grade, under every name that a learning platform may know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef

from leaderboard.classroom.models import RosterEntry
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, Membership, Submission
from leaderboard.competitions.ranking.scores import ranked_files

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
    """Somebody who gets a grade, by every name that a learning platform may know them under.

    `points` and `reasons` are the grade as a file says it; no points are no grade.
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
    """Whether the names are the teacher's own, from the roster, and not what the person chose."""
    username: str = ""
    user_id: int | None = None
    team_id: int | None = None
    has_joined: bool = True
    disqualified: str | None = None
    """The reason, where the team is out."""
    valid: int = 0
    """Scored files of the team that came in time, where they were asked for."""

    @property
    def university_id(self) -> str:
        """The number that platforms share. In a Canvas list that has one, `student_id` is Canvas's own number."""
        return self.sis_user_id or self.student_id


def students_of(competition: Competition, *, with_valid: bool) -> list[Student]:
    """Everybody who gets a grade, by name: members of teams, and the class as the roster has it."""
    # Facts and not rows: a class of 500 is looked at whole for each page of its grades.
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
    """A member of a team. The names of the roster count more than those that a person chose."""
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
    """What the roster says of a person; what it does not say is left out or as given."""
    facts = {key: getattr(entry, key) for key in ("student_id", "sis_user_id", "login", "section")}
    named = {"first_name": "", "last_name": ""} if entry.name else {}
    return {**facts, **named, "name": entry.name or name, "email": entry.email or email, "is_listed": True}
