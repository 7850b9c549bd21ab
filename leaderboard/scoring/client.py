"""The site's side of scoring: starts the waiting process, sends it files, and enforces time limits."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .messages import Channel, ConnectionEnded, DeadlinePassed
from .process_limits import clean_environment
from .scorer_answer import ScorerAnswer, ScoringLimits, TruthSpec, not_readable, read_answer

log = logging.getLogger(__name__)

MAX_PROCESSES = 4
"""The most ground truths whose processes one worker keeps."""

MAX_FILES = 50
MAX_REUSED_BYTES = 1_048_576
MAX_GROWTH_MB = 100
"""When a healthy process is recycled: after so many files, after a file larger than this and than
the ground truth (which takes seconds to be read again where it is large), and when its memory has grown by so much
since it read the ground truth."""

IDLE_SECONDS = 30.0
"""The idle time after which a process ends by itself, to free its memory."""

START_SECONDS, ANSWER_SECONDS = 60.0, 10.0
"""The most time of the waiting process for loading its libraries, and for starting or ending a process."""

OWN_SIGNALS = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL})
"""Signals that a process causes itself; SIGKILL and SIGTERM come from outside."""

_PYTHON = (sys.executable, "-s", "-B", "-X", "utf8")
_PROGRAM = ["-m", "leaderboard.scoring.sealed_process"]
_ROOT = Path(__file__).resolve().parent.parent.parent


class JobFailed(Exception):
    """The process died, took too long or met a bug; the message is for the log."""


class JobTimedOut(JobFailed):
    """The process took longer than its limit."""


class ScorerDied(JobFailed):
    """The sealed process ended without an answer, neither by a timeout nor through the file's fault."""


class ScorerInterrupted(JobFailed):
    """`stop_scorer` was called."""


@dataclass
class SealedProcess:
    """A process that reads one ground truth and then scores files; `stage` is its last report about the current
    file."""

    pid: int
    channel: Channel
    is_ready: bool = False
    files: int = 0
    stage: str = ""
    first_mb: float = 0.0


@dataclass(frozen=True)
class Death:
    """The end of a process without an answer: its stage with the current file, its exit status, and its processor
    time."""

    stage: str
    status: int
    processor_seconds: float
    is_late: bool = False

    @property
    def is_by_itself(self) -> bool:
        return self.status < 0 and -self.status in OWN_SIGNALS

    def __str__(self) -> str:
        ending = signal.Signals(-self.status).name if self.status < 0 else f"status {self.status}"
        return f"ended with {ending} while {self.stage or 'starting'}"


