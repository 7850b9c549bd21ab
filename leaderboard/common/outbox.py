"""The outbox: an e-mail is a row of the transaction that causes it, and a task sends it.

Requests never wait for the mail server. A claim has a lease; after a failure the pause grows with each try. An e-mail
is sent twice only if a process dies between the server's answer and the deletion of the row; both have the same
Message-ID, so mail programs show one.
"""

from __future__ import annotations

import logging
import smtplib
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from email.utils import make_msgid
from enum import Enum, auto
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Count, Max, Min, QuerySet
from django.db.models.functions import Now

from .claims import is_due
from .clock import database_now
from .hooks import Hook
from .models import OutgoingEmail

log = logging.getLogger(__name__)

# The time after which a task stops sending, so that other tasks get a turn.
TURN_SECONDS = 2.0
# Longer than a conversation with a mail server that answers each line just in time (`EMAIL_TIMEOUT`).
LEASE = timedelta(minutes=3)
MAX_TRIES = 12
MAX_PAUSE = timedelta(hours=6)
# While the server refuses everything, all e-mails wait.
SERVER_PAUSE = timedelta(minutes=1)


class Outcome(Enum):
    """The result of an attempt to send an e-mail."""

    SENT = auto()
    DELAYED = auto()
    REJECTED = auto()
    """Refused for good, by a server that accepts other e-mails."""
    GIVEN_UP = auto()


@dataclass(frozen=True)
class EmailKind:
    """E-mails that an app builds from a row when they are sent. `build` returns None for an e-mail that is no longer
    wanted."""

    build: Callable[[int], EmailMessage | None]
    note_outcome: Callable[[int, Outcome], None]


KINDS: dict[str, EmailKind] = {}
"""Kind → functions; filled by rooms that build their e-mails from rows."""


@Hook
def email_queued() -> None:
    """An e-mail was put into the outbox, in the transaction that causes it."""
    raise NotImplementedError


class EmailNotSent(Exception):
    """An e-mail was not sent. `answers`: the server accepts others; `is_final`: it will never accept this one."""

    def __init__(self, reason: str, *, answers: bool, is_final: bool = False) -> None:
        super().__init__(reason)
        self.answers, self.is_final = answers, is_final


# --- queuing ----------------------------------------------------------------------------------------------------


