"""Names the work for the queue: ids in, rung after commit, safe to repeat.

A message is only a wake-up. When the broker does not take it, the sweep finds the row in the database.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from celery.signals import worker_process_init
from django.conf import settings
from django.db import transaction
from django.utils import timezone

import metrics

from . import child, ranking, scoring
from .celery import app

log = logging.getLogger(__name__)

# Seconds that a swept message lives: the next sweeps ring again, so a long queue does not fill with repetitions.
SWEPT_FOR = 20


@worker_process_init.connect
def _load_readers(**_: object) -> None:
    """Load the table reader before the first file comes, so that nobody waits for imports; then hold the memory."""
    child.limit_memory(settings.SCORING_MEMORY_MB)
    example = metrics.get("accuracy").example
    metrics.prepare("accuracy", example.truth.encode()).evaluate(example.submission.encode(), uncertainty=True)


@app.task(name="leaderboard.tasks.score_submission")
def score_submission(submission_id: str, ground_truth_id: int) -> None:
    """Measure one submission. The ground truth in the message is what rang; the current one measures."""
    if scoring.score(submission_id) == "stale":
        ring(score_submission, submission_id, ground_truth_id)


@app.task(name="leaderboard.tasks.rescore")
def rescore(ground_truth_id: int) -> None:
    """Measure everything with a candidate ground truth, a batch per message."""
    if scoring.rescore(ground_truth_id):
        ring(rescore, ground_truth_id)


@app.task(name="leaderboard.tasks.sweep")
def sweep() -> None:
    """Ring again for what nobody has in hand."""
    waiting, rulers = scoring.sweep()
    for submission_id, ground_truth_id in waiting:
        ring(score_submission, submission_id, ground_truth_id, expires=SWEPT_FOR)
    for ground_truth_id in rulers:
        ring(rescore, ground_truth_id, expires=SWEPT_FOR)


@app.task(name="leaderboard.tasks.reveal_due")
def reveal_due() -> None:
    """Open the private boards whose deadline has passed and whose files all have their scores."""
    ranking.reveal_due(timezone.now())


def ring(task: Any, *arguments: object, expires: float | None = None) -> None:
    """Send a wake-up now; a broker that is down, full or frozen costs a moment and loses nothing."""
    try:
        task.apply_async(args=[str(a) if not isinstance(a, int) else a for a in arguments], expires=expires)
    except Exception as error:
        log.warning("the broker took no message (%s); the sweep will find the row", error)


def ring_after_commit(task: Any, *arguments: object) -> None:
    """Send a wake-up once the rows it speaks of can be seen."""
    bell: Callable[[], None] = lambda: ring(task, *arguments)  # noqa: E731
    transaction.on_commit(bell)
