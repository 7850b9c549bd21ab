"""The mail server: what it may answer to an e-mail, and when to try again."""

from __future__ import annotations

import smtplib
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email

from leaderboard.common.email_lines import wrap_email_text
from leaderboard.competitions.models import Competition

LEASE = timedelta(minutes=10)
MOST_TRIES = 12
LONGEST_PAUSE = timedelta(hours=6)
# While the server refuses everything, all e-mails wait.
SERVER_PAUSE = timedelta(minutes=1)


class EmailNotSent(Exception):
    """An e-mail was not sent. `answers`: the server takes others; `is_final`: it never takes this one."""

    def __init__(self, reason: str, *, answers: bool, is_final: bool = False) -> None:
        super().__init__(reason)
        self.answers, self.is_final = answers, is_final


def send_email(email: EmailMessage, server: Any) -> None:
    """Send an e-mail over a connection that is opened when the first one needs it. Raises `EmailNotSent`."""
    email.connection, email.body = server, wrap_email_text(str(email.body))
    try:
        server.open()
        email.send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        is_final = bool(codes) and min(codes) >= 500
        raise EmailNotSent(type(error).__name__, answers=True, is_final=is_final) from error
    except Exception as error:  # a frozen, absent or wrongly named server, of whatever kind
        raise EmailNotSent(type(error).__name__, answers=False) from error


def reply_to(competition: Competition | None) -> list[str]:
    """The reply address of a host's e-mail: the competition's contact, if that is an address and nothing else. A
    host's own address is never shown."""
    contact = competition.contact.strip() if competition else ""
    try:
        validate_email(contact)
    except ValidationError:
        return []
    return [contact]


def pause_after(tries: int) -> timedelta | None:
    """How long to wait after so many tries, each time longer; None when it was enough."""
    return min(timedelta(minutes=2**tries), LONGEST_PAUSE) if tries < MOST_TRIES else None
