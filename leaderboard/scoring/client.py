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
from dataclasses import asdict, dataclass
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
from .process_limits import REUSED_WITHIN_SECONDS, clean_environment
from .scorer_answer import ScorerAnswer, read_answer
from .truth_spec import MeasuringLimits, TruthSpec

MOST_TRUTHS = 8
"""Ground truths that stay in memory."""

MOST_IDLE = 8
"""File processes of a ground truth that wait for another file of the same owner."""

REUSED_AFTER_BYTES = 1_048_576
"""How large a file may have been after which its process measures another one: what it left in memory counts on."""

GRACE = 5.0
"""Seconds after which a scorer that did not keep the time itself is ended from here."""

_START = 60.0
_PYTHON = (sys.executable, "-s", "-B", "-X", "utf8")
_PROGRAM = ["-m", "leaderboard.scoring.file_processes"]
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
                oldest.close()
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
        self.connection.close()
        for truth in self.truths.values():
            truth.close()
        if self.owner == os.getpid():
            self.kill()
            self.process.wait()
        else:
            self.process.returncode = 0  # not ours to wait for


@dataclass
class FileProcess:
    """A process that reads files: the connection to it, its number, how many it has measured, and in which time."""

    connection: Connection
    pid: int
    files: int = 0
    seconds: float = 0.0


class TruthProcess:
    """The process of a ground truth. It has the next file process ready, and keeps those that may go on with another
    file of the same owner."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.idle: OrderedDict[str, FileProcess] = OrderedDict()
        self._next: FileProcess | None = None
        self._ended: tuple[int, int] | None = None

    def file_process_for(self, owner: str) -> FileProcess:
        """The process that measured a file of this owner, or a fresh one. Raises `PeerGone`."""
        try:
            process = self.idle.pop(owner, None) or self._next_process()
            while process.connection.poll():  # somebody ended it while it waited
                self.end(process)
                process = self._next_process()
        except (ConnectionEnded, MalformedMessage) as error:
            raise PeerGone from error
        return process

    def keep(self, process: FileProcess, owner: str) -> None:
        """Let a process wait for another file of this owner. Raises `ConnectionEnded`."""
        self._have_next_forked(process)
        process.files += 1
        self.idle[owner] = process
        while len(self.idle) > MOST_IDLE:
            self.end(self.idle.popitem(last=False)[1])

    def end(self, process: FileProcess) -> None:
        """End a process, if it has not ended yet. Raises `ConnectionEnded`."""
        process.connection.close()
        send_message(self.connection, {"over": process.pid})
        self._have_next_forked(process)

    def status(self, process: FileProcess) -> int:
        """How a process had ended that `end` was called for. Raises `ConnectionEnded`, `MalformedMessage`."""
        while self._ended is None or self._ended[0] != process.pid:
            self._receive()
        return self._ended[1]

    def close(self) -> None:
        """Let go of it, which ends it and all that it forked."""
        for connection in (self.connection, *(process.connection for process in self.idle.values())):
            connection.close()

    def _next_process(self) -> FileProcess:
        while self._next is None:
            self._receive()
        process, self._next = self._next, None
        return process

    def _have_next_forked(self, process: FileProcess) -> None:
        """A process that has measured nothing yet was the one that was ready."""
        if not process.files:
            send_message(self.connection, {"next": True})

    def _receive(self) -> None:
        message = receive_message(self.connection)
        if "begun" in message:
            self._next = FileProcess(receive_connection(self.connection), int(message["begun"]))
        else:
            self._ended = int(message["pid"]), int(message["ended"])


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


def measure_file(spec: TruthSpec, file: Path, limits: MeasuringLimits, owner: str = "") -> ScorerAnswer:
    """Measure one submission. Raises `ScorerDied`, `JobTimedOut` and, after `stop_scorer`, `ScorerInterrupted`.

    Files of one `owner`, who has seen them all, may be measured by one process, one after another: starting a process
    costs seven times as much as measuring a small file. `end_idle_processes` is called when no file waits.
    """
    with _place:
        for _ in range(2):
            try:
                return _measure(_started_scorer(), spec, file, limits, owner)
            except PeerGone:
                if _was_stopped():
                    raise ScorerInterrupted from None
                close_scorer()
        raise ScorerDied("the scorer does not stay alive")


def end_idle_processes() -> None:
    """End what waits for another file of the same owner, because it holds memory."""
    with _place:
        for truth in (truth for scorer in _running for truth in scorer.truths.values()):
            with suppress(ConnectionEnded):
                while truth.idle:
                    truth.end(truth.idle.popitem()[1])


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


def _measure(scorer: Scorer, spec: TruthSpec, file: Path, limits: MeasuringLimits, owner: str) -> ScorerAnswer:
    scorer.wait_until_ready()
    until = time.monotonic() + limits.seconds
    answer: ScorerAnswer | None = None
    try:
        truth = scorer.truth_process(spec, limits, until)
        if isinstance(truth, ScorerAnswer):
            return truth
        begun = time.monotonic()
        until = min(until, begun + limits.file_seconds)
        with scorer.killed_at(until + GRACE, truth.connection) as ended:
            process = truth.file_process_for(owner)
            ended.append(process.connection)
            try:
                answer = _ask(process.connection, spec, file, limits.memory_mb, until)
            finally:
                process.seconds += time.monotonic() - begun
                is_scored = answer is not None and answer.result is not None
                if owner and is_scored and _may_be_reused(process, spec, file):
                    truth.keep(process, owner)
                else:
                    truth.end(process)
            if answer is not None:
                return answer
            reason = _reason("the file process", truth.status(process), until)
    except (ConnectionEnded, MalformedMessage) as error:
        if answer is not None:
            return answer
        is_late = time.monotonic() >= until
        if isinstance(error, PeerGone) and not is_late:
            raise
        reason = JobTimedOut() if is_late else ScorerDied(str(error) or "its truth process ended too")
    raise ScorerInterrupted if _was_stopped() else reason


def _may_be_reused(process: FileProcess, spec: TruthSpec, file: Path) -> bool:
    """Whether a process that measured this file may measure another one. For metrics from outside it may not: it was
    sealed for the tables of one file."""
    if process.seconds > REUSED_WITHIN_SECONDS or outside_metrics.uses_outside_metric(spec):
        return False
    try:
        return file.stat().st_size <= REUSED_AFTER_BYTES
    except OSError:
        return False


def _ask(connection: Connection, spec: TruthSpec, file: Path, memory_mb: int, until: float) -> ScorerAnswer | None:
    """What a file process says of a file; nothing if it ended or its time is over. Raises `MalformedMessage`."""
    try:
        with _outside_scratch_folder(spec) as scratch:
            seconds = max(0.1, until - time.monotonic())
            send_message(connection, {"seconds": seconds, "memory_mb": memory_mb, "scratch": scratch})
            send_file(connection, file)
            while connection.poll(max(0.0, until - time.monotonic())):
                message = receive_message(connection)
                if "run" not in message:
                    return read_answer(message)
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
