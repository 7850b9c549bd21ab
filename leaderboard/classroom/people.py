"""The people of a class, from the roster, from teams, or from both; and links between accounts and roster entries.

Hosts make such a link where neither a student number, a confirmed address nor a join card did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Membership
from leaderboard.competitions.models.extension import extended_deadline
from leaderboard.competitions.services import CannotHost

from .models import RosterEntry, joined_values

State = RosterEntry.State
# Columns to load for members; a class may have hundreds.
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
# Columns of entries that the list of people does not need.
UNREAD = (
    "added_at",
    "roster_list",
    "join_card_digest",
    "join_card_expires_at",
    "mail_asked_by",
    "mail_language",
)


@dataclass(frozen=True)
class ClassPerson:
    """One person of a class: on the roster (`entry`), in a team (`membership`), or both."""

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
    """Everybody, sorted by name; two queries."""
    memberships = competition.memberships.select_related("user", "team").only(*MEMBER_FACTS).order_by()
    memberships = memberships.annotate(extended_to=extended_deadline())
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
    """The people of a section ("" for no section), in a state, with a text in name, address, number or team.

    `only_guests`: members that are not on the roster.
    """
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


@dataclass(frozen=True)
class UnlinkedMember:
    """A member without a roster entry. `guess` is an entry with the same address, name or login, or None."""

    membership: Membership
    guess: RosterEntry | None


def entry_label(entry: RosterEntry) -> str:
    """An entry as one line of text for the list of proposals: name and address, else a number."""
    number = entry.email or entry.student_id or entry.login or entry.sis_user_id
    return f"{entry} · {number}" if number and number != str(entry) else str(entry)


def _tidy(text: str) -> str:
    return " ".join(text.split()).casefold()


class UnlinkedEntries:
    """Index of roster entries without an account, by proposed line, address, number, login and name."""

    def __init__(self, entries: Sequence[RosterEntry]) -> None:
        self.entries = entries
        self._by: dict[str, set[RosterEntry]] = {}
        for entry in entries:
            known = (entry_label(entry), entry.email, entry.student_id, entry.sis_user_id, entry.login, entry.name)
            for one in filter(None, known):
                self._by.setdefault(_tidy(one), set()).add(entry)

    def found(self, text: str) -> RosterEntry | None:
        """The entry that this text identifies; None if there is none or more than one."""
        entries = self._by.get(_tidy(text), set())
        return next(iter(entries)) if len(entries) == 1 else None


def unlinked_members(competition: Competition) -> tuple[list[UnlinkedMember], UnlinkedEntries]:
    """(members without an entry, sorted by user name; entries without an account). Two queries."""
    waiting = UnlinkedEntries(list(competition.roster.filter(user=None, left_at=None)))
    members = competition.memberships.exclude(user__roster_entries__competition=competition)
    guests: list[UnlinkedMember] = []
    guessed: set[RosterEntry] = set()
    for member in members.select_related("user", "team").order_by("user__username"):
        account = member.user
        names = (account.email, account.get_full_name(), account.username)
        guess = next(filter(None, map(waiting.found, names)), None)
        guests.append(UnlinkedMember(member, guess if guess not in guessed else None))
        guessed.update({guess} if guess else ())
    return guests, waiting


def link_accounts(*, competition: Competition, pairs: Mapping[int, int], user: User | None) -> int:
    """Link accounts to roster entries (`pairs`: membership → entry); returns how many.

    One-time links and waiting invitations of the entries end. All or nothing: raises `CannotHost` if an account or an
    entry was linked meanwhile.
    """
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=competition.pk)
        taken = competition.roster.exclude(user=None).values_list("user", flat=True)
        members = competition.memberships.filter(pk__in=pairs).exclude(user__in=list(taken)).in_bulk()
        entries = competition.roster.filter(pk__in=pairs.values(), user=None, left_at=None).in_bulk()
        if len(members) < len(pairs) or len(entries) < len(pairs):
            raise CannotHost(
                _("Each account needs a different person on the roster without an account. Nothing was changed.")
            )
        for number, member in members.items():
            RosterEntry.objects.filter(pk=pairs[number]).update(**joined_values(member.user_id, member.joined_at))
        if pairs:
            who = {str(pairs[number]): member.user_id for number, member in members.items()}
            _log_roster_change(competition, user, {"is account": who})
    return len(pairs)


def unlink_accounts(*, competition: Competition, entries: Sequence[int], user: User | None) -> int:
    """Remove the links from roster entries to accounts; returns how many. The accounts keep teams, files and scores."""
    with transaction.atomic():
        linked = competition.roster.select_for_update().filter(pk__in=entries).exclude(user=None)
        who = {str(pk): account for pk, account in linked.values_list("pk", "user")}
        competition.roster.filter(pk__in=who).update(user=None, joined_at=None)
        if who:
            _log_roster_change(competition, user, {"is no longer account": who})
    return len(who)


def _log_roster_change(competition: Competition, user: User | None, after: dict[str, object]) -> None:
    competition.bump_board_version()
    AuditEntry.append(AuditEvent.ROSTER_CHANGED, user=user, competition=competition, after=after)
