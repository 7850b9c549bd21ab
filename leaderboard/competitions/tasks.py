"""Celery tasks of competitions. They take IDs, are sent after commit, and may run twice.

A message is only a wake-up: the worker that gets it scores the file whose turn it is. If the broker refuses the
message, the sweep finds the row in the database.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from celery.exceptions import TimeLimitExceeded, WorkerLostError
from celery.signals import task_failure, worker_process_init, worker_ready, worker_shutting_down
from celery.worker.state import active_requests
from django.conf import settings
from django.db import close_old_connections, connection, transaction
from kombu.exceptions import OperationalError as BrokerError
from structlog.contextvars import bound_contextvars

from leaderboard import scoring
from leaderboard.accounts import personal_data
from leaderboard.celery import app, queue_length
from leaderboard.common import child_processes, folders
from leaderboard.common.clock import database_now
from leaderboard.common.shared_cache import is_broker_left_alone, leave_broker_alone

from . import duties, hooks
from .ranking import reveal
from .scoring import queue, score
from .services import archive, converting, page_tasks

log = logging.getLogger(__name__)

# Seconds until a message of the sweep expires; the next sweeps send it again. Otherwise repetitions would pile up.
SWEEP_MESSAGE_LIFETIME = 20
# A file received before the deadline gets its row a little later: the request may wait for a thread or the database.
ROWS_MAY_FOLLOW = timedelta(seconds=45)
# A worker is not restarted as deaf earlier than this after its start.
DEAF_AFTER_SECONDS = 120.0
_began = time.monotonic()
# Claims of a worker that is told to stop are released shortly before it is killed, so that no lease has to run out.
RELEASE_AFTER, RELEASE_EVERY = child_processes.seconds_to_stop() - 0.7, 0.2
# Version of the messages. Workers ignore messages of another version; the row is left to newer workers.
SCHEMA = 1
MAX_MISSES = 5
# With this many messages in the broker all workers are awake already.
ENOUGH_WAKE_UPS = 32
COMMAND_SECONDS = 3 * 3600.0
# Seconds after which a process that scores file after file lets other messages in.
WORK_SECONDS = 0.5


# --- a worker's processes ---------------------------------------------------------------------------------------


@worker_process_init.connect
def _start_scorer(**_: object) -> None:
    """Start the scorer before the first file comes, and the thread for duties."""
    queue.on_lease_lost = scoring.stop_scorer
    scoring.start_scorer()
    threading.Thread(target=_look_after_site, args=(report_worker,), name="duties", daemon=True).start()


@worker_ready.connect
def _look_from_pages_worker(**_: object) -> None:
    """Start the thread for duties in the worker of pages too, so that they are done while the other worker is down."""
    if child_processes.current_part() == "pages":
        threading.Thread(target=_look_after_site, name="duties", daemon=True).start()


def _look_after_site(*further: Callable[[], None]) -> None:
    """Do due tasks, and the functions in `further`, every few seconds until the process ends."""
    while True:
        for work in (*further, do_due_tasks):
            try:
                close_old_connections()
                work()
            except Exception:
                log.exception("%s broke off; it is begun again when it is due", work.__name__)
        time.sleep(duties.LOOK_EVERY_SECONDS)


def do_due_tasks() -> None:
    """Run the tasks that are due by the clock; an error in one does not stop the others."""
    for name in duties.begin_due_tasks():
        try:
            app.tasks[name]()
        except Exception:
            log.exception("%s broke off; it is begun again when it is due", name)


def report_worker() -> None:
    """Store that this process is alive, and restart it if it gets no messages."""
    queue.report_worker()
    if time.monotonic() - _began > DEAF_AFTER_SECONDS:
        restart_deaf_worker()


def restart_deaf_worker() -> None:
    """Ask for a restart of this worker if files wait for a minute, no worker scores any, and the broker answers: Celery
    may have lost its connection for good."""
    if queue.log_stuck_queue() and queue_length() is not None:
        child_processes.ask_for_restart("files wait and no worker has any in hand")


@task_failure.connect
def _release_claim_of_failed_task(task_id: str = "", exception: BaseException | None = None, **_: object) -> None:
    """Release the claims of a dead or stopped process at once, not when its lease ends. Runs in the main process.

    Celery may call it twice. The connection is closed, because forks of this process must not inherit an open one.
    """
    if not isinstance(exception, (WorkerLostError, TimeLimitExceeded)):
        return
    try:
        if isinstance(exception, TimeLimitExceeded):
            queue.fail_overtime(task_id, settings.CELERY_TASK_TIME_LIMIT)
        elif held := queue.note_worker_death(task_id):
            wake_workers(score_submission, held.pk, held.competition.ground_truth_id)
    except Exception:
        log.exception("what a dead process held could not be given back; its lease will run out")
    finally:
        if not connection.in_atomic_block:
            connection.close()


@worker_shutting_down.connect
def _release_claims_on_shutdown(**_: object) -> None:
    """Start to release claims when `up` stops this worker. Runs in the main process, and only under `up`: other
    supervisors wait until a worker has finished."""
    if child_processes.current_part() == "worker":
        threading.Thread(target=_release_claims_repeatedly, daemon=True).start()


def _release_claims_repeatedly() -> None:
    """Release the claims again and again until the end, because a process that lost its file may claim it once more."""
    time.sleep(RELEASE_AFTER)
    while True:
        release_all_claims()
        time.sleep(RELEASE_EVERY)


def release_all_claims() -> None:
    """Release all claims of this worker's processes without counting a try."""
    try:
        for request in list(active_requests):
            queue.put_back_woken_by(request.id)
    except Exception:
        log.exception("what is in hand could not be put back; its lease will run out")
    finally:
        if not connection.in_atomic_block:
            connection.close()


