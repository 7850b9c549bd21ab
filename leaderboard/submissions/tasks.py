"""Celery tasks of submissions. They take IDs, are sent after commit, and may run twice.

A message is only a wake-up: the worker that gets it scores the files whose turn it is.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from structlog.contextvars import bound_contextvars

from leaderboard.celery import app
from leaderboard.common.child_processes import run_command
from leaderboard.competitions import wake_ups

from . import converting, outside_queue, queue, score

log = logging.getLogger(__name__)

MAX_MISSES = 5
# Seconds after which a process that scores file after file lets other messages in.
WORK_SECONDS = 0.5


@app.task(name=wake_ups.SCORE_NEXT_SUBMISSIONS, bind=True)
def score_next_submissions(self: Any, submission_id: str, ground_truth_id: int) -> None:
    """Score waiting files in the order of the queue for `WORK_SECONDS`; the IDs only tell what caused the wake-up.

    If files still wait then, it sends itself another wake-up, so that other messages get their turn. It gives up after
    `MAX_MISSES` turns that other workers had claimed already.
    """
    if not wake_ups.has_known_schema(self):
        return
    enough, missed = time.monotonic() + WORK_SECONDS, 0
    for turn in queue.turns_of_submissions():
        scored = score.score_turn(turn, self.request.id)
        for file in scored:
            _log_scored(file)
        statuses = {file.status for file in scored if file.status != "busy"}
        missed = 0 if statuses else missed + 1
        if "slow" in statuses:
            start_slow_scorer()
        if "waiting" in statuses or missed == MAX_MISSES:
            return
        if statuses & {"stale", "died"} or time.monotonic() > enough:
            last = turn[-1]
            ids = last.pk, last.competition.ground_truth_id
            wake_ups.wake_workers(wake_ups.SCORE_NEXT_SUBMISSIONS, *ids, expires=wake_ups.SWEEP_MESSAGE_LIFETIME)
            return


def _log_scored(file: score.FileOfTurn) -> None:
    """Log status and seconds of a file."""
    if file.status == "busy":
        return
    facts = {"competition": file.submission.competition.slug, "submission": str(file.submission.pk)}
    result = {"ground_truth": file.ground_truth.pk, "status": file.status, "seconds": round(file.seconds, 3)}
    log.info("scored", extra=facts | result)


@app.task(name=wake_ups.RESCORE_CANDIDATE, bind=True)
def rescore_candidate(self: Any, ground_truth_id: int) -> None:
    """Score all files with a candidate ground truth, a batch per message."""
    if not wake_ups.has_known_schema(self):
        return
    with bound_contextvars(ground_truth=ground_truth_id):
        if outside_queue.rescore_batch(ground_truth_id):
            wake_ups.wake_workers(wake_ups.RESCORE_CANDIDATE, ground_truth_id)


@app.task(name=wake_ups.SCORE_PREVIEW, bind=True)
def score_preview(self: Any, ground_truth_id: int) -> None:
    """Score the sample submission of a ground truth for a student preview."""
    if not wake_ups.has_known_schema(self):
        return
    with bound_contextvars(ground_truth=ground_truth_id):
        outside_queue.score_preview(ground_truth_id)


@app.task(name=wake_ups.PREVIEW_CONVERSION, bind=True)
def preview_conversion(self: Any, submission_id: str) -> None:
    """Compute the preview of a conversion for a file that cannot be scored."""
    if wake_ups.has_known_schema(self):
        converting.preview_conversion(submission_id)


def start_slow_scorer() -> None:
    """Score slow files in another process, one at a time, while this one goes on with the queue.

    If that process ends early, the next sweep starts it again.
    """
    if "score_slow_files" not in {thread.name for thread in threading.enumerate()}:
        run_command("score_slow_files", niceness=5)  # quick files get the processor first
