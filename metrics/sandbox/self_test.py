"""Whether the sandbox holds on this machine: 18 ways out of it are tried, each as a metric from outside would try it.

    python -m metrics.sandbox.self_test

prints what came of them as JSON and ends with 1 where metrics from outside must stay off. It takes about two seconds.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import secrets
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .escapes import ATTEMPTS
from .isolation import available
from .packages import private_import_folders
from .processes import ProcessStopped, close, run

_PATIENCE = 20
_MOST_SAID = 200
_BAIT_VARIABLE = "LEADERBOARD_BAIT"
STOPPED, ESCAPED = "stopped", "ESCAPED"


@dataclass(frozen=True)
class Outcome:
    """What came of one attempt: its name, its title, ``stopped`` or ``ESCAPED``, and by which try."""

    name: str
    title: str
    outcome: str
    how: str = ""


@dataclass(frozen=True)
class SandboxReport:
    """What came of all; ``missing`` says in words why there was nothing to try, ``broken`` what a metric could not do
    inside that it must be able to."""

    kernel: str
    seconds: float
    missing: str
    broken: str
    outcomes: list[Outcome]

    @property
    def reason(self) -> str:
        """Why metrics from outside must stay off, in words for the operator, or ``""``."""
        if self.missing:
            return self.missing
        if self.broken:
            return f"In the sandbox a metric could not {self.broken}."
        ways = [one.title for one in self.outcomes if one.outcome == ESCAPED]
        return f"The sandbox does not hold on this machine: {'; '.join(ways)}." if ways else ""

    def as_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {**asdict(self), "reason": self.reason}


def try_escapes(*, seal: str = "must") -> SandboxReport:
    """Try all ways out. ``seal="no"`` leaves the sandbox away, to see that the test can fail."""
    began = time.monotonic()
    missing = available() if seal == "must" else ""
    broken, outcomes = "", []
    if not missing:
        with _bait() as bait:
            broken = _ask("works", bait, seal)
            outcomes = [_outcome(name, bait, seal) for name in ATTEMPTS] if not broken else []
    return SandboxReport(platform.release(), round(time.monotonic() - began, 2), missing, broken, outcomes)


def _outcome(name: str, bait: dict[str, Any], seal: str) -> Outcome:
    how = _ask(name, bait, seal)
    return Outcome(name, ATTEMPTS[name].title, ESCAPED if how else STOPPED, how)


def _ask(name: str, bait: dict[str, Any], seal: str) -> str:
    """The answer of a process in the sandbox. One that was stopped reached nothing, but must work first."""
    within = 1 if name == "endless" else _PATIENCE
    try:
        with _variables(METRICS_SECONDS=str(within), METRICS_MEMORY_MB="512"):
            answer = run("attempt", "attempt", b"", {"attempt": name, "bait": bait, "seal": seal})
    except ProcessStopped as stopped:
        return f"run at all: it {stopped}{_cause(stopped)}" if name == "works" else ""
    error = answer.get("error")
    if error:
        return f"run at all: {error['class']}: {error['words']}" if name == "works" else ""
    return str(answer.get("escaped", ""))


def _cause(stopped: ProcessStopped) -> str:
    """What Python said at its end, such as a package that it did not find, and which folders it may not look into."""
    said = [line for line in stopped.output.splitlines() if line.strip()][-1:]
    closed = private_import_folders()
    found = [f": {line.strip()[:_MOST_SAID]}" for line in said]
    if closed:
        found.append(
            f". PYTHONPATH names {', '.join(closed)}, which stays closed to metrics: the site, its state or the home "
            "of its user lies there. Install the packages into a folder of their own, or into the site's environment"
        )
    return "".join(found)


@contextmanager
def _bait() -> Iterator[dict[str, Any]]:
    """Things that a metric should not get at: files, sockets, an environment, memory, an open file."""
    secret = secrets.token_hex(8)
    memory = ctypes.create_string_buffer(secret.encode())
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="bait-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for name in ("truth", "secrets", "spare"):
            (folder / name).write_text(secret)
        left_open = os.open(folder / "secrets", os.O_RDONLY)
        stack.callback(os.close, left_open)
        os.set_inheritable(left_open, True)
        port = _listening(stack, socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        _listening(stack, socket.AF_UNIX, str(folder / "socket"))
        if sys.platform == "linux":
            _listening(stack, socket.AF_UNIX, f"\0{secret}")
        close()  # the next process that waits is started among the bait
        stack.callback(close)
        stack.enter_context(_variables(**{_BAIT_VARIABLE: secret}))
        files = {name: str(folder / name) for name in ("truth", "secrets", "spare", "socket")}
        numbers = {"port": port, "process": os.getpid(), "address": ctypes.addressof(memory), "endless": 5.0}
        yield {**files, **numbers, "folder": str(folder), "home": _home(folder), "secret": secret}


def _listening(stack: ExitStack, family: int, address: Any) -> socket.socket:
    one = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    one.bind(address)
    one.listen()
    return one


def _home(otherwise: Path) -> str:
    with suppress(RuntimeError):
        if (home := Path.home()).is_dir():
            return str(home)
    return str(otherwise)


@contextmanager
def _variables(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def main() -> int:
    """Print what came of it."""
    found = try_escapes()
    json.dump(found.as_dict(), sys.stdout)
    return 1 if found.reason else 0


if __name__ == "__main__":
    sys.exit(main())
