"""Invitations by mail to people of a roster: each e-mail has a one-time link of its own.

The entry is the queue. The link is made when its e-mail is sent and only its digest is stored, so a second
e-mail ends the link of the first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from leaderboard.common.clock import database_now
from leaderboard.common.display_time import day_text, moment_text
from leaderboard.competitions.models import Competition
from leaderboard.notifications.emails import LEASE, SERVER_PAUSE, EmailNotSent, pause_after, reply_to, send_email
from leaderboard.notifications.notices import sends_mail

from .models import RosterEntry
from .models.roster import JOIN_CARD_LIFETIME

log = logging.getLogger(__name__)


def why_no_emails() -> str:
    """Why this site cannot send invitations, in words for a host; empty where it can."""
    if not sends_mail():
        return _("This site has no mail server, so it sends no e-mails.")
    if not settings.SITE_URL:
        return _("This site does not know its own address, so its e-mails could hold no link. Its operator can set it.")
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
        send_email(build_invitation_email(entry, code), server)
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
        return gettext_noop("There is no e-mail address any more.")
    if database_now() >= entry.competition.closes_at:
        return gettext_noop("The deadline passed before the e-mail was sent.")
    return None


def _retry_later(entry: RosterEntry, error: EmailNotSent) -> None:
    held = RosterEntry.objects.filter(pk=entry.pk, mail_at=entry.mail_at)
    pause = None if error.is_final else pause_after(entry.mail_tries)
    if pause is None:
        reason = (
            gettext_noop("The mail server does not take e-mails to this address.")
            if error.answers
            else gettext_noop("The mail server did not answer, however often it was tried.")
        )
        held.update(mail_at=None, mail_asked_at=None, mail_problem=reason)
        return
    waits = gettext_noop("It did not go out yet and is tried again.")
    held.update(mail_at=database_now() + pause, mail_problem=waits)
    if not error.answers:
        RosterEntry.objects.filter(mail_at__lte=Now()).update(mail_at=Now() + SERVER_PAUSE)


def build_invitation_email(entry: RosterEntry, code: str) -> EmailMessage:
    """The e-mail with a person's own link, in plain text; nothing else in it is about them but their name."""
    link = settings.SITE_URL.rstrip("/") + reverse("join_card", kwargs={"code": code})
    host = entry.mail_asked_by.signature if entry.mail_asked_by else ""
    subject, text = invitation_text(
        entry.competition, name=entry.name, link=link, host=host, language=entry.mail_language
    )
    message = EmailMessage(subject, text, None, [entry.email], reply_to=reply_to(entry.competition))
    message.extra_headers = {"Auto-Submitted": "auto-generated"}
    return message


def invitation_text(competition: Competition, *, name: str, link: str, host: str, language: str) -> tuple[str, str]:
    """Subject and text of an invitation to one person, signed by the host who asks for it and in that host's language:
    nobody knows theirs yet, and a class reads what its teacher writes."""
    with translation.override(language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE):
        return _invitation_text(competition, name=name, link=link, host=host)


def _invitation_text(competition: Competition, *, name: str, link: str, host: str) -> tuple[str, str]:
    title = f"{competition.title} ({competition.course})" if competition.course else competition.title
    text = _(
        "%(greeting)s\n\nyou are invited to the competition “%(title)s”. This link is for you alone and lets one "
        "person in:\n\n%(link)s\n\nIt works until %(until)s. You need an account on this site; without one you can "
        "make it there. Files are taken until %(closes)s.\n\n%(signed)s-- \nYour teacher asked for this "
        "e-mail. If you are not in this class, throw it away: without a click nothing happens.\n"
    ) % {
        "greeting": _("Hello %(name)s,") % {"name": name} if name else _("Hello,"),
        "title": " ".join(title.split()),
        "link": link,
        "until": day_text(database_now() + JOIN_CARD_LIFETIME),
        "closes": moment_text(competition.closes_at, competition.zone),
        "signed": f"{host}\n\n" if host else "",
    }
    return " ".join((_("Invitation: %(title)s") % {"title": title}).split()), text
