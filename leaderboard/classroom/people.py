"""Everybody of a class: people on the roster, members of teams, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.competitions.models import Competition, Membership

from .models import RosterEntry

State = RosterEntry.State
# What is read of members of whom there may be hundreds.
MEMBER_FACTS = (
    "competition",
    "joined_at",
    "user__username",
    "user__first_name",
    "user__last_name",
    "user__email",
    "team__name",
    "team__pseudonym",
)
# What nobody reads of an entry before it is invited.
UNREAD = (
    "added_at",
    "roster_list",
    "join_card_digest",
    "join_card_expires_at",
    "mail_at",
    "mail_tries",
    "mail_asked_by",
    "mail_language",
)


@dataclass(frozen=True)
class ClassPerson:
    """One person, from the roster, from a team, or both."""

    entry: RosterEntry | None
    membership: Membership | None

    @property
    def name(self) -> str:
        if self.entry and str(self.entry):
            return str(self.entry)
        assert self.membership is not None
        user = self.membership.user
        return user.get_full_name() or user.get_username()

    @property
    def username(self) -> str:
        return self.membership.user.get_username() if self.membership else ""

    @property
    def email(self) -> str:
        if self.entry and self.entry.email:
            return self.entry.email
        return self.membership.user.email if self.membership else ""

    @property
    def section(self) -> str:
        return self.entry.section if self.entry else ""

    @property
    def state(self) -> RosterEntry.State:
        return self.entry.state if self.entry else State.JOINED

    @property
    def moment(self) -> datetime | None:
        if self.entry:
            return self.entry.moment
        return self.membership.joined_at if self.membership else None


def people_of(competition: Competition) -> list[ClassPerson]:
    """Everybody, by name. Two queries, whatever the size of the class."""
    memberships = competition.memberships.select_related("user", "team").only(*MEMBER_FACTS).order_by()
    members = {held.user_id: held for held in memberships}
    for held in members.values():
        held.team.competition = competition
    entries = list(competition.roster.defer(*UNREAD))
    listed = {entry.user_id for entry in entries}
    found = [ClassPerson(entry, members.get(entry.user_id) if entry.user_id else None) for entry in entries]
    found += [ClassPerson(None, held) for user_id, held in members.items() if user_id not in listed]
    return sorted(found, key=lambda person: person.name.casefold())


def filter_people(
    people: Sequence[ClassPerson],
    *,
    section: str | None = None,
    state: str = "",
    text: str = "",
    only_guests: bool = False,
) -> list[ClassPerson]:
    """Those of a section (`""` is those without one), in a state, with a text in name, address or team."""
    wanted = text.casefold()
    return [
        person
        for person in people
        if (section is None or person.section == section)
        and (not state or person.state == state)
        and (not only_guests or person.entry is None)
        and (not wanted or any(wanted in word.casefold() for word in _searchable_text(person)))
    ]


def _searchable_text(person: ClassPerson) -> list[str]:
    entry, team = person.entry, person.membership.team if person.membership else None
    ids = [entry.student_id, entry.sis_user_id, entry.login] if entry else []
    return [person.name, person.email, person.username, *ids, *([team.name, team.pseudonym] if team else [])]
