"""The waiting process, `python -m leaderboard.scorer.file_processes PARENT DESCRIPTOR`, and what is forked from it.

It has read no file, so what it forks is clean. It ends with its parent, and everything below ends with it.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

import metrics
from leaderboard.common import child_processes
from metrics.sandbox.isolation import prepare_seal
from metrics.sandbox.runner import set_outside_runner

from . import page_jobs
from .messages import ConnectionEnded, receive_request, send_message
from .outside_metrics import ask_worker
from .process_limits import confine, confine_truth, set_soft_limit
from .scorer_answer import failure_of, measure_submission_file
from .truth_spec import TruthSpec

PRELOADED = ("numpy", "pyarrow", "pyarrow.csv", "pyarrow.compute")
WARM_ROWS = 200_000

Work = Callable[[Connection, dict[str, Any]], dict[str, Any]]


def serve(client: Connection) -> None:
    """Fork a truth process for each ground truth that the client names, and a file process for each job."""
    for name in PRELOADED:
        import_module(name)
    prepare_seal()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a truth process that ends leaves no zombie
    freeze_objects()
    me = os.getpid()
    send_message(client, {"ready": True})
    while True:
        request, answers = receive_request(client)
        with answers:
            if "job" in request:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                run_file_process(client, answers, request, page_jobs.run_job_here)
            elif not os.fork():
                client.close()
                child_processes.die_with(me)
                with suppress(ConnectionEnded):
                    serve_truth(answers, request)
                os._exit(0)


def serve_truth(client: Connection, request: dict[str, Any]) -> None:
    """Read the truth, say so, and fork a file process for each submission until the client hangs up."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    spec, seconds = TruthSpec(**request["spec"]), float(request["seconds"])
    try:
        for key in spec.metric_keys:
            metrics.get(key)  # one from outside that was not inspected yet is inspected now, in a process of its own
        tables = [Path(one) for one in request["tables"]]  # here file processes get folders for such metrics
        confine_truth(request["memory_mb"], read=[Path(one) for one in (spec.truth, *spec.folders)], write=tables)
        with processor_seconds(seconds):
            truth = spec.prepared()
    except BaseException as error:
        send_message(client, failure_of(error))
        return
    freeze_objects()
    send_message(client, {"ready": True})
    is_warm = False
    while True:
        request, answers = receive_request(client)
        with answers:
            run_file_process(client, answers, request, partial(measure_one_file, truth))
        if not is_warm:
            warm_up(truth, seconds)  # after the first answer, so that no file waits for it
            is_warm = True


def run_file_process(client: Connection, answers: Connection, request: dict[str, Any], work: Work) -> None:
    """Fork a process that answers the client itself, and report to the client how it ended.

    It ends when it has answered, when its time is over, and when the client hangs up or sends the next request.
    """
    life, held = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(life)
        client.close()
        in_file_process(answers, request, work)
    try:
        os.close(held)  # so that its end is the end of the pipe
        wait([life, client], request["seconds"])
    finally:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        os.close(life)
    with suppress(ConnectionEnded):
        send_message(answers, {"ended": os.waitstatus_to_exitcode(status)})


def in_file_process(answers: Connection, request: dict[str, Any], work: Work) -> NoReturn:
    """Read one file and answer."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for one in (0, 1, 2):
            os.dup2(nothing, one)
        os.close(nothing)
        send_message(answers, {"begun": os.getpid()})
        send_message(answers, work(answers, request))
    except BaseException as error:
        with suppress(BaseException):
            send_message(answers, failure_of(error))
        os._exit(1)
    os._exit(0)


def measure_one_file(truth: metrics.Truth, answers: Connection, request: dict[str, Any]) -> dict[str, Any]:
    """Measure one submission in this file process."""
    file, scratch = Path(request["file"]), [Path(one) for one in request["scratch"]]
    if scratch:
        set_outside_runner(ask_worker(answers, scratch[0]))
    confine(request["seconds"], request["memory_mb"], read=[file], write=scratch)
    return measure_submission_file(truth, file, request["memory_mb"])


def warm_up(truth: metrics.Truth, seconds: float) -> None:
    """Measure a file that knows nothing, so that what follows from the truth alone is there before the next fork."""
    with suppress(Exception), processor_seconds(seconds):
        _ = truth.part_answers
        truth.buckets("")
        if truth.rows <= WARM_ROWS and not truth.metric.is_outside:
            truth.evaluate(truth.sample_submission(), uncertainty=True, with_parts=True)
    freeze_objects()


def freeze_objects() -> None:
    """Keep the collector away from all objects: it writes into each of them, and so copies their pages in each fork."""
    gc.collect()
    gc.freeze()


@contextmanager
def processor_seconds(seconds: float) -> Iterator[None]:
    """Within the block the kernel ends this process after so many more seconds of the processor."""
    set_soft_limit("RLIMIT_CPU", math.ceil(time.process_time() + seconds))
    try:
        yield
    finally:
        set_soft_limit("RLIMIT_CPU", resource.RLIM_INFINITY)


def main() -> None:
    parent, descriptor = map(int, sys.argv[1:])
    child_processes.die_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of the memory would hold a truth
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started all
    with suppress(ConnectionEnded):
        serve(Connection(descriptor))


if __name__ == "__main__":
    main()
