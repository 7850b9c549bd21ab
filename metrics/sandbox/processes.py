"""Starts the process in which a file from ``METRICS_DIR`` runs, and sees to its end.

Each run has a process group, a folder and an environment of its own: no variable of the site, so no password. It runs
sealed (``isolation``) or, where the kernel cannot seal it, not at all, unless ``TRUST_METRICS=1``. Data goes in as
files and comes back as JSON. Nothing of one run is left for the next.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .packages import import_folders, outside_packages

_CHILD = Path(__file__).with_name("child_process.py")
_PYTHON = (sys.executable, "-s", "-P", "-B", "-X", "utf8")
_LARGE = {b"sklearn": "sklearn.metrics", b"scipy": "scipy.stats"}
"""Libraries that are worth being loaded before the fork, by the word in a metric's file."""

TIMED_OUT, CROWDED = -1000, -1001
MOST_THREADS = 500
"""No limit of the kernel counts those of one process, and the system has no room for the tens of thousands that fit
into the memory of one. So they are counted from outside, and who has more is ended."""
_LOOK = 0.25
_START = 60.0
_FILE_MB = 16
_MOST_ANSWER = 8_000_000
_MOST_SHOWN = 1000


class ProcessStopped(Exception):
    """The process gave no answer. ``output`` is the end of what it printed, for the host alone."""

    def __init__(self, reason: str, output: str = "") -> None:
        self.output = output
        super().__init__(reason)


class TooSlow(ProcessStopped):
    """It was at work for longer than it may."""


