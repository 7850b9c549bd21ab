"""Which workers are at work, and what waits for them."""

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
from leaderboard.common import prometheus_counters
from leaderboard.common.clock import database_now

from ..models import Submission, Worker
from ..models.submission import waiting_since
from .queue import is_held

log = logging.getLogger(__name__)

HEARD_WITHIN = timedelta(seconds=30)
FORGOTTEN_AFTER = timedelta(hours=1)
SWEPT_LATELY = timedelta(seconds=7)
# From here on somebody should look; a supervisor restarts workers that hold nothing meanwhile.
PENDING_TOO_LONG = 60.0


def report_worker(*, swept: bool = False) -> None:
    """Say that this process is at work; forget those who have been silent for long."""
    fields: dict[str, Any] = {
        "last_seen_at": Now(),
        "version": __version__,
        "counts": prometheus_counters.counter_samples(),
    }
    if swept:
        fields["last_sweep_at"] = Now()
    host, process = socket.gethostname()[:200], os.getpid()
    if Worker.objects.filter(host=host, process=process).update(**fields):
        return
    with transaction.atomic():
        Worker.objects.filter(last_seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
        Worker.objects.update_or_create(host=host, process=process, defaults=fields)


def was_swept_lately() -> bool:
    """Whether somebody sweeps; a sweep that seems to lie ahead was noted before a clock was set back."""
    return Worker.objects.filter(
        last_sweep_at__gte=Now() - SWEPT_LATELY, last_sweep_at__lte=Now() + SWEPT_LATELY
    ).exists()


@dataclass(frozen=True)
class PendingFiles:
    """How many files wait, for how many seconds the oldest does, and how many are being measured."""

    number: int
    oldest: float | None
    in_hand: int


def pending_files() -> PendingFiles:
    """One query."""
    waiting = Submission.objects.filter(status=Submission.Status.PENDING)
    found = waiting.aggregate(
        number=Count("pk"),
        # Slow files wait for each other; that they are measured is checked on its own.
        first=Min(waiting_since(), filter=Q(is_slow=False)),
        in_hand=Count("pk", filter=is_held()),
    )
    return PendingFiles(found["number"], seconds_since(found["first"]), found["in_hand"])


def log_stuck_queue() -> bool:
    """Write into the log that files wait while nobody measures any; for machines where nobody restarts a worker."""
    queue = pending_files()
    if queue.in_hand or (queue.oldest or 0) <= PENDING_TOO_LONG:
        return False
    log.error("%s files wait, the oldest for %.0f s, and no worker has any in hand", queue.number, queue.oldest)
    return True


def seconds_since(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, round((database_now() - moment).total_seconds(), 1))
