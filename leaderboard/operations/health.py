"""The state of a running site: its workers, what waits, and whether everything that scoring needs responds."""

from __future__ import annotations

import logging
import shutil
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Max

from leaderboard.common.broker import queue_length
from leaderboard.common.clock import database_now
from leaderboard.common.outbox import waiting_emails
from leaderboard.common.storage import can_write, scratch_folder
from leaderboard.competitions import duties
from leaderboard.competitions.models import Submission
from leaderboard.competitions.models.page_task import Worker
from leaderboard.scoring.custom_metrics import custom_metrics_status
from leaderboard.submissions.queue_health import (
    FORGOTTEN_AFTER,
    HEARD_WITHIN,
    PendingFiles,
    pending_files,
    seconds_since,
)

from .models import ConsistencyRun, SealTest
from .supervisor.prepare import is_migrated

log = logging.getLogger(__name__)

# A file that waits for longer breaks promise 2, so the site does not count as able to score.
STUCK_AFTER = 120.0
HEALTH_CACHE_SECONDS = 2.0
SHOWN = 20


# --- able to score ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SiteHealth:
    """Whether each thing that scoring needs responds. Ages are in seconds, None if unknown."""

    database: bool
    storage: bool
    broker: bool
    worker_heard: float | None
    pending: PendingFiles
    late_tasks: tuple[str, ...]

    @property
    def is_able(self) -> bool:
        has_worker = self.worker_heard is not None and self.worker_heard <= HEARD_WITHIN.total_seconds()
        is_moving = self.pending.oldest is None or self.pending.oldest <= STUCK_AFTER
        return all((self.database, self.storage, self.broker, has_worker, is_moving, not self.late_tasks))

    def as_dict(self) -> dict[str, Any]:
        facts = asdict(self)
        pending = facts.pop("pending")
        return {"able": self.is_able, **facts, "oldest_pending": pending["oldest"], "in_hand": pending["in_hand"]}


_is_migrated: list[bool] = []


def readiness() -> dict[str, bool]:
    """Whether this process may serve pages, for load balancers. Migrations are checked until all are applied;
    migrations that this code does not know, as during an upgrade, do no harm."""
    try:
        if not _is_migrated and is_migrated():
            _is_migrated.append(True)
        database_now()
        has_database = True
    except DatabaseError as error:
        log.error("the database does not answer: %s", error)
        has_database = False
    return {
        "database": has_database,
        "migrations": bool(_is_migrated),
        "broker": queue_length() is not None,
        "storage": can_write(),
    }


_last: list[tuple[float, SiteHealth]] = []


def site_health() -> SiteHealth:
    """The site's health, cached for two seconds because it is asked often."""
    now = time.monotonic()
    if not _last or now - _last[0][0] > HEALTH_CACHE_SECONDS:
        _last[:] = [(now, _read_health())]
    return _last[0][1]


def _read_health() -> SiteHealth:
    """The site's health by reading alone: if the database accepts no writes, workers fall silent and their tasks are
    late."""
    try:
        queue, last = pending_files(), Worker.objects.aggregate(last=Max("last_seen_at"))["last"]
        heard, late, has_database = seconds_since(last), tuple(duties.late_tasks()), True
    except Exception as error:
        log.error("the database does not answer: %s", error)
        queue, heard, late, has_database = PendingFiles(0, None, 0), None, (), False
    return SiteHealth(
        database=has_database,
        storage=can_write(),
        broker=queue_length() is not None,
        worker_heard=heard,
        pending=queue,
        late_tasks=late,
    )


# --- the operator's page ----------------------------------------------------------------------------------------


def site_overview() -> dict[str, Any]:
    """The values of the operator's status page."""
    now = database_now()
    final = Submission.objects.filter(finished_at__gte=now - timedelta(days=1))
    fates = dict(final.order_by().values_list("status").annotate(Count("pk")))
    workers = Worker.objects.filter(last_seen_at__gte=now - FORGOTTEN_AFTER)
    failed = Submission.objects.filter(status=Submission.Status.FAILED).select_related("competition", "team")
    newest = list(failed.order_by("-finished_at")[:SHOWN])
    health = site_health()
    return {
        "heard_within": HEARD_WITHIN.total_seconds(),
        "stuck": STUCK_AFTER,
        "health": health,
        "pending": health.pending,
        "queue": queue_length(),
        "last_sweep": duties.last_sweep(),
        "workers": [(worker, worker.last_seen_at >= now - HEARD_WITHIN) for worker in workers],
        "fates": [
            (status.label, fates.get(status, 0))
            for status in (Submission.Status.SCORED, Submission.Status.INVALID, Submission.Status.FAILED)
        ],
        "failed": newest,
        "failed_number": len(newest) if len(newest) < SHOWN else failed.count(),
        "inspection": ConsistencyRun.objects.first(),
        "disks": disk_spaces(),
        "custom": custom_metrics_status(),
        "seal_tests": list(SealTest.objects.all()),
        "mail": waiting_emails(),
    }


@dataclass(frozen=True)
class DiskSpace:
    """Space on a disk that the site uses, in bytes."""

    what: str
    free: int
    total: int

    @property
    def is_short(self) -> bool:
        return self.free < max(1_073_741_824, self.total // 50)


def disk_spaces() -> list[DiskSpace]:
    """The disks of files and database; one entry if they are on the same disk."""
    places: dict[int, DiskSpace] = {}
    for what, folder in (("state", Path(settings.VAR_DIR)), ("files", scratch_folder())):
        while not folder.exists():
            folder = folder.parent
        usage = shutil.disk_usage(folder)
        places.setdefault(folder.stat().st_dev, DiskSpace(what, usage.free, usage.total))
    return list(places.values())


def prometheus_text() -> str:
    """Whether scoring keeps up, in Prometheus's text format."""
    pending = pending_files()
    scored = Submission.objects.filter(status=Submission.Status.SCORED).count()
    numbers = (
        ("pending_submissions", "Submissions that wait for their score.", pending.number),
        # Zero if nothing waits, because an alert needs a number to compare.
        ("oldest_pending_seconds", "How long the oldest of them has waited.", pending.oldest or 0),
        ("scored_submissions", "Submissions with a score.", scored),
    )
    return "".join(
        f"# HELP leaderboard_{name} {help_text}\n# TYPE leaderboard_{name} gauge\nleaderboard_{name} {number}\n"
        for name, help_text, number in numbers
    )