class Unsealed(ProcessStopped):
    """Nothing was run, because this machine cannot seal a process; ``why`` it cannot."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"was not run, because metrics from outside are off: {why} {TRUST_HELP.rstrip('.')}")


TRUST_HELP = (
    "An operator who has read every file in METRICS_DIR and trusts it can set TRUST_METRICS=1; files then run "
    "with limits on time and memory alone."
)


def are_outside_files_trusted() -> bool:
    """Whether the operator answers for the files: ``TRUST_METRICS=1``."""
    return os.environ.get("TRUST_METRICS", "").lower() in ("1", "true", "yes", "on")


def explain_missing_sandbox() -> str:
    """Why this machine cannot seal a process, in words for the operator, or ``""``."""
    from .isolation import available  # here, because not every system that scores at home has what it imports

    return available()


def seconds() -> int:
    """How long one run may take: ``METRICS_SECONDS``, 45 unless set."""
    return max(1, int(os.environ.get("METRICS_SECONDS") or 45))


def memory_mb() -> int:
    """How much memory one run may take: ``METRICS_MEMORY_MB``, 2048 unless set."""
    return max(256, int(os.environ.get("METRICS_MEMORY_MB") or 2048))


def run(
    job: str, key: str, source: bytes, request: Mapping[str, Any], write: Callable[[Path], None] | None = None
) -> dict[str, Any]:
    """Do a job of ``child_process`` with a metric's file; ``write`` puts further files into the folder of the run.

    The first run of a process takes as long as Python and pandas take to start, later ones some milliseconds more than
    the metric itself. Raises ``ProcessStopped``, and ``Unsealed`` where nothing may run.
    """
    folder = Path(tempfile.mkdtemp(prefix="metric-"))
    try:
        (folder / f"{key}.py").write_bytes(source)
        limits = {"seconds": seconds(), "memory_mb": memory_mb(), "file_mb": _FILE_MB}
        packages = outside_packages()
        more = {"packages": str(packages.resolve()) if packages else "", "job": job, "key": key, "limits": limits}
        full = {"seal": "may" if are_outside_files_trusted() else "must", **request, **more}
        (folder / "request.json").write_text(json.dumps(full), encoding="utf-8")
        if write is not None:
            write(folder)
        load = [module for name, module in _LARGE.items() if name in source]
        status = _forked(folder, load)
        answer = _answer(folder, _alone(folder) if status is None else status)
    finally:
        remove(folder)
    if "no_sandbox" in answer:
        raise Unsealed(str(answer["no_sandbox"]))
    return answer


def remove(folder: Path) -> None:
    """Remove what a run left, also folders that nobody may read, and those in each other a thousand deep."""
    left = [folder]
    with suppress(OSError):
        while left:
            here = left.pop()
            here.chmod(0o700)
            for entry in list(os.scandir(here)):
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)  # a folder that cannot be written cannot be moved either
                    left.append(Path(entry.path).rename(folder.parent / f"{folder.name}-{entry.inode()}"))
                else:
                    os.unlink(entry.path)
            here.rmdir()


def _alone(folder: Path) -> int:
    """Have the work done by a Python of its own; how it ended."""
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [*_PYTHON, str(_CHILD)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        try:
            return _wait(process)
        finally:
            _end(process)


def _wait(process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + seconds()
    while (left := until - time.monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, _LOOK))
        if is_crowd(process.pid):
            return CROWDED
    return TIMED_OUT


def is_crowd(process: int) -> bool:
    """Whether a process has more threads than any metric needs; where nobody can count them it has not."""
    try:
        facts = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return int(facts.rpartition(")")[2].split()[17]) > MOST_THREADS


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and whatever it started in its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _answer(folder: Path, status: int) -> dict[str, Any]:
    try:
        if status in (TIMED_OUT, CROWDED):
            raise ValueError
        answer = json.loads(_plain_bytes(folder / "answer.json", _MOST_ANSWER))
        if not isinstance(answer, dict):
            raise ValueError
    except (OSError, ValueError, RecursionError):
        printed = b""
        with suppress(OSError, ValueError):
            printed = _plain_bytes(folder / "output.txt", (_FILE_MB + 1) * 1_048_576)[-_MOST_SHOWN:]
        stopped = TooSlow if status in (TIMED_OUT, -signal.SIGXCPU) else ProcessStopped
        raise stopped(_end_in_words(status), printed.decode("utf-8", "replace")) from None
    return answer


def _plain_bytes(path: Path, limit: int) -> bytes:
    # The metric may have put anything here; of a pipe the parent would wait for ever.
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError
        return stream.read(limit)


def _environment(folder: Path) -> dict[str, str]:
    """What the process may know. One thread, and hashes that are the same in every run."""
    passed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    home = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": os.defpath}
    # Asked for processes of its own joblib would only find out, with a warning, that there are none. Arrow would set
    # aside a gigabyte that it does not need, and that counts as used.
    quiet = {"JOBLIB_MULTIPROCESSING": "0", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    packages = {"PYTHONPATH": os.pathsep.join(folders)} if (folders := import_folders()) else {}
    return {**passed, **threads, **home, **quiet, **packages, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}


def _end_in_words(status: int) -> str:
    if status == TIMED_OUT:
        return f"took longer than {seconds()} s"
    if status == CROWDED:
        return f"started more than {MOST_THREADS} threads"
    if status == -signal.SIGXCPU:
        return f"used more than {seconds()} s of processor time"
    if status < 0:
        name = signal.Signals(-status).name
        return f"was ended by the system ({name}), perhaps because it needed more than {memory_mb()} MB of memory"
    return f"ended without an answer (exit status {status})"


# --- the waiting process ----------------------------------------------------------------------------------------


class _Gone(Exception):
    """The waiting process ended or does not answer."""


class _Server:
    """A Python that waits with the libraries loaded and forks for each run."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [*_PYTHON, str(_CHILD), "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=_environment(Path("/nonexistent")),
            start_new_session=True,
            bufsize=0,
        )
        try:
            self._word(_START)  # "ready"
        except BaseException:
            self.close()
            raise

    def fork(self, folder: Path, load: Sequence[str]) -> int:
        """Have the work of a folder done; how its process ended. Raises ``_Gone``."""
        assert self.process.stdin is not None, "it is a pipe"
        try:
            self.process.stdin.write(json.dumps({"folder": str(folder), "load": load}).encode() + b"\n")
        except OSError:
            raise _Gone from None
        child = int(self._word(_START))
        until = time.monotonic() + seconds()
        while (left := until - time.monotonic()) > 0:
            with suppress(TimeoutError):
                return int(self._word(min(left, _LOOK)))
            if is_crowd(child):
                break
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        self._word(_START)
        return CROWDED if left > 0 else TIMED_OUT

    def _word(self, wait: float) -> str:
        """The next line, within some seconds. Raises ``TimeoutError``, ``_Gone`` at the end."""
        assert self.process.stdout is not None, "it is a pipe"
        found, until = b"", time.monotonic() + wait
        while not found.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError
            if not (more := os.read(self.process.stdout.fileno(), 1)):
                raise _Gone
            found += more
        return found.decode().strip()

    def close(self) -> None:
        """End it, or only forget it where another process started it."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        if self.owner == os.getpid():
            _end(self.process)


_server: list[_Server] = []
_place = threading.Lock()


def _forked(folder: Path, load: Sequence[str]) -> int | None:
    """Have the work done by a fork of the waiting process; ``None`` where it is at work for somebody else or broke."""
    if not _place.acquire(blocking=False):
        return None
    try:
        if _server and (_server[0].owner != os.getpid() or _server[0].process.poll() is not None):
            close()
        if not _server:
            _server.append(_Server())
        return _server[0].fork(folder, load)
    except (_Gone, TimeoutError, ValueError, OSError):
        close()
        return None
    finally:
        _place.release()


@atexit.register
def close() -> None:
    """End the waiting process; the next run starts another one."""
    while _server:
        _server.pop().close()
