"""The processes of a worker: forks that score files, and one for the tasks of pages."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from celery.signals import (
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutting_down,
)
from django.db import close_old_connections

from leaderboard.celery import PAGES_QUEUE, app
from leaderboard.common import child_processes
from leaderboard.common.broker import QUEUE

POOL_CHECK_SECONDS = 0.5
PAGES_THREADS = 4


task_prerun.connect(close_old_connections)
task_postrun.connect(close_old_connections)


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