class Scorer:
    """The waiting process and the processes that it forked."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.was_stopped = False
        self.processes: OrderedDict[tuple[str, int], SealedProcess] = OrderedDict()
        self._is_ready = False
        self.channel, theirs = Channel.pair()
        descriptor = theirs.socket.fileno()
        self.process = subprocess.Popen(
            [*_PYTHON, *_PROGRAM, str(self.owner), str(descriptor)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[descriptor],
            cwd=_ROOT,
            env=clean_environment(),
        )
        theirs.close()

    @property
    def is_alive(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def start(self, request: dict[str, Any]) -> SealedProcess:
        """Have a process forked for a request, without waiting for its work. Raises `ConnectionEnded`."""
        self.wait_until_ready()
        ours, theirs = Channel.pair()
        try:
            until = time.monotonic() + ANSWER_SECONDS
            self.channel.send_channel(request, theirs, until)
            return SealedProcess(int(self.channel.receive(until)["begun"]), ours)
        except ConnectionEnded:
            ours.close()
            raise
        finally:
            theirs.close()

    def wait_until_ready(self) -> None:
        """Wait until the libraries are loaded, so that this time is not counted for a file. Raises
        `ConnectionEnded`."""
        if not self._is_ready:
            try:
                self.channel.receive(time.monotonic() + START_SECONDS)
            except DeadlinePassed as error:
                raise ConnectionEnded from error
            self._is_ready = True

    def end(self, process: SealedProcess) -> tuple[int, float]:
        """End a process, if it still runs; returns its exit status and the seconds of processor time it used. Raises
        `ConnectionEnded`."""
        process.channel.close()
        until = time.monotonic() + ANSWER_SECONDS
        self.channel.send({"end": process.pid}, until)
        answer = self.channel.receive(until)
        return int(answer["status"]), float(answer["processor_seconds"])

    def kill(self) -> None:
        """Kill the waiting process; the kernel then kills its forks."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and close all connections; only the latter if this process is a fork of the one that started
        it."""
        self.channel.close()
        for process in self.processes.values():
            process.channel.close()
        if self.owner == os.getpid():
            self.kill()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(ANSWER_SECONDS)
        else:
            self.process.returncode = 0  # another process must wait for it

    # --- the processes of ground truths ---

    def process_for(self, spec: TruthSpec, limits: ScoringLimits, *, fresh: bool) -> SealedProcess:
        """The process of this ground truth; a new one if `fresh`, or if the old one has ended. Raises
        `ConnectionEnded`."""
        key = spec.key, limits.memory_mb
        process = self.processes.pop(key, None)
        # A process that sends something unasked is not trusted, except for the message that it has read its truth.
        if process is not None and (fresh or (process.is_ready and process.channel.has_something())):
            self.end(process)
            process = None
        if process is None:
            asked = {"spec": asdict(spec), "seconds": limits.seconds, "memory_mb": limits.memory_mb}
            process = self.start({**asked, "idle_seconds": IDLE_SECONDS})
        self.processes[key] = process
        while len(self.processes) > MAX_PROCESSES:
            self.end(self.processes.popitem(last=False)[1])
        return process

    def recycle(self, spec: TruthSpec, limits: ScoringLimits, process: SealedProcess) -> tuple[int, float]:
        """End the process of a ground truth; returns its exit status and processor time. Raises `ConnectionEnded`."""
        self.processes.pop((spec.key, limits.memory_mb), None)
        return self.end(process)


# --- one waiting process for as long as the worker lives ------------------------------------------------------------

_running: list[Scorer] = []
_place = threading.Lock()


def score_file(spec: TruthSpec, file: Path, limits: ScoringLimits, *, alone: bool = False) -> ScorerAnswer:
    """Score one file, in the process that scores all files of this ground truth, or `alone` in a new one.

    A file during which the process died is tried once more, alone. If that process dies while reading the file, by a
    signal it caused itself, or uses up its processor time there, the answer is that the file cannot be read. Raises
    `JobTimedOut`, `ScorerDied` for every other death and, after `stop_scorer`, `ScorerInterrupted`.
    """
    with _place:
        answer = _try_to_score(spec, file, limits, alone=alone)
        if isinstance(answer, Death) and not answer.is_late:
            log.warning("a process that scored %s %s; the file is tried once more, alone", file.name, answer)
            answer = _try_to_score(spec, file, limits, alone=(alone := True))
    if not isinstance(answer, Death):
        return answer
    if answer.is_late:
        # On a busy machine a file may wait for the processor, so only the processor time it used counts against it.
        if alone and answer.stage == "reading" and answer.processor_seconds >= 0.8 * limits.seconds:
            return not_readable()
        raise JobTimedOut(f"the sealed process took longer than its time while {answer.stage or 'starting'}")
    if answer.stage == "reading" and answer.is_by_itself:
        return not_readable()
    raise ScorerDied(f"the sealed process {answer}")


def start_scorer() -> None:
    """Start the waiting process now, so that no file has to wait for its libraries."""
    with _place:
        _started_scorer()


def stop_scorer() -> None:
    """Kill everything that is being scored, from another thread; `score_file` raises `ScorerInterrupted`."""
    for scorer in _running:
        scorer.was_stopped = True
        scorer.kill()


@atexit.register
def close_scorer() -> None:
    """End the waiting process; the next file starts a new one."""
    while _running:
        _running.pop().close()


def _started_scorer() -> Scorer:
    if _running and not _running[0].is_alive:
        close_scorer()
    if not _running:
        _running.append(Scorer())
    return _running[0]


def _try_to_score(spec: TruthSpec, file: Path, limits: ScoringLimits, *, alone: bool) -> ScorerAnswer | Death:
    """One try to score a file. If the waiting process is gone before the file was sent, a new one is started, once.
    Raises `ScorerInterrupted`, `ScorerDied`."""
    for _ in range(2):
        scorer = _started_scorer()
        try:
            process = scorer.process_for(spec, limits, fresh=alone)
        except ConnectionEnded:
            if scorer.was_stopped:
                raise ScorerInterrupted from None
            close_scorer()
            continue
        return _score_in(scorer, process, spec, file, limits)
    raise ScorerDied("the waiting process does not stay alive")


def _score_in(
    scorer: Scorer, process: SealedProcess, spec: TruthSpec, file: Path, limits: ScoringLimits
) -> ScorerAnswer | Death:
    answer, is_late = None, False
    try:
        answer = _ask_process(process, spec, file, limits)
    except DeadlinePassed:
        is_late = True
    except ConnectionEnded:
        pass
    finally:
        ending = (-signal.SIGKILL, 0.0)
        try:
            if answer is None or not _may_go_on(process, answer, spec, file):
                ending = scorer.recycle(spec, limits, process)
        except ConnectionEnded:
            close_scorer() if not scorer.was_stopped else None
    if answer is not None:
        return answer
    if scorer.was_stopped:
        raise ScorerInterrupted
    return Death(process.stage, *ending, is_late or ending[0] == -signal.SIGXCPU)


def _ask_process(process: SealedProcess, spec: TruthSpec, file: Path, limits: ScoringLimits) -> ScorerAnswer:
    """The answer of a process about a file. Raises `ConnectionEnded`, `OSError`."""
    if not process.is_ready:
        message = process.channel.receive(time.monotonic() + limits.seconds)
        if "ready" not in message:
            return read_answer(message)
        process.is_ready, process.first_mb = True, memory_mb(process.pid)
    seconds = min(limits.seconds, limits.file_seconds)
    until = time.monotonic() + seconds
    process.stage = ""
    process.channel.send_file(file, {"seconds": seconds}, until)
    while True:
        message = process.channel.receive(until)
        if "stage" in message:
            process.stage = "computing" if message["stage"] == "computing" else "reading"
        else:
            process.files += 1
            return read_answer(message)


def _may_go_on(process: SealedProcess, answer: ScorerAnswer, spec: TruthSpec, file: Path) -> bool:
    """Whether the process may score another file: it behaved as expected, and it has not become large."""
    with suppress(OSError):
        return (
            answer.result is not None
            and process.files < MAX_FILES
            and file.stat().st_size <= max(MAX_REUSED_BYTES, Path(spec.truth).stat().st_size)
            and memory_mb(process.pid) - process.first_mb <= MAX_GROWTH_MB
        )
    return False


def memory_mb(pid: int) -> float:
    """The resident memory of a process; 0 if the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576
