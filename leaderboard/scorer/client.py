"""The site's side: starts the waiting process, asks it for answers, watches the clock."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from . import outside_metrics
from .job_slots import JobFailed, JobKind, JobSlot, JobTimedOut
from .messages import (
    ConnectionEnded,
    MalformedMessage,
    PeerGone,
    close_connection,
    receive_connection,
    receive_message,
    send_file,
    send_message,
    send_request,
)
from .process_limits import clean_environment
from .scorer_answer import ScorerAnswer, read_answer
from .truth_spec import MeasuringLimits, TruthSpec

MOST_TRUTHS = 8
"""Ground truths that stay in memory."""

GRACE = 5.0
"""Seconds after which a scorer that did not keep the time itself is ended from here."""

_START = 60.0
_PYTHON = (sys.executable, "-s", "-B", "-X", "utf8")
_PROGRAM = ["-m", "leaderboard.scorer.file_processes"]
_ROOT = Path(__file__).resolve().parent.parent.parent


class ScorerDied(JobFailed):
    """The file process ended without an answer, and not for want of time."""


class ScorerInterrupted(JobFailed):
    """`stop_scorer` was called."""


class Scorer:
    """A waiting process with everything below it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.was_stopped = False
        self.truths: OrderedDict[str, TruthProcess] = OrderedDict()
        self.connection, theirs = Pipe()
        self._is_ready = False
        with theirs:
            self.process = subprocess.Popen(
                [*_PYTHON, *_PROGRAM, str(self.owner), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=_ROOT,
                env=clean_environment(),
            )

    @property
    def is_alive(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def wait_until_ready(self) -> None:
        """Its libraries take a moment, which is no time of a file. Raises `PeerGone`."""
        if not self._is_ready:
            with self.killed_at(time.monotonic() + _START, self.connection):
                try:
                    receive_message(self.connection)
                except (ConnectionEnded, MalformedMessage) as error:
                    raise PeerGone from error
            self._is_ready = True

    def truth_process(self, spec: TruthSpec, limits: MeasuringLimits, until: float) -> TruthProcess | ScorerAnswer:
        """The process of a ground truth, or why this cannot be read. Raises `PeerGone`, `ConnectionEnded`."""
        if spec.key not in self.truths:
            request = {
                "spec": asdict(spec),
                "seconds": until - time.monotonic(),
                "memory_mb": limits.memory_mb,
                "tables": [tempfile.gettempdir()] if outside_metrics.uses_outside_metric(spec) else [],
            }
            connection = send_request(self.connection, request)
            with self.killed_at(until, connection):
                message = receive_message(connection)
            if "ready" not in message:
                return read_answer(message)
            self.truths[spec.key] = TruthProcess(connection)
            while len(self.truths) > MOST_TRUTHS:
                _, oldest = self.truths.popitem(last=False)
                oldest.connection.close()  # which ends the process
        self.truths.move_to_end(spec.key)
        return self.truths[spec.key]

    @contextmanager
    def killed_at(self, until: float, *connections: Connection) -> Iterator[list[Connection]]:
        """Within the block: when the time is over all is ended, because no process below watches the time, and so are
        these connections, and those that the block adds."""
        ended = list(connections)

        def end() -> None:
            self.kill()
            for connection in ended:
                with suppress(OSError):  # it was closed already
                    close_connection(connection)

        timer = threading.Timer(max(0.0, until - time.monotonic()), end)
        timer.daemon = True
        timer.start()
        try:
            yield ended
        finally:
            timer.cancel()
            timer.join()

    def kill(self) -> None:
        """End the process; the kernel, or the ends of their connections, end what is below."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End it and let go of everything; only the latter where another process started it."""
        for connection in (self.connection, *(truth.connection for truth in self.truths.values())):
            connection.close()
        if self.owner == os.getpid():
            self.kill()
            self.process.wait()
        else:
            self.process.returncode = 0  # not ours to wait for


class TruthProcess:
    """The process of a ground truth, which has the next file process ready."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def next_file_process(self) -> tuple[Connection, int]:
        """The connection to it, and its number. Raises `PeerGone`."""
        while True:
            try:
                message = receive_message(self.connection)
                if "begun" not in message:
                    continue  # how the one before had ended
                connection = receive_connection(self.connection)
            except (ConnectionEnded, MalformedMessage) as error:
                raise PeerGone from error
            if not connection.poll():
                return connection, int(message["begun"])
            connection.close()  # somebody ended it while it waited

    def end(self, pid: int) -> None:
        """End this file process, if it has not ended yet. Raises `ConnectionEnded`."""
        send_message(self.connection, {"over": pid})

    def status(self) -> int:
        """How the file process that was given last had ended. Raises `ConnectionEnded`, `MalformedMessage`."""
        return int(receive_message(self.connection)["ended"])


# --- jobs of the site: a scorer for each --------------------------------------------------------------------------


def run_job(job: str, arguments: dict[str, Any], kind: JobKind, place: JobSlot, memory_mb: int) -> dict[str, Any]:
    """Have a job done in a process of its own. Raises `JobFailed`, `JobTimedOut`."""
    request = {
        "job": job,
        "arguments": arguments,
        "seconds": kind.kill_after,
        "processor_seconds": kind.seconds,
        "memory_mb": memory_mb,
        "niceness": kind.niceness,
    }
    scorer = Scorer()
    try:
        scorer.wait_until_ready()
        until = time.monotonic() + kind.kill_after
        with send_request(scorer.connection, request) as answers, scorer.killed_at(until + GRACE, answers):
            place.wait_for(answers, int(receive_message(answers)["begun"]))
            message = receive_message(answers)
    except (ConnectionEnded, MalformedMessage) as error:
        raise JobFailed(f"{job} ended without an answer") from error
    finally:
        scorer.close()
    if "ended" in message:
        raise _reason(job, message["ended"], until)
    if "answer" not in message:
        raise JobFailed(f"{job} failed: {message.get('failure')} {message.get('details', '')}")
    answer: dict[str, Any] = message["answer"]
    return answer


# --- submissions: one scorer for as long as the worker lives ------------------------------------------------------

_running: list[Scorer] = []
_place = threading.Lock()


def measure_file(spec: TruthSpec, file: Path, limits: MeasuringLimits) -> ScorerAnswer:
    """Measure one submission. Raises `ScorerDied`, `JobTimedOut` and, after `stop_scorer`, `ScorerInterrupted`."""
    with _place:
        for _ in range(2):
            try:
                return _measure(_started_scorer(), spec, file, limits)
            except PeerGone:
                if _was_stopped():
                    raise ScorerInterrupted from None
                close_scorer()
        raise ScorerDied("the scorer does not stay alive")


def start_scorer() -> None:
    """Have the scorer start now, so that no file waits for its libraries later."""
    with _place:
        _started_scorer()


def stop_scorer() -> None:
    """From another thread: end everything that is being measured; `measure_file` raises `ScorerInterrupted`."""
    for scorer in _running:
        scorer.was_stopped = True
        scorer.kill()


@atexit.register
def close_scorer() -> None:
    """End the scorer; the next file starts another one."""
    while _running:
        _running.pop().close()


def _was_stopped() -> bool:
    return any(scorer.was_stopped for scorer in _running)


def _started_scorer() -> Scorer:
    if _running and not _running[0].is_alive:
        close_scorer()
    if not _running:
        _running.append(Scorer())
    return _running[0]


def _measure(scorer: Scorer, spec: TruthSpec, file: Path, limits: MeasuringLimits) -> ScorerAnswer:
    scorer.wait_until_ready()
    until = time.monotonic() + limits.seconds
    try:
        truth = scorer.truth_process(spec, limits, until)
        if isinstance(truth, ScorerAnswer):
            return truth
        until = min(until, time.monotonic() + limits.file_seconds)
        with scorer.killed_at(until + GRACE, truth.connection) as ended:
            connection, pid = truth.next_file_process()
            with connection:
                ended.append(connection)
                message = _ask(connection, spec, file, limits.memory_mb, until)
                truth.end(pid)
            if message is not None:
                return read_answer(message)
            reason = _reason("the file process", truth.status(), until)
    except (ConnectionEnded, MalformedMessage) as error:
        is_late = time.monotonic() >= until
        if isinstance(error, PeerGone) and not is_late:
            raise
        reason = JobTimedOut() if is_late else ScorerDied(str(error) or "its truth process ended too")
    raise ScorerInterrupted if _was_stopped() else reason


def _ask(connection: Connection, spec: TruthSpec, file: Path, memory_mb: int, until: float) -> dict[str, Any] | None:
    """What a file process says of a file; nothing if it ended or its time is over. Raises `MalformedMessage`."""
    try:
        with _outside_scratch_folder(spec) as scratch:
            seconds = max(0.1, until - time.monotonic())
            send_message(connection, {"seconds": seconds, "memory_mb": memory_mb, "scratch": scratch})
            send_file(connection, file)
            while connection.poll(max(0.0, until - time.monotonic())):
                message = receive_message(connection)
                if "run" not in message:
                    return message
                left = until - time.monotonic()
                send_message(connection, outside_metrics.run_for_file_process(spec, message, scratch, left))
    except ConnectionEnded:
        pass
    return None


def _reason(what: str, status: int, until: float) -> JobFailed:
    """Why a file process ended without an answer."""
    if status == -signal.SIGXCPU:
        return JobTimedOut(f"{what} took longer than its seconds of the processor")
    if time.monotonic() >= until:
        return JobTimedOut(f"{what} took longer than its time")
    return ScorerDied(
        f"{what} ended " + (f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}")
    )


@contextmanager
def _outside_scratch_folder(spec: TruthSpec) -> Iterator[str]:
    """A folder for the tables of a metric from outside; none where nothing runs elsewhere."""
    if not outside_metrics.uses_outside_metric(spec):
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="tables-") as folder:
        yield folder
