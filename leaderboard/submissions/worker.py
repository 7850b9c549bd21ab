"""A worker's processes: the scorer and the thread for scheduled tasks of each, the release of claims when one ends."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from celery.exceptions import TimeLimitExceeded, WorkerLostError
from celery.signals import task_failure, worker_init, worker_process_init, worker_ready, worker_shutting_down
from celery.worker.state import active_requests
from django.conf import settings
from django.db import close_old_connections, connection

from leaderboard.celery import app
from leaderboard.common import child_processes
from leaderboard.common.broker import queue_length
from leaderboard.common.claims import end_claims_of_place
from leaderboard.competitions import duties, wake_ups
from leaderboard.competitions.models import PageTask, Submission
from leaderboard.scoring import client

from . import claims, queue_health

log = logging.getLogger(__name__)

# A worker is not restarted as deaf earlier than this after its start.
DEAF_AFTER_SECONDS = 120.0
_began = time.monotonic()
# Claims of a worker that is told to stop are released shortly before it is killed, so that no lease has to run out.
RELEASE_AFTER, RELEASE_EVERY = child_processes.seconds_to_stop() - 0.7, 0.2


@worker_init.connect
def _end_claims_of_dead_worker(**_: object) -> None:
    """End the leases of the last worker of this `up`, all of whose processes were killed before this one was started.

    Runs before the first fork, which must not inherit a connection.
    """
    if child_processes.current_part() != "worker":
        return
    try:
        for rows in (Submission.objects.all(), PageTask.objects.all()):
            end_claims_of_place(rows)
    except Exception:
        log.exception("what the last worker held could not be given back; its leases will run out")
    finally:
        connection.close()


@worker_process_init.connect
def _start_scorer(**_: object) -> None:
    """Start the scorer before the first file comes, and the thread for duties."""
    claims.on_lease_lost = client.stop_scorer
    client.start_scorer()
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
    queue_health.report_worker()
    if time.monotonic() - _began > DEAF_AFTER_SECONDS:
        restart_deaf_worker()


def restart_deaf_worker() -> None:
    """Ask for a restart of this worker if files wait for a minute, no worker scores any, and the broker answers: Celery
    may have lost its connection for good."""
    if queue_health.log_stuck_queue() and queue_length() is not None:
        child_processes.ask_for_restart("files wait and no worker has any in hand")


@task_failure.connect
def _release_claim_of_failed_task(task_id: str = "", exception: BaseException | None = None, **_: object) -> None:
    """Release the claims of a dead or stopped process at once, not when its lease ends. Runs in the main process.

    Celery may call it twice. The connection is closed, because forks of this process must not inherit an open one.
    """
    if not isinstance(exception, (WorkerLostError, TimeLimitExceeded)):
        return
    try:
        is_overtime = isinstance(exception, TimeLimitExceeded)
        failure = claims.TOO_LONG % {"seconds": f"{settings.CELERY_TASK_TIME_LIMIT:g}"} if is_overtime else ""
        if waiting := claims.end_claims_of_worker(task_id, failure):
            wake_ups.wake_workers(wake_ups.SCORE_NEXT_SUBMISSIONS, waiting.pk, waiting.competition.ground_truth_id)
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
            for claim in claims.claims_of_worker(request.id):
                claim.release()
    except Exception:
        log.exception("what is in hand could not be put back; its lease will run out")
    finally:
        if not connection.in_atomic_block:
            connection.close()
