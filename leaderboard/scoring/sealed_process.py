"""The waiting process, `python -m leaderboard.scoring.sealed_process PARENT DESCRIPTOR`. It forks a sealed process for
each ground truth, which scores file after file, and for each job of a page.

It has read no file, so its forks are clean. It ends with its parent, and all its forks with it.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import sys
import time
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from leaderboard.common import child_processes

from . import page_jobs
from .messages import Channel, ConnectionEnded
from .process_limits import confine_process
from .scorer_answer import TruthSpec, failure_of, score_bytes

PRELOADED = ("numpy", "numpy.random", "pyarrow", "pyarrow.csv", "pyarrow.compute")

REAP_SECONDS = 10.0
"""How often the waiting process reaps those that ended by themselves."""

Endings = dict[int, tuple[int, float]]
"""Process number → its exit code (negative for a signal) and the seconds of processor time it used."""


# --- the waiting process ----------------------------------------------------------------------------------------


def serve_client(client: Channel) -> None:
    """Start a process for each ground truth and each job that the client names, and end those that it names."""
    for name in PRELOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # otherwise the collector writes into each object, which copies memory pages in each fork
    endings: Endings = {}
    client.send({"ready": True})
    while True:
        while not client.has_something(REAP_SECONDS):
            note_endings(endings)
        request = client.receive()
        if "end" in request:
            note_endings(endings)
            pid = int(request["end"])
            status, seconds = endings.pop(pid) if pid in endings else end_process(pid)
            client.send({"status": status, "processor_seconds": seconds})
        else:
            with closing(client.receive_channel()) as asker:
                client.send({"begun": start_process(client, asker, request)})


def start_process(client: Channel, asker: Channel, request: dict[str, Any]) -> int:
    """Fork a process that does the request and sends its answers to `asker`; returns its pid."""
    waiting = os.getpid()
    pid = os.fork()
    if not pid:
        child_processes.die_with(waiting)
        client.close()
        work_and_exit(asker, request)
    return pid


def end_process(pid: int) -> tuple[int, float]:
    """Kill and reap a process forked from this one; returns its exit code (negative for a signal) and the seconds of
    processor time it used."""
    os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def note_endings(endings: Endings) -> None:
    """Reap the processes that ended by themselves and store how they ended, so that none stays a zombie."""
    with suppress(ChildProcessError):
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return
            endings[pid] = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


# --- in the sealed process --------------------------------------------------------------------------------------


def work_and_exit(asker: Channel, request: dict[str, Any]) -> NoReturn:
    """Score files or do one job, then exit. Unexpected errors are reported without any value of a table."""
    close_standard_streams()
    try:
        if "job" in request:
            asker.send(page_jobs.run_job_here(request))
        else:
            score_files(asker, request)
    except ConnectionEnded:
        pass
    except BaseException as error:
        with suppress(BaseException):
            asker.send(failure_of(error))
        os._exit(1)
    os._exit(0)


def score_files(asker: Channel, request: dict[str, Any]) -> None:
    """Read the ground truth once, then score one file after another until none has come for `idle_seconds`.

    The process is sealed before anything is read: of all files of the site it can open only its own ground truth.
    """
    spec, memory_mb = TruthSpec(**request["spec"]), int(request["memory_mb"])
    confine_process(memory_mb, read=[Path(spec.truth)])
    limit_processor_time(request["seconds"])
    truth = spec.prepared()
    gc.collect()
    gc.freeze()
    asker.send({"ready": True})
    while asker.has_something(request["idle_seconds"]):
        file = asker.receive()
        limit_processor_time(file["seconds"])
        data = asker.read(file["size"])
        asker.send({"stage": "reading"})
        asker.send(score_bytes(truth, data, memory_mb, when_read=lambda: asker.send({"stage": "computing"})))


def limit_processor_time(seconds: float) -> None:
    """Have the kernel end this process after `seconds` more of processor time; may be called again."""
    with suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (max(1, round(time.process_time() + seconds)), hard))


def close_standard_streams() -> None:
    """Redirect standard streams to nothing, so that output of libraries is dropped."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for one in (0, 1, 2):
        os.dup2(nothing, one)
    os.close(nothing)


def main() -> None:
    parent, descriptor = map(int, sys.argv[1:])
    child_processes.die_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would contain a truth
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started all
    with suppress(ConnectionEnded):
        serve_client(Channel(socket.socket(fileno=descriptor)))


if __name__ == "__main__":
    main()
