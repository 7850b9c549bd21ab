"""Invitations by mail to people of a roster: each e-mail has a one-time link of its own.

The entry is the queue. The link is made when its e-mail is sent and only its digest is stored, so a second
e-mail ends the link of the first.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.display_time import day_text, moment_text
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services.competitions import CannotHost
from leaderboard.competitions.tasks import wake_workers_after_commit
from leaderboard.notifications.emails import LEASE, SERVER_PAUSE, EmailNotSent, pause_after, reply_to, send_email
from leaderboard.notifications.notices import sends_mail
from leaderboard.notifications.tasks import send_due_emails

from .models import JOIN_CARD_LIFETIME, RosterEntry

log = logging.getLogger(__name__)


def why_no_emails() -> str:
    """Why this site cannot send invitations, in words for a host; empty where it can."""
    if not sends_mail():
        return _("This site has no mail server, so it can't send e-mail.")
    if not settings.SITE_URL:
        return _(
            "This site doesn't know its own address, so e-mails can't include links. Ask your administrator to set it."
        )
    return ""


def due_invitations() -> list[Callable[[Any], bool]]:
    """Calls that each send one e-mail that is due, the longest waiting first."""
    waiting = RosterEntry.objects.filter(mail_at__lte=Now()).order_by("mail_at", "pk")
    return [partial(send_invitation, entry_id) for entry_id in waiting.values_list("pk", flat=True)[:1000]]


def are_invitations_due() -> bool:
    return RosterEntry.objects.filter(mail_at__lte=Now()).exists()


def send_invitation(entry_id: int, server: Any) -> bool:
    """Send one person their invitation; False when the server refuses everything. The first process that claims the
    entry sends it."""
    until = database_now() + LEASE
    taken = RosterEntry.objects.filter(pk=entry_id, mail_at__lte=Now())
    if not taken.update(mail_at=until, mail_tries=F("mail_tries") + 1):
        return True  # somebody else was quicker
    mine = RosterEntry.objects.filter(pk=entry_id, mail_at=until)
    entry = mine.select_related("competition", "mail_asked_by").first()
    if entry is None:
        return True  # joined in this moment
    if (obstacle := _obstacle_to_sending(entry)) is not None:
        mine.update(mail_at=None, mail_asked_at=None, mail_problem=obstacle)
        return True
    code = entry.new_join_card_code(database_now())
    # Only while nobody has joined by the link before.
    mine.update(join_card_digest=entry.join_card_digest, join_card_expires_at=entry.join_card_expires_at)
    try:
        send_email(_build_email(entry, code), server)
    except EmailNotSent as error:
        log.warning("an invitation could not be sent: %s", error)
        _retry_later(entry, error)
        return error.answers
    mine.update(mail_at=None, mail_asked_at=None, mail_tries=0, mail_problem="", invited_at=Now())
    return True


def _obstacle_to_sending(entry: RosterEntry) -> str | None:
    """Why a requested invitation is not sent any more, as `RosterEntry` stores it for the host; empty where it is
    sent."""
    if entry.user_id or entry.left_at:
        return ""
    if not entry.email:
        return gettext_noop("This person no longer has an e-mail address.")
    if database_now() >= entry.competition.closes_at:
        return gettext_noop("The deadline passed before the e-mail was sent.")
    return None


def _retry_later(entry: RosterEntry, error: EmailNotSent) -> None:
    held = RosterEntry.objects.filter(pk=entry.pk, mail_at=entry.mail_at)
    pause = None if error.is_final else pause_after(entry.mail_tries)
    if pause is None:
        reason = gettext_noop("The mail server didn't answer after several tries.")
        if error.answers:
            reason = gettext_noop("The mail server rejected this address.")
        held.update(mail_at=None, mail_asked_at=None, mail_problem=reason)
        return
    waits = gettext_noop("Not sent yet. We'll try again.")
    held.update(mail_at=database_now() + pause, mail_problem=waits)
    if not error.answers:
        RosterEntry.objects.filter(mail_at__lte=Now()).update(mail_at=Now() + SERVER_PAUSE)


def _build_email(entry: RosterEntry, code: str) -> EmailMessage:
    """The e-mail with a person's own link, in plain text; nothing else in it is about them but their name."""
    link = settings.SITE_URL + reverse("join_card", kwargs={"code": code})
    host = entry.mail_asked_by.signature if entry.mail_asked_by else ""
    subject, text = invitation_text(
        entry.competition, name=entry.name, link=link, host=host, language=entry.mail_language
    )
    headers = {"Auto-Submitted": "auto-generated"}
    return EmailMessage(subject, text, None, [entry.email], reply_to=reply_to(entry.competition), headers=headers)


def invitation_text(competition: Competition, *, name: str, link: str, host: str, language: str) -> tuple[str, str]:
    """Subject and text of an invitation to one person, signed by the host who asks for it and in that host's language:
    nobody knows theirs yet, and a class reads what its teacher writes."""
    title = f"{competition.title} ({competition.course})" if competition.course else competition.title
    with translation.override(language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE):
        text = _(
            "%(greeting)s  you're invited to the competition “%(title)s”. This link is only for you and works"
            " once:  %(link)s  It works until %(until)s. Sign in, or create an account there. You can submit "
            "until %(closes)s.  %(signed)s--  Your teacher asked for this e-mail. If you aren't in this "
            "class, ignore it. "
        ) % {
            "greeting": _("Hello %(name)s,") % {"name": name} if name else _("Hello,"),
            "title": " ".join(title.split()),
            "link": link,
            "until": day_text(database_now() + JOIN_CARD_LIFETIME),
            "closes": moment_text(competition.closes_at, competition.zone),
            "signed": f"{host}\n\n" if host else "",
        }
        return " ".join((_("Invitation: %(title)s") % {"title": title}).split()), text


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
    if obstacle := why_no_emails():
        return obstacle
    if competition.launched_at is None:
        return _("Students can't join a draft. Launch the competition first; it can open later.")
    if database_now() >= competition.closes_at:
        return _("The deadline has passed, so students can't join any more.")
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
            raise CannotHost(_("Everyone you selected has joined, left the course or has no e-mail address."))
        if len(chosen) > (left := invitations_left(host)):
            raise CannotHost(
                _(
                    "You can send {left} more e-mails today, but you selected {number} people. Print join "
                    "cards for the rest."
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
