"""Celery tasks: send due e-mails, also those of other rooms, and write notices that are due by the clock."""

from __future__ import annotations

import threading
from typing import Any

from leaderboard.celery import app
from leaderboard.common import outbox
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.competitions import hooks, wake_ups

from . import emails, events
from .services import EMAIL_KIND

outbox.KINDS[EMAIL_KIND] = outbox.EmailKind(emails.build_notice_email, emails.note_outcome)

# At most one thread sends e-mails: a mail server that does not answer must not block the other threads.
_one_sender = threading.Lock()


@app.task(name="leaderboard.notifications.tasks.send_due_emails", bind=True)
def send_due_emails(self: Any) -> None:
    """Send due e-mails for a limited time; if some remain, queue this task again behind the others."""
    if not wake_ups.has_known_schema(self) or not _one_sender.acquire(blocking=False):
        return
    try:
        is_more = outbox.send_due_emails()
    finally:
        _one_sender.release()
    if is_more:
        wake_email_sender()


@on(outbox.email_queued)
def wake_email_sender() -> None:
    """Queue `send_due_emails` after the transaction is committed."""
    wake_ups.wake_workers_after_commit(send_due_emails.name)


@app.task(name="leaderboard.notifications.tasks.notify_due")
def notify_due() -> None:
    """Write the notices that are due by the clock."""
    events.notify_due(database_now())


@on(hooks.due_tasks)
def find_due() -> list[tuple[str]]:
    """`send_due_emails` if e-mails are due, else nothing."""
    return [(send_due_emails.name,)] if outbox.is_email_due() else []