# --- tasks ------------------------------------------------------------------------------------------------------


def has_known_schema(task: Any) -> bool:
    """Whether a message has the version that this worker knows; others are ignored and logged, their rows stay."""
    schema = str((task.request.headers or {}).get("schema", SCHEMA))
    if schema == str(SCHEMA):
        return True
    log.warning("a message of another form (%r) was left alone; this worker knows %s", schema, SCHEMA)
    return False


@app.task(name="leaderboard.competitions.tasks.score_submission", bind=True)
def score_submission(self: Any, submission_id: str, ground_truth_id: int) -> None:
    """Score waiting files in the order of the queue for `WORK_SECONDS`; the IDs only tell what caused the wake-up.

    If files still wait then, it sends itself another wake-up, so that other messages get their turn. It gives up after
    `MAX_MISSES` turns that other workers had claimed already.
    """
    if not has_known_schema(self):
        return
    enough, missed = time.monotonic() + WORK_SECONDS, 0
    for turn in queue.turns_of_submissions():
        scored = score.score_turn(turn, self.request.id)
        for file in scored:
            _log_scored(file)
        statuses = {file.status for file in scored if file.status != "busy"}
        missed = 0 if statuses else missed + 1
        if "slow" in statuses:
            score_slow_files()
        if "waiting" in statuses or missed == MAX_MISSES:
            return
        if statuses & {"stale", "died"} or time.monotonic() > enough:
            last = turn[-1]
            ids = last.pk, last.competition.ground_truth_id
            wake_workers(score_submission, *ids, expires=SWEEP_MESSAGE_LIFETIME)
            return


def _log_scored(file: score.FileOfTurn) -> None:
    """Log status and seconds of a file."""
    if file.status == "busy":
        return
    with bound_contextvars(
        competition=file.submission.competition.slug,
        submission=str(file.submission.pk),
        ground_truth=file.ground_truth.pk,
    ):
        log.info("scored", extra={"status": file.status, "seconds": round(file.seconds, 3)})


@app.task(name="leaderboard.competitions.tasks.rescore_candidate", bind=True)
def rescore_candidate(self: Any, ground_truth_id: int) -> None:
    """Score all files with a candidate ground truth, a batch per message."""
    if not has_known_schema(self):
        return
    with bound_contextvars(ground_truth=ground_truth_id):
        if score.rescore_batch(ground_truth_id):
            wake_workers(rescore_candidate, ground_truth_id)


@app.task(name="leaderboard.competitions.tasks.score_preview", bind=True)
def score_preview(self: Any, ground_truth_id: int) -> None:
    """Score the sample submission of a ground truth for a student preview."""
    if not has_known_schema(self):
        return
    with bound_contextvars(ground_truth=ground_truth_id):
        score.score_preview(ground_truth_id)


