"""Places and limits of the jobs that a web process asks for: hosts and students never wait for each other."""

from __future__ import annotations

import math
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from .messages import Channel

AT_ONCE = 2
"""Jobs of one kind and one web process: a class that converts its files at once must not fill the memory."""

TIME_LIMIT = 120
"""Seconds for a host's job."""

CONVERT_SECONDS = 10
"""Seconds of the processor that a student's job may take."""
QUICK_SECONDS, QUICK_SECONDS_ON_THE_WALL = 2.0, 8.0
"""A student's job that takes more of the processor, or more on the wall, gives its place to the next one and goes on
in one of the places for slow ones. Where these are taken it is stopped: a quick one never waits for slow ones."""


class JobFailed(Exception):
    """The process died, took too long or met a bug; the text is for the log."""


class JobTimedOut(JobFailed):
    """The process took more time than it may."""


class NoSlowSlot(JobTimedOut):
    """The process took more time than a quick job may, and slow jobs of others had all places for those."""


@dataclass(frozen=True)
class JobKind:
    """Jobs that share places and limits. Each kind has places of its own, so that one never keeps another waiting.

    ``seconds`` are of the processor, ``until`` on the wall; ``patience`` is how long a job waits for a place.
    """

    places: threading.BoundedSemaphore
    seconds: int
    kill_after: float
    patience: float
    slow_places: threading.BoundedSemaphore | None = None
    niceness: int = 0


def _two() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(AT_ONCE)


OF_HOSTS = JobKind(_two(), TIME_LIMIT, TIME_LIMIT, TIME_LIMIT / 4)
OF_STUDENTS = JobKind(_two(), CONVERT_SECONDS, 3 * CONVERT_SECONDS, TIME_LIMIT / 4, slow_places=_two(), niceness=5)
KINDS = {"convert_submission": OF_STUDENTS}
"""Of jobs that are not for hosts."""


class JobSlot:
    """A place for one job of a kind, for as long as the block runs."""

    def __init__(self, job: str, kind: JobKind) -> None:
        self.job, self.kind, self.held = job, kind, kind.places

    def __enter__(self) -> JobSlot:
        if not self.held.acquire(timeout=self.kind.patience):
            raise JobFailed(f"{self.job} found no place: {AT_ONCE} others are being done")
        return self

    def __exit__(self, *_: object) -> None:
        self.held.release()

    def wait_for(self, answers: Channel, pid: int) -> None:
        """Wait until the process of a job answers, or takes too long for a quick one and has a place for slow ones.
        Raises `NoSlowSlot`."""
        slow = self.kind.slow_places
        if slow is None:
            return
        began = time.monotonic()
        while not answers.has_something(QUICK_SECONDS):
            if time.monotonic() - began >= QUICK_SECONDS_ON_THE_WALL or _processor_seconds(pid) >= QUICK_SECONDS:
                if not slow.acquire(blocking=False):
                    raise NoSlowSlot(f"{self.job} took longer than a quick job while others did")
                self.held.release()
                self.held = slow
                return


def _processor_seconds(pid: int) -> float:
    """What a process has used of the processor: on a busy machine a quick job takes long on the wall. Without Linux's
    `/proc` every job that is asked about counts as a slow one."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
