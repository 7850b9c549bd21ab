"""The waiting process, `python -m leaderboard.scoring.file_processes PARENT DESCRIPTOR`, and what is forked from it.

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

import metrics
from leaderboard.common import child_processes
from metrics.sandbox.isolation import prepare_seal
from metrics.sandbox.runner import set_outside_runner

from . import page_jobs
from .messages import (
    ConnectionEnded,
    receive_connection,
    receive_file,
    receive_message,
    send_message,
    send_with_connection,
)
from .outside_metrics import ask_worker
from .process_limits import REUSED_WITHIN_SECONDS, confine, confine_forked, confine_truth, set_soft_limit
from .scorer_answer import failure_of, measure_submission_file
from .truth_spec import TruthSpec

PRELOADED = ("numpy", "pyarrow", "pyarrow.csv", "pyarrow.compute")
WARM_ROWS = 200_000


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
        request = receive_message(client)
        with receive_connection(client) as answers:
            if "job" in request:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                do_job(client, answers, request)
            elif not os.fork():
                client.close()
                child_processes.die_with(me)
                with suppress(ConnectionEnded):
                    serve_truth(answers, request)
                os._exit(0)


def do_job(client: Connection, answers: Connection, request: dict[str, Any]) -> None:
    """Fork a process that does a job of a page and answers itself, and report how it ended."""

    def work() -> Iterator[dict[str, Any]]:
        close_standard_streams()
        send_message(answers, {"begun": os.getpid()})
        yield page_jobs.run_job_here(request)

    life, held = os.pipe()
    pid = fork_file_process(client, answers, work())
    os.close(held)  # so that its end is the end of the pipe
    wait([life, client], request["seconds"])
    status = end_process(pid)
    os.close(life)
    with suppress(ConnectionEnded):
        send_message(answers, {"ended": status})


def serve_truth(client: Connection, request: dict[str, Any]) -> None:
    """Read the truth, say so, and fork a file process whenever the client asks for the next one, until it hangs up.

    The client asks while it writes the result before down, so that no file waits for a fork or a seal.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    close_standard_streams()
    spec, seconds = TruthSpec(**request["spec"]), float(request["seconds"])
    try:
        for key in spec.metric_keys:
            metrics.get(key)  # one from outside that was not inspected yet is inspected now, in a process of its own
        tables = [Path(one) for one in request["tables"]]  # here file processes get folders for such metrics
        confine_truth(request["memory_mb"], read=[Path(spec.truth)], write=tables)
        with processor_seconds(seconds):
            truth = spec.prepared()
    except BaseException as error:
        send_message(client, failure_of(error))
        return
    freeze_objects()
    send_message(client, {"ready": True})
    send_file_process(client, truth, request)
    is_warm = False
    while True:
        message = receive_message(client)
        if "over" in message:
            send_message(client, {"ended": end_process(message["over"]), "pid": message["over"]})
            continue
        if not is_warm:
            warm_up(truth, seconds)  # after the first answer, so that no file waits for it
            is_warm = True
        send_file_process(client, truth, request)


def send_file_process(client: Connection, truth: metrics.Truth, request: dict[str, Any]) -> None:
    """Fork a file process and send the client a connection to it."""
    ours, theirs = Pipe()
    with theirs:
        pid = fork_file_process(client, ours, measure_files(truth, ours, theirs, request))
        ours.close()
        send_with_connection(client, {"begun": pid}, theirs)


def fork_file_process(client: Connection, answers: Connection, work: Iterator[dict[str, Any]]) -> int:
    """Fork a process that does this work and sends what it gives; the number of the process."""
    pid = os.fork()
    if not pid:
        client.close()
        in_file_process(answers, work)
    return pid


def end_process(pid: int) -> int:
    """End a process forked from this one, if it has not ended yet; how it had ended."""
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def in_file_process(answers: Connection, work: Iterator[dict[str, Any]]) -> NoReturn:
    """Do the work and answer."""
    try:
        for answer in work:
            send_message(answers, answer)
    except BaseException as error:
        with suppress(BaseException):
            send_message(answers, failure_of(error))
        os._exit(1)
    os._exit(0)


def measure_files(
    truth: metrics.Truth, client: Connection, clients: Connection, limits: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """In a file process: be sealed, wait for a submission, measure it, and wait for another one of the same owner. A
    process that has a metric from outside measured is sealed when its folder is known, and gets one file. `clients` is
    the client's end of the connection."""
    clients.close()
    needs_folder = bool(limits["tables"])
    if not needs_folder:
        confine_forked(limits["seconds"] + REUSED_WITHIN_SECONDS, limits["memory_mb"])
    while True:
        request = receive_message(client)
        if needs_folder:
            scratch = Path(request["scratch"])
            set_outside_runner(ask_worker(client, scratch))
            confine(limits["seconds"], limits["memory_mb"], read=[], write=[scratch])
        memory_mb = request["memory_mb"]
        set_soft_limit("RLIMIT_DATA", memory_mb * 1_048_576)
        set_soft_limit("RLIMIT_CPU", math.ceil(time.process_time() + request["seconds"]))
        yield measure_submission_file(truth, receive_file(client), memory_mb)


def close_standard_streams() -> None:
    """What a library writes there is for nobody."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for one in (0, 1, 2):
        os.dup2(nothing, one)
    os.close(nothing)


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
