"""The state of the queue: workers that were heard of, and files that wait."""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Min, Q
from django.db.models.functions import Now

from leaderboard import __version__
from leaderboard.common.clock import database_now
from leaderboard.competitions.models import Submission
from leaderboard.competitions.models.page_task import Worker
from leaderboard.competitions.models.submission import waiting_since

from .claims import is_held

log = logging.getLogger(__name__)

HEARD_WITHIN = timedelta(seconds=30)
FORGOTTEN_AFTER = timedelta(hours=1)
# Seconds of waiting that are logged as an error; the supervisor then restarts workers that hold no file.
PENDING_TOO_LONG_SECONDS = 60.0


def report_worker() -> None:
    """Store that this process is alive; a new process also deletes rows that are older than an hour."""
    fields: dict[str, Any] = {"last_seen_at": Now(), "version": __version__}
    host, process = socket.gethostname()[:200], os.getpid()
    if Worker.objects.filter(host=host, process=process).update(**fields):
        return
    with transaction.atomic():
        Worker.objects.filter(last_seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
        Worker.objects.update_or_create(host=host, process=process, defaults=fields)


@dataclass(frozen=True)
class PendingFiles:
    """Number of waiting files, seconds that the oldest has waited (None: none waits), number being scored."""

    number: int
    oldest: float | None
    in_hand: int


def pending_files() -> PendingFiles:
    """The state of the queue; one query."""
    waiting = Submission.objects.filter(status=Submission.Status.PENDING)
    numbers = waiting.aggregate(
        number=Count("pk"),
        # Without slow files, which are scored outside the queue one after another.
        first=Min(waiting_since(), filter=Q(is_slow=False)),
        in_hand=Count("pk", filter=is_held()),
    )
    return PendingFiles(numbers["number"], seconds_since(numbers["first"]), numbers["in_hand"])


def log_stuck_queue() -> bool:
    """Log an error if files wait for long while no worker scores any; returns whether that is so."""
    queue = pending_files()
    if queue.in_hand or (queue.oldest or 0) <= PENDING_TOO_LONG_SECONDS:
        return False
    log.error("%s files wait, the oldest for %.0f s, and no worker has any in hand", queue.number, queue.oldest)
    return True


def seconds_since(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, round((database_now() - moment).total_seconds(), 1))
