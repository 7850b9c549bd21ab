"""Services for people of the roster: link accounts, mark who left, move to a section, make join cards.

An account is linked by a student number, a confirmed address or a join card, or else by a host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from leaderboard.accounts.institution.people import student_numbers_of
from leaderboard.accounts.models import User
from leaderboard.accounts.people import password_link_for
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, Course, Membership
from leaderboard.competitions.services import CannotHost, lock_course

from .models import RosterEntry, joined_values


def lock_class_list(competition: Competition, *others: Course) -> Competition:
    """Lock the class list of a competition's course, and invalidate the cached boards, which can show its sections.

    The courses `others` are locked too. Returns the competition as it is now. Raises `CannotHost` if it has just been
    moved to another course.
    """
    lock_course(competition.course_id, *(course.pk for course in others))
    Competition.objects.filter(course=competition.course_id).update(board_version=F("board_version") + 1)
    locked = Competition.objects.get(pk=competition.pk)
    if locked.course_id != competition.course_id:
        raise CannotHost(_("Someone has just moved this competition to another course. Look again."))
    return locked


def link_members(course: Course, *, by_any_address: bool = False) -> int:
    """Link entries to members by the student number that an institution sent, else by a confirmed address.

    `by_any_address`: then also by addresses that are not confirmed, for a host to review, because anybody can sign up
    with somebody else's. Returns how many were linked by these.
    """
    waiting = list(course.roster.filter(user=None, left_at=None))
    numbers = Counter(entry.student_number for entry in waiting)
    by_number = {entry.student_number: entry for entry in waiting if numbers[entry.student_number] == 1}
    by_address = {entry.email.casefold(): entry for entry in waiting if entry.email}
    linked = set(course.roster.exclude(user=None).values_list("user", flat=True))
    members = Membership.objects.filter(competition__course=course)
    joined = dict(members.order_by("-joined_at").values_list("user", "joined_at"))
    pairs = [(user, by_number.get(number)) for user, number in student_numbers_of(joined)]
    confirmed = members.filter(user__emailaddress__verified=True).order_by()
    addresses = confirmed.values_list("user", "user__emailaddress__email")
    pairs += [(user, by_address.get(email.casefold())) for user, email in addresses]
    certain = len(pairs)
    if by_any_address:
        typed = members.exclude(user__email="").order_by("joined_at").values_list("user", "user__email")
        pairs += [(user, by_address.get(email.casefold())) for user, email in typed]
    taken: dict[int, bool] = {}
    for place, (user, entry) in enumerate(pairs):
        if entry is not None and user not in linked and entry.pk not in taken:
            RosterEntry.objects.filter(pk=entry.pk).update(**joined_values(user, joined[user]))
            linked.add(user)
            taken[entry.pk] = place >= certain
    return sum(taken.values())


def mark_left(*, competition: Competition, entries: Sequence[int], user: User | None, left: bool = True) -> int:
    """Mark entries as having left the course, or as back (`left=False`); memberships stay. Returns how many."""
    with transaction.atomic():
        competition = lock_class_list(competition)
        chosen = competition.course.roster.filter(pk__in=entries, left_at__isnull=left)
        numbers = sorted(chosen.values_list("pk", flat=True))
        if numbers:
            competition.course.roster.filter(pk__in=numbers).update(left_at=database_now() if left else None)
            event = "left the course" if left else "back in the course"
            _log_roster_change(competition, user, {event: numbers[:50], "people": len(numbers)})
    return len(numbers)


def move_to_section(*, competition: Competition, entries: Sequence[int], section: str, user: User | None) -> int:
    """Set the section of entries ("" for none); returns how many."""
    with transaction.atomic():
        competition = lock_class_list(competition)
        numbers = sorted(competition.course.roster.filter(pk__in=entries).values_list("pk", flat=True))
        if numbers:
            competition.course.roster.filter(pk__in=numbers).update(section=section)
            after = {"section": section, "entries": numbers[:50], "people": len(numbers)}
            _log_roster_change(competition, user, after)
    return len(numbers)


def make_join_cards(
    *, competition: Competition, entries: Sequence[int], user: User | None
) -> list[tuple[RosterEntry, str]]:
    """(entry, new one-time code) for each chosen student who has not joined; earlier codes stop working.

    Only digests are stored, so the caller must show the codes now. Raises `CannotHost` if all have joined or left.
    """
    at = database_now()
    with transaction.atomic():
        competition = lock_class_list(competition)
        chosen = list(competition.course.roster.filter(pk__in=entries, user=None, left_at=None))
        if not chosen:
            raise CannotHost(_("Everyone you selected has already joined or left the course."))
        join_cards = [(entry, entry.new_join_card_code(at)) for entry in chosen]
        for entry, _code in join_cards:
            entry.invited_at, entry.mail_requested_at, entry.mail_problem = at, None, ""
            entry.invited_to = competition
        fields = [
            "invited_to",
            "join_card_digest",
            "join_card_expires_at",
            "invited_at",
            "mail_requested_at",
            "mail_problem",
        ]
        RosterEntry.objects.bulk_update(chosen, fields, batch_size=500)
        AuditEntry.append(AuditEvent.INVITED, user=user, competition=competition, after={"join cards": len(join_cards)})
    return join_cards


def make_password_link(*, membership: Membership, user: User) -> str:
    """The token of a password link for a student, logged."""
    with transaction.atomic():
        AuditEntry.append(
            AuditEvent.PASSWORD_LINK, user=user, competition=membership.competition, account=membership.user
        )
    return password_link_for(membership.user)


def link_accounts(*, competition: Competition, pairs: Mapping[int, int], user: User | None) -> int:
    """Link accounts to roster entries (`pairs`: membership → entry); returns how many.

    One-time links and waiting invitations of the entries end. All or nothing: raises `CannotHost` if an account or an
    entry was linked meanwhile.
    """
    with transaction.atomic():
        competition = lock_class_list(competition)
        taken = competition.course.roster.exclude(user=None).values_list("user", flat=True)
        members = competition.memberships.filter(pk__in=pairs).exclude(user__in=list(taken)).in_bulk()
        entries = competition.course.roster.filter(pk__in=pairs.values(), user=None, left_at=None).in_bulk()
        if len(members) < len(pairs) or len(entries) < len(pairs):
            raise CannotHost(
                _("Each account needs a different person on the roster without an account. Nothing was changed.")
            )
        for number, member in members.items():
            RosterEntry.objects.filter(pk=pairs[number]).update(**joined_values(member.user_id, member.joined_at))
        if pairs:
            accounts = {str(pairs[number]): member.user_id for number, member in members.items()}
            _log_roster_change(competition, user, {"is account": accounts})
    return len(pairs)


def unlink_accounts(*, competition: Competition, entries: Sequence[int], user: User | None) -> int:
    """Remove the links from roster entries to accounts; returns how many. The accounts keep teams, files and scores."""
    with transaction.atomic():
        competition = lock_class_list(competition)
        linked = competition.course.roster.filter(pk__in=entries).exclude(user=None)
        accounts = {str(pk): account for pk, account in linked.values_list("pk", "user")}
        competition.course.roster.filter(pk__in=accounts).update(user=None, joined_at=None)
        if accounts:
            _log_roster_change(competition, user, {"is no longer account": accounts})
    return len(accounts)


def _log_roster_change(competition: Competition, user: User | None, after: dict[str, object]) -> None:
    AuditEntry.append(AuditEvent.ROSTER_CHANGED, user=user, competition=competition, after=after)
