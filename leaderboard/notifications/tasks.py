"""Names the work of notifications for the queue: e-mail and chat messages that are due, and what the clock brings."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from django.db import close_old_connections, connections

from leaderboard.celery import app
from leaderboard.common.clock import database_now
from leaderboard.competitions.tasks import has_known_schema, wake_workers_after_commit

from . import chat_sending, emails, reminders

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


@app.task(name="leaderboard.notifications.tasks.post_due_messages", bind=True)
def post_due_messages(self: Any) -> None:
    """Post what channels shall hear."""
    if has_known_schema(self):
        _send_in_thread("post_due", chat_sending.send_due_messages)


@app.task(name="leaderboard.notifications.tasks.notify_due")
def notify_due() -> None:
    """Write notices that only time triggers, and queue chat messages."""
    reminders.notify_due(database_now())
    chat_sending.queue_due_messages(database_now())


def find_due() -> list[Any]:
    """The tasks above that have something to send now."""
    is_due = {send_due_emails: emails.is_mail_due(), post_due_messages: chat_sending.are_messages_due()}
    return [task for task in is_due if is_due[task]]


def _send_in_thread(name: str, send_some: Callable[[], bool]) -> threading.Thread | None:
    """Send, round after round until nothing is left, in a thread next to the scoring: a server that lets us wait holds
    up no file. One thread of a name in a process; what it had in hand when the process died is due again by its claim.
    """
    if name in {thread.name for thread in threading.enumerate()}:
        return None

    def send_all() -> None:
        try:
            while send_some():
                close_old_connections()
        except Exception:
            log.exception("%s broke off; the next sweep wakes a worker for what is left", name)
        finally:
            connections.close_all()

    thread = threading.Thread(target=send_all, name=name, daemon=True)
    thread.start()
    return thread
