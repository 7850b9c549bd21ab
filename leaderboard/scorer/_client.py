"""The worker's side: starts the scorer when it is needed, keeps the connections to keepers, watches the clock."""

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
from dataclasses import replace
from pathlib import Path

from . import _elsewhere, _wire
from ._answers import Answer, read
from ._confined import clean_environment
from ._ruler import Limits, Ruler

KEPT = 8
"""Ground truths that stay in memory."""

GRACE = 5.0
"""Seconds after which a scorer that did not keep the time itself is ended from here."""

_START = 60.0
_PYTHON = (sys.executable, "-s", "-B", "-X", "utf8")
_PROGRAM = ["-m", "leaderboard.scorer._process"]
_ROOT = Path(__file__).resolve().parent.parent.parent


class Died(Exception):
    """The process that measured ended without an answer, and not for want of time."""


class TookTooLong(Exception):
    """Nothing came within the time."""


class Interrupted(Exception):
    """`stop` was called."""


class _Gone(Exception):
    """A process is gone, and no submission was in its hands."""


class _Keeper:
    """The connection to a keeper. `owes` how the last child ended, which nobody waits for."""

    def __init__(self, connection: int) -> None:
        self.connection = connection
        self.owes = False

    def begin(self, told: dict[str, object], until: float) -> int:
        """Have a child forked; the connection to it. Raises `_Gone`, `TimeoutError`."""
        try:
            _wire.send(self.connection, told)  # which ends the last child, if it has answered and still lives
            if self.owes:
                self.how_it_ended(until)
            child = _wire.receive_descriptor(self.connection, until + GRACE)
        except (_wire.Ended, _wire.Garbled) as error:
            raise _Gone from error
        self.owes = True
        return child

    def how_it_ended(self, until: float) -> tuple[int, bool]:
        """Exit status of the last child, and whether its time was over. Raises `Ended`, `TimeoutError`."""
        told, _ = _wire.receive(self.connection, until + GRACE)
        self.owes = False
        return int(told["ended"]), bool(told["late"])


class _Scorer:
    """One process with everything below it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.was_stopped = False
        self.keepers: OrderedDict[tuple[str, ...], _Keeper] = OrderedDict()
        self.connection, theirs = _wire.pair()
        try:
            self.process = subprocess.Popen(
                [*_PYTHON, *_PROGRAM, str(self.owner), str(theirs)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs],
                cwd=_ROOT,
                env=clean_environment(),
            )
        except OSError:  # no process more at this moment; who tries again must not run out of descriptors as well
            os.close(self.connection)
            raise
        finally:
            os.close(theirs)
        self._is_ready = False

    @property
    def lives(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def keeper(self, ruler: Ruler, limits: Limits, until: float) -> _Keeper | Answer:
        """The keeper of a truth, or why it cannot be read. Raises `_Gone`, `Ended`, `TimeoutError`.

        It was sealed with the folders of its files open to it; of one that is another by now it would see nothing.
        """
        key = (ruler.key, *map(_which, ruler.folders))
        if key not in self.keepers:
            told = {
                "ruler": ruler.as_dict(),
                "seconds": until - time.monotonic(),
                "memory_mb": limits.memory_mb,
                "tables": [tempfile.gettempdir()] if _elsewhere.is_needed(ruler) else [],
            }
            try:
                _wire.send(self.connection, told)
                keeper = _Keeper(_wire.receive_descriptor(self.connection, until))
            except _wire.Ended as error:
                raise _Gone from error
            found, blob = _wire.receive(keeper.connection, until)
            if "ready" not in found:
                os.close(keeper.connection)
                return read(found, blob)
            self.keepers[key] = keeper
            while len(self.keepers) > KEPT:
                _, oldest = self.keepers.popitem(last=False)
                os.close(oldest.connection)  # which ends it
        self.keepers.move_to_end(key)
        return self.keepers[key]

    def wait_until_ready(self) -> None:
        """Its libraries take a moment, which is no time of a file. Raises `_Gone`."""
        if not self._is_ready:
            try:
                _wire.receive(self.connection, time.monotonic() + _START)
            except (_wire.Ended, _wire.Garbled, TimeoutError) as error:
                raise _Gone from error
            self._is_ready = True

    def kill(self) -> None:
        """End the process; the kernel, or the ends of their connections, end what is below."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def bury(self) -> None:
        """End it and let go of everything; only the latter where another process started it."""
        _wire.close(self.connection, *(keeper.connection for keeper in self.keepers.values()))
        if self.owner == os.getpid():
            self.kill()
            self.process.wait()
        else:
            self.process.returncode = 0  # not ours to wait for


