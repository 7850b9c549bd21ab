"""Jobs of the site's pages, each in a sealed process of its own."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .client import JobFailed, JobTimedOut, Scorer, SealedProcess
from .messages import ConnectionEnded, DeadlinePassed

GRACE_SECONDS = 1.0
"""Extra time for a job of a page, so that it can report its own timeout."""


class JobDied(JobFailed):
    """The process ended without an answer."""


@dataclass(frozen=True)
class JobLimits:
    """Time limits of a job's process: processor time, and wall-clock time."""

    processor_seconds: int
    seconds: float


_page_scorers: ContextVar[list[Scorer] | None] = ContextVar("page_scorers", default=None)


@contextmanager
def shared_waiting_process() -> Iterator[None]:
    """Have all jobs of this block forked from one waiting process, which the first of them starts."""
    scorers: list[Scorer] = []
    token = _page_scorers.set(scorers)
    try:
        yield
    finally:
        _page_scorers.reset(token)
        for scorer in scorers:
            scorer.close()


def run_job(job: str, arguments: dict[str, Any], limits: JobLimits, memory_mb: int) -> dict[str, Any]:
    """Do a job in a new process, and return its answer. Raises `JobFailed`, `JobDied`, `JobTimedOut`."""
    if (scorers := _page_scorers.get()) is None:
        with shared_waiting_process():
            return run_job(job, arguments, limits, memory_mb)
    how = {"processor_seconds": limits.processor_seconds, "memory_mb": memory_mb}
    try:
        process = _start_from(scorers, {"job": job, "arguments": arguments, **how})
        message = _receive_answer(scorers[-1], process, job, limits.seconds + GRACE_SECONDS)
    except ConnectionEnded as error:
        scorers[-1].kill()
        raise JobDied(f"{job} ended without an answer, with its waiting process") from error
    if "answer" not in message:
        raise JobFailed(f"{job} failed: {message.get('failure')} {message.get('details', '')}")
    answer: dict[str, Any] = message["answer"]
    return answer


def _start_from(scorers: list[Scorer], request: dict[str, Any]) -> SealedProcess:
    """Have a process forked by the last waiting process, or by a new one if there is none. Raises `ConnectionEnded`."""
    with suppress(IndexError, ConnectionEnded):
        return scorers[-1].start(request)
    scorers.append(Scorer())
    return scorers[-1].start(request)


def _receive_answer(scorer: Scorer, process: SealedProcess, job: str, seconds: float) -> dict[str, Any]:
    """The message of a job's process, which is ended then. Raises `JobDied`, `JobTimedOut`, `ConnectionEnded`."""
    try:
        message = process.channel.receive(time.monotonic() + seconds)
    except DeadlinePassed:
        scorer.end(process)
        raise JobTimedOut(f"{job} took longer than its time") from None
    except ConnectionEnded as error:
        status, _seconds = scorer.end(process)
        if status == -signal.SIGXCPU:
            raise JobTimedOut(f"{job} took longer than its seconds of the processor") from error
        raise JobDied(f"{job} ended without an answer (status {status})") from error
    scorer.end(process)
    return message