@app.task(name="leaderboard.competitions.tasks.answer_page", bind=True)
def answer_page(self: Any) -> None:
    """Process the next form that waits for a worker."""
    if has_known_schema(self) and page_tasks.answer_next_task(self.request.id) and page_tasks.waiting_tasks():
        wake_workers(answer_page, expires=SWEEP_MESSAGE_LIFETIME)


@app.task(name="leaderboard.competitions.tasks.preview_conversion", bind=True)
def preview_conversion(self: Any, submission_id: str) -> None:
    """Compute the preview of a conversion for a file that cannot be scored."""
    if has_known_schema(self):
        converting.preview_conversion(submission_id)


@app.task(name="leaderboard.competitions.tasks.sweep")
def sweep() -> None:
    """Wake workers for work that waits and has no worker; stops until the next sweep if the broker takes no message."""
    waiting, ground_truths = score.sweep_queue()
    page_tasks.fail_spent_tasks()
    if queue.next_slow_file():
        score_slow_files()
    wake_ups: list[tuple[Any, tuple[object, ...]]] = [(task, ()) for due in hooks.due_tasks() for task in due]
    wake_ups += [(score_submission, pair) for pair in waiting[:ENOUGH_WAKE_UPS]] + [
        (rescore_candidate, (ground_truth,)) for ground_truth in ground_truths
    ]
    wake_ups += [(score_preview, (ground_truth,)) for ground_truth in score.unfinished_previews()]
    wake_ups += [(answer_page, ()) for _task in page_tasks.waiting_tasks()]
    for task, ids in wake_ups:
        if not wake_workers(task, *ids, expires=SWEEP_MESSAGE_LIFETIME):
            return


@app.task(name="leaderboard.competitions.tasks.reveal_due")
def reveal_due() -> None:
    """Reveal private boards whose deadline has passed and whose files are all scored."""
    reveal.reveal_due_competitions(database_now() - ROWS_MAY_FOLLOW)


@app.task(name="leaderboard.competitions.tasks.clear_sessions")
def clear_sessions() -> None:
    """Nightly: delete expired sessions (in another process) with their IP addresses, old answered forms, and
    competitions whose time in the bin is over."""
    archive.empty_bin(database_now())
    personal_data.forget_ended_sessions(database_now())
    page_tasks.remove_old_tasks(database_now())
    run_command("clearsessions")


def score_slow_files() -> None:
    """Score slow files in another process, one at a time, while this one goes on with the queue.

    If that process ends early, the next sweep starts it again.
    """
    if "score_slow_files" not in {thread.name for thread in threading.enumerate()}:
        run_command("score_slow_files")


def run_command(*command: str) -> None:
    """Start a management command in another process, which ends with this one or after `COMMAND_SECONDS`."""
    words, here = [sys.executable, "-m", "leaderboard", *command], os.getpid()

    def run() -> None:
        try:
            end = partial(child_processes.die_with, here)
            subprocess.run(words, cwd=folders.ROOT, check=False, preexec_fn=end, timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            log.exception("%s took too long and was ended", command[0])

    threading.Thread(target=run, name=command[0], daemon=True).start()


# --- wake-ups -------------------------------------------------------------------------------------------------


def wake_workers(task: Any, *arguments: object, expires: float | None = None) -> bool:
    """Send a wake-up now; False if the broker does not take it. The sweep repeats lost ones."""
    ids = [a if isinstance(a, int) else str(a) for a in arguments]
    try:
        if is_broker_left_alone() and not expires:  # requests do not wait for the broker; the sweep may
            raise BrokerError("it gave no answer a moment ago")
        task.apply_async(args=ids, expires=expires, headers={"schema": SCHEMA})
    except Exception as error:
        if isinstance(error, BrokerError) and not is_broker_left_alone():
            leave_broker_alone()
        log.warning("the broker took no message (%s); the sweep will find the row", error)
        return False
    return True


def are_all_workers_awake() -> bool:
    """Whether so many wake-ups wait that another one is not needed: a worker goes on until no file waits."""
    length = None if is_broker_left_alone() else queue_length()
    if length is None:
        leave_broker_alone()
    return (length or 0) >= ENOUGH_WAKE_UPS


def wake_workers_after_commit(task: Any, *arguments: object) -> None:
    """Send a wake-up after the transaction is committed."""
    transaction.on_commit(lambda: wake_workers(task, *arguments))