_running: list[_Scorer] = []
_place = threading.Lock()


def measure(ruler: Ruler, file: Path, limits: Limits) -> Answer:
    """Have one submission measured. Raises `Died`, `TookTooLong` and, after `stop`, `Interrupted`."""
    with _place:
        try:
            return _measure(_started(), ruler, file, limits)
        except _Gone:
            if _was_stopped():
                raise Interrupted from None
            close()
        try:
            return _measure(_started(), ruler, file, limits)
        except _Gone:
            raise Died("the scorer does not stay alive") from None


def start() -> None:
    """Have the scorer start beside what this process does, so that nobody waits for its libraries later."""
    with _place:
        _started()


def stop() -> None:
    """From another thread: end everything that is being measured; `measure` raises `Interrupted`."""
    for scorer in _running:
        scorer.was_stopped = True
        scorer.kill()


@atexit.register
def close() -> None:
    """End the scorer; the next file starts another one."""
    while _running:
        _running.pop().bury()


def _was_stopped() -> bool:
    return any(scorer.was_stopped for scorer in _running)


def _started() -> _Scorer:
    if _running and not _running[0].lives:
        close()
    if not _running:
        _running.append(_Scorer())
    return _running[0]


def _which(folder: str) -> str:
    """Its name, and the number by which the system knows this folder and not a later one of the name."""
    found = os.stat(folder)
    return f"{folder} {found.st_dev} {found.st_ino}"


def _measure(scorer: _Scorer, ruler: Ruler, file: Path, limits: Limits) -> Answer:
    scorer.wait_until_ready()
    until = time.monotonic() + limits.seconds
    if not any(file.is_relative_to(folder) for folder in ruler.folders):
        ruler = replace(ruler, folders=(*ruler.folders, str(file.parent)))
    try:
        keeper = scorer.keeper(ruler, limits, until)
        if isinstance(keeper, Answer):
            return keeper
        until = min(until, time.monotonic() + limits.file_seconds)
        with _scratch(ruler) as scratch:
            told = {"file": str(file), "scratch": scratch, "memory_mb": limits.memory_mb}
            child = keeper.begin({**told, "seconds": max(0.1, until - time.monotonic())}, until)
            try:
                return _answer(ruler, scratch, child, until)
            except _wire.Ended:
                raise _reason(*keeper.how_it_ended(until)) from None
            finally:
                os.close(child)
    except (_wire.Ended, _wire.Garbled, TimeoutError) as error:
        if _was_stopped():
            raise Interrupted from None
        if isinstance(error, _wire.Ended):
            raise Died("its keeper ended too") from None
        close()  # who does not keep the time, or says what cannot be, is not asked again
        raise (TookTooLong() if isinstance(error, TimeoutError) else Died(str(error))) from None


def _answer(ruler: Ruler, scratch: list[str], child: int, until: float) -> Answer:
    """What the child says in the end; until then it may ask for runs of metrics from outside."""
    while True:
        told, blob = _wire.receive(child, until + GRACE)
        if "run" not in told:
            return read(told, blob)
        if not scratch:
            raise _wire.Garbled("a child asked for a run")
        _wire.send(child, _elsewhere.run_for_child(ruler, told, Path(scratch[0]), until - time.monotonic()))


def _reason(status: int, is_late: bool) -> Exception:
    if is_late or status == -signal.SIGXCPU:
        return TookTooLong()
    return Died(f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with exit status {status}")


@contextmanager
def _scratch(ruler: Ruler) -> Iterator[list[str]]:
    """A folder for the tables of a metric from outside; none where nothing runs elsewhere."""
    if not _elsewhere.is_needed(ruler):
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="tables-") as folder:
        yield [folder]
