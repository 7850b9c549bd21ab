"""Invitations by mail to the people of the roster; a worker sends them (`invitation_mails.py`)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services.competitions import CannotHost
from leaderboard.competitions.tasks import wake_workers_after_commit
from leaderboard.notifications.tasks import send_due_emails

from . import invitation_mails
from .models import RosterEntry

# Of one host and UTC day: several large classes, and no way to flood strangers.
MAX_INVITATIONS_PER_DAY = 1_000


def not_invited(competition: Competition) -> QuerySet[RosterEntry]:
    """Entries that can get a first invitation: with an address, and not joined, left or invited yet."""
    return _invitable_entries(competition).filter(invited_at=None)


def _invitable_entries(competition: Competition) -> QuerySet[RosterEntry]:
    return competition.roster.filter(user=None, left_at=None, mail_asked_at=None).exclude(email="")


def invitations_left(user: User) -> int:
    """How many invitations a host may still send today."""
    today = database_now().replace(hour=0, minute=0, second=0, microsecond=0)
    asked = AuditEntry.objects.filter(by=user.pk, event=AuditEvent.INVITED.value, at__gte=today)
    sent: int = sum(json.loads(after).get("emails", 0) for after in asked.values_list("after", flat=True))
    return max(0, MAX_INVITATIONS_PER_DAY - sent)


def why_nobody_is_invited(competition: Competition) -> str:
    """Why no invitations can be sent for this competition now, for its host; empty where they can."""
    if obstacle := invitation_mails.why_no_emails():
        return obstacle
    if competition.launched_at is None:
        return _("Nobody can join a draft. Launch the competition first; it may open later.")
    if database_now() >= competition.closes_at:
        return _("The deadline has passed; nobody can join any more.")
    return ""


def invite_entries(*, competition: Competition, entries: Sequence[int], user: User) -> int:
    """Queue an invitation with a new one-time link for each chosen person who has not joined; gives how many.

    A second invitation ends the link of the first. Raises `CannotHost`.
    """
    if obstacle := why_nobody_is_invited(competition):
        raise CannotHost(obstacle)
    with transaction.atomic():
        host = User.objects.select_for_update().get(pk=user.pk)
        chosen = list(
            _invitable_entries(competition).filter(pk__in=entries).values_list("pk", flat=True).order_by("pk")
        )
        if not chosen:
            raise CannotHost(_("Nobody of those you chose is still to join and has an e-mail address."))
        if len(chosen) > (left := invitations_left(host)):
            raise CannotHost(
                _(
                    "You can ask for {left} more e-mails today, and chose {number} people. Print cards for the others."
                ).format(left=left, number=len(chosen))
            )
        at = database_now()
        # A whole second: SQLite's clock counts milliseconds, and a finer moment would lie ahead of it for a blink.
        due = at.replace(microsecond=0)
        competition.roster.filter(pk__in=chosen).update(
            mail_asked_at=at,
            mail_at=due,
            mail_tries=0,
            mail_problem="",
            mail_asked_by=host,
            mail_language=host.notification_language,
        )
        AuditEntry.append(
            AuditEvent.INVITED, user=user, competition=competition, after={"emails": len(chosen), "people": chosen[:50]}
        )
        wake_workers_after_commit(send_due_emails)
    return len(chosen)
