"""What a class knows about a person: their roster entries, a list that waits, roles that wait for their address."""

from __future__ import annotations

from datetime import datetime

from leaderboard.accounts.hooks import Leaving, PersonalData
from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent

from .models import RoleInvitation, RosterDraft

EXPORTED = ("name", "email", "student_id", "sis_user_id", "login", "section", "invited_at", "joined_at", "left_at")


def export(*, account: User, at: datetime) -> PersonalData:
    return PersonalData({"rosters": list(account.roster_entries.values("competition__slug", *EXPORTED))})


def leave(*, leaving: Leaving) -> None:
    """Note where hosts list the person."""
    leaving.competitions |= set(leaving.account.roster_entries.values_list("competition", flat=True))


def forget(*, leaving: Leaving) -> None:
    # A list that waits for a host's decision has to be read again.
    entries = leaving.account.roster_entries.values_list("name", "email", "login", "student_id")
    known = [name.casefold() for names in (*entries, leaving.addresses) for name in names if name]
    for draft in RosterDraft.objects.filter(competition__in=leaving.competitions):
        text = draft.text.casefold()
        if any(name in text for name in known):
            draft.delete()
    # A role that a host keeps for an address of theirs.
    for address in leaving.addresses:
        for offer in RoleInvitation.objects.filter(email=address.casefold()).select_related("competition"):
            before = {"invitation": offer.pk, "role": offer.role}
            AuditEntry.append(
                AuditEvent.ROLE_WITHDRAWN, user=leaving.user, competition=offer.competition, before=before
            )
            offer.delete()


def delete(*, leaving: Leaving) -> None:
    """The list of the course has them again when it is read again; until then nothing here tells who they were."""
    leaving.account.roster_entries.all().delete()