class OutboxBackend(BaseEmailBackend):
    """Django's e-mail backend that queues in the outbox, for this site and its libraries."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        with transaction.atomic():
            for message in email_messages:
                queue_email(message)
            email_queued()
        return len(email_messages)


def queue_email(message: EmailMessage, *, kind: str = "") -> None:
    """Put a plain-text e-mail into the outbox, for the next turn. Raises `ValueError` for one with attachments."""
    if message.attachments or getattr(message, "alternatives", None):
        raise ValueError("The outbox takes plain text alone.")
    content = {
        "subject": str(message.subject),
        "body": str(message.body),
        "from_email": message.from_email,
        "headers": {"Message-ID": make_msgid(domain=site_domain()), **message.extra_headers},
        **{name: list(getattr(message, name)) for name in ("to", "cc", "bcc", "reply_to")},
    }
    recipients = ", ".join(message.recipients()).casefold()
    OutgoingEmail.objects.create(recipients=recipients, content=content, kind=kind, due_at=Now())


def queue_references(kind: str, references: Collection[int]) -> None:
    """Queue e-mails that are built from these rows when they are sent."""
    OutgoingEmail.objects.bulk_create(OutgoingEmail(kind=kind, reference=one, due_at=Now()) for one in references)
    email_queued()


def site_domain() -> str:
    """The right-hand side of a Message-ID."""
    return urlsplit(settings.SITE_URL).hostname or "leaderboard.local"


# --- sending ----------------------------------------------------------------------------------------------------


def sends_mail() -> bool:
    """Whether this site has a mail server; without one notices are shown on the site only."""
    return bool(settings.ACCOUNT_EMAIL_VERIFICATION != "none")


def is_email_due() -> bool:
    return sends_mail() and _due_emails().exists() and not is_server_paused()


def _due_emails() -> QuerySet[OutgoingEmail]:
    return OutgoingEmail.objects.filter(is_due("due_at", 2 * MAX_PAUSE))


def is_server_paused() -> bool:
    """Whether the mail server has refused all e-mails within `SERVER_PAUSE`, so that it is left alone for now."""
    return OutgoingEmail.objects.filter(refused_all_at__gt=Now() - SERVER_PAUSE, refused_all_at__lte=Now()).exists()


def waiting_emails() -> dict[str, Any]:
    """The `number` of unsent e-mails, the creation time of the `oldest`, and the `error` of a failed attempt."""
    found = OutgoingEmail.objects.aggregate(number=Count("pk"), oldest=Min("created_at"), error=Max("last_error"))
    return {**found, "error": found["error"] or ""}


def send_due_emails() -> bool:
    """Send e-mails for about `TURN_SECONDS`; returns whether some may remain."""
    if not sends_mail() or is_server_paused():
        return False
    enough = time.monotonic() + TURN_SECONDS
    server = get_connection(settings.EMAIL_SERVER_BACKEND)
    try:
        while (email := _claim_next()) is not None:
            if not _send_claimed(email, server):
                return False
            if time.monotonic() > enough:
                return True
    finally:
        with suppress(Exception):  # a server that hangs up early has received the e-mails all the same
            server.close()
    return False


@transaction.atomic
def _claim_next() -> OutgoingEmail | None:
    """Claim the next due e-mail for `LEASE`; None when none is due."""
    due = _due_emails().order_by("kind", "due_at", "pk")
    email = due.select_for_update(skip_locked=True).first()
    if email is not None:
        email.due_at, email.tries = database_now() + LEASE, email.tries + 1
        email.save(update_fields=["due_at", "tries"])
    return email


def _send_claimed(email: OutgoingEmail, server: Any) -> bool:
    """Send a claimed e-mail; False when the server refuses everything."""
    error = None
    try:
        message = _message_of(email)
        if message is None:
            email.delete()
            return True
        _send_message(message, server)
    except EmailNotSent as not_sent:
        error = not_sent
    with transaction.atomic():
        outcome = _note_outcome(email, error)
        if email.reference is not None:
            KINDS[email.kind].note_outcome(email.reference, outcome)
    return error is None or error.answers


def _message_of(email: OutgoingEmail) -> EmailMessage | None:
    if email.reference is None:
        return EmailMessage(**email.content)
    try:
        return KINDS[email.kind].build(email.reference)
    except Exception as error:
        log.exception("an e-mail could not be built")
        raise EmailNotSent(type(error).__name__, answers=True) from error


def _send_message(message: EmailMessage, server: Any) -> None:
    """Pass an e-mail to the mail server, connecting first if needed. Raises `EmailNotSent`."""
    message.connection = server
    try:
        server.open()
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        is_final = bool(codes) and min(codes) >= 500
        raise EmailNotSent(type(error).__name__, answers=True, is_final=is_final) from error
    except smtplib.SMTPDataError as error:
        raise EmailNotSent(type(error).__name__, answers=True) from error
    except Exception as error:  # a frozen, absent or wrongly named server, of whatever kind
        raise EmailNotSent(type(error).__name__, answers=False) from error


def _note_outcome(email: OutgoingEmail, error: EmailNotSent | None) -> Outcome:
    """Delete the row of an e-mail that is sent or given up, or set the time of its next attempt."""
    mine = OutgoingEmail.objects.filter(pk=email.pk, tries=email.tries)
    if error is None:
        mine.delete()
        return Outcome.SENT
    log.warning("an e-mail could not be sent: %s", error, extra={"email": email.pk, "tries": email.tries})
    if error.is_final or email.tries >= MAX_TRIES:
        mine.delete()
        return Outcome.REJECTED if error.answers else Outcome.GIVEN_UP
    pause = min(timedelta(minutes=2**email.tries), MAX_PAUSE)
    refused_all_at = None if error.answers else Now()
    mine.update(due_at=database_now() + pause, refused_all_at=refused_all_at, last_error=str(error)[:100])
    return Outcome.DELAYED
