"""Celery carries wake-ups for workers; the database is the queue of record."""

from __future__ import annotations

import gc
import logging
import logging.config
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from typing import Any

import django
from celery import Celery
from celery.signals import (
    import_modules,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutting_down,
)
from django.conf import settings
from django.db import close_old_connections, connection

from leaderboard.common import child_processes

log = logging.getLogger(__name__)

POOL_CHECK_SECONDS = 0.5
QUEUE = "celery"
# Tasks that a page waits for go here, so that they and the scoring of files do not wait for each other.
PAGES_QUEUE = "pages"
PAGES_THREADS = 4

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")


@setup_logging.connect
def _use_site_logging(**_: object) -> None:
    """Set up the site's logging. Celery sets up none while this signal has a receiver."""
    logging.config.dictConfig(settings.LOGGING)


@import_modules.connect
def _set_up_django(**_: object) -> None:
    django.setup()


# Celery's own Django fixup closes the database after every task. Closing the last connection to SQLite writes its log
# back, which took four times as long as scoring a file; connections stay open here, as they do between web requests.
app = Celery("leaderboard", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
# Tasks of `PAGES_QUEUE`, also those that wait for other servers.
FOR_PAGES = {
    "leaderboard.accounts.tasks.fetch_provider_metadata": 0,
    "leaderboard.competitions.tasks.answer_page": 6,
    "leaderboard.submissions.tasks.preview_conversion": 6,
    "leaderboard.notifications.tasks.send_due_emails": 0,
    "leaderboard.lti.tasks.ask_platforms": 0,
}
"""Tasks with their priority, 0 before 9: an e-mail goes in seconds however many forms wait."""
app.conf.task_routes = {name: {"queue": PAGES_QUEUE, "priority": FOR_PAGES[name]} for name in FOR_PAGES}
if child_processes.current_part() not in ("worker", "pages"):
    # A process that only sends wake-ups waits less for a frozen broker: it tries twice, so an upload is answered
    # within 3 s. A worker listens for a second at a time and needs more than that.
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, "socket_timeout": 1.0}
app.autodiscover_tasks(
    [
        f"leaderboard.{name}"
        for name in ("accounts", "boards", "competitions", "lti", "notifications", "operations", "submissions")
    ]
)
app.autodiscover_tasks(["leaderboard.submissions"], related_name="worker")


@task_prerun.connect
@task_postrun.connect
def _drop_broken_connections(**_: object) -> None:
    if not connection.in_atomic_block:  # a caller that runs the task in its transaction goes on with it
        close_old_connections()


@worker_init.connect
def _acknowledge_without_receipt(**_: object) -> None:
    """Have kombu count a message as acknowledged even if the broker does not take the acknowledgement.

    Else a worker, which takes one message at a time, would never listen again after the broker died in that moment."""
    from kombu.transport import redis, virtual

    class QoS(redis.QoS):
        def ack(self, delivery_tag: str) -> None:
            try:
                super().ack(delivery_tag)
            except Exception:
                virtual.QoS.ack(self, delivery_tag)
                raise

    redis.Channel.QoS = QoS


@worker_process_init.connect
def _exit_with_worker(**_: object) -> None:
    child_processes.die_with_leader()
    child_processes.start_heartbeat()


@worker_ready.connect
def _check_processes_often(sender: Any = None, **_: object) -> None:
    """Look for dead processes of the pool more often than Celery does, every five seconds, so that no file waits."""
    hub: Any = getattr(sender, "hub", None)
    pool: Any = getattr(getattr(sender, "pool", None), "_pool", None)
    if hub is not None and hasattr(pool, "maintain_pool"):
        hub.call_repeatedly(POOL_CHECK_SECONDS, pool.maintain_pool)
        hub.call_repeatedly(POOL_CHECK_SECONDS, _check_pages_worker)


@worker_ready.connect
def _start_heartbeat(**_: object) -> None:
    child_processes.start_heartbeat()


def run_workers(processes: int) -> None:
    """Run the workers until they are told to stop: `processes` that score files, and one for the tasks of pages.

    All are forks of this process after it has loaded the site, so that they share 40 MB each."""
    global _pages_worker
    app.loader.import_default_modules()
    # Exempt all present objects from garbage collection, which writes into each and so copies memory in each fork.
    gc.collect()
    gc.freeze()
    leader = os.getpid()
    _pages_worker = os.fork()
    if not _pages_worker:
        child_processes.die_with(leader)
        os.environ[child_processes.PART_VARIABLE] = "pages"
        # In threads: a process more for each would take 40 MB.
        _run(hostname="pages@leaderboard", queues=[PAGES_QUEUE], pool="threads", concurrency=PAGES_THREADS)
    _run(hostname="worker@leaderboard", queues=[QUEUE], pool="prefork", concurrency=processes)


_pages_worker = 0


def _check_pages_worker() -> None:
    """Have `up` start all workers again when the one for pages died."""
    with suppress(ChildProcessError):
        if os.waitpid(_pages_worker, os.WNOHANG)[0]:
            child_processes.ask_for_restart("the worker for pages ended")


@worker_shutting_down.connect
def _stop_pages_worker(sig: str, **_: object) -> None:
    if _pages_worker:
        with suppress(ProcessLookupError):
            os.kill(_pages_worker, signal.SIGTERM)


def _run(**options: Any) -> None:
    """A worker without Celery's command line, which would take 10 MB more."""
    quiet: dict[str, Any] = {"loglevel": "WARNING", "quiet": True}
    worker = app.Worker(**quiet, without_gossip=True, without_mingle=True, without_heartbeat=True, **options)
    worker.start()
    if _pages_worker:
        with suppress(ChildProcessError):
            os.waitpid(_pages_worker, 0)
    sys.exit(worker.exitcode)


def queue_length() -> int | None:
    """Number of wake-ups in the broker; None if it does not connect and answer within half a second each."""
    import redis  # here, because a web server starts faster without it

    try:
        return int(_broker(settings.REDIS_URL).llen(QUEUE))
    except (redis.RedisError, OSError) as error:
        log.warning("the broker does not answer: %s", error)
        return None


@cache
def _broker(address: str) -> Any:
    """A client whose connections stay open: one that the broker closed meanwhile is opened once more."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    again = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
    return redis.Redis.from_url(address, socket_timeout=0.5, socket_connect_timeout=0.5, retry=again)
