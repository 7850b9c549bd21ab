"""Names the work of notifications for the queue: e-mails that are due, and what the clock brings."""

from __future__ import annotations

import logging
import threading
from typing import Any

from leaderboard.celery import app
from leaderboard.common.clock import database_now
from leaderboard.competitions.tasks import has_known_schema, wake_workers_after_commit

from . import emails, reminders

log = logging.getLogger(__name__)


# A mail server that does not answer takes one thread of this process, and other tasks have the rest.
_one_sender = threading.Lock()


@app.task(name="leaderboard.notifications.tasks.send_due_emails", bind=True)
def send_due_emails(self: Any) -> None:
    """Send e-mails that are due for a moment, then let other tasks have their turn."""
    if not has_known_schema(self) or not _one_sender.acquire(blocking=False):
        return
    try:
        is_more = emails.send_due_emails()
    finally:
        _one_sender.release()
    if is_more:
        wake_email_sender()


def wake_email_sender() -> None:
    """Have e-mails sent once their rows can be seen."""
    wake_workers_after_commit(send_due_emails)


@app.task(name="leaderboard.notifications.tasks.notify_due")
def notify_due() -> None:
    """Write notices that only time triggers."""
    reminders.notify_due(database_now())


def find_due() -> list[Any]:
    """The tasks above that have something to send now."""
    return [send_due_emails] if emails.is_mail_due() else []
