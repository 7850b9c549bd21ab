"""Threads that requests reach in turn, so that no sender keeps the others waiting.

A job waits in the event loop until a thread is free and its sender has used up none of its shares. Senders take turns
in the order in which each came; the jobs of one sender keep theirs.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

STUCK_AFTER_SECONDS = 15.0
MAX_WAIT_SECONDS = 30.0


class WaitedTooLong(Exception):
    """No thread was free for this job within `MAX_WAIT_SECONDS`."""


@dataclass
class _Job:
    shares: Mapping[str, int]
    may_start: asyncio.Future[None]
    came_at: float = field(default_factory=lambda: time.monotonic())


class FairPool:
    """So many threads of an executor. `in_use` counts what all pools of a site have running of each share."""

    def __init__(self, executor: Executor, threads: int, in_use: Counter[str]) -> None:
        self.executor, self.threads, self.in_use = executor, threads, in_use
        self.running, self.finished_at = 0, time.monotonic()
        self.waiting: dict[str, deque[_Job]] = {}
        self.neighbours: list[FairPool] = [self]

    async def run(self, sender: str, shares: Mapping[str, int], function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread when it is the sender's turn. `shares` says how many jobs may run at once of each
        group that this one belongs to. Raises `WaitedTooLong`."""
        loop = asyncio.get_running_loop()
        job = _Job(shares, loop.create_future())
        self.waiting.setdefault(sender, deque()).append(job)
        self.start_waiting()
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await job.may_start
        except TimeoutError:
            self._forget(sender, job)
            raise WaitedTooLong from None
        except asyncio.CancelledError:
            self._forget(sender, job)
            raise
        call = loop.run_in_executor(self.executor, function, *arguments)
        call.add_done_callback(lambda _: self._finish(job))
        return await call

    def start_waiting(self) -> None:
        """Let jobs begin while there are threads; the sender of each goes to the end of the line."""
        while self.running < self.threads and (sender := self._next_sender()) is not None:
            jobs = self.waiting.pop(sender)
            job = jobs.popleft()
            if jobs:
                self.waiting[sender] = jobs
            if job.may_start.done():  # its client went away in this moment
                continue
            self.running += 1
            self.in_use.update(job.shares.keys())
            job.may_start.set_result(None)

    def is_stuck(self) -> bool:
        """Whether all threads were busy and none finished for `STUCK_AFTER_SECONDS`, while work waited. What waits for
        its own sender's share, beside free threads, is no sign of it."""
        if not self.waiting or self.running < self.threads:
            return False
        oldest = min(jobs[0].came_at for jobs in self.waiting.values())
        return time.monotonic() - max(self.finished_at, oldest) > STUCK_AFTER_SECONDS

    def _next_sender(self) -> str | None:
        for sender, jobs in self.waiting.items():
            if all(self.in_use[share] < most for share, most in jobs[0].shares.items()):
                return sender
        return None

    def _finish(self, job: _Job) -> None:
        self.running -= 1
        self.finished_at = time.monotonic()
        self.in_use.subtract(job.shares.keys())
        for share in job.shares:
            if not self.in_use[share]:
                del self.in_use[share]
        for pool in self.neighbours:
            pool.start_waiting()

    def _forget(self, sender: str, job: _Job) -> None:
        """Take back a job of a client that went away, or that waited too long."""
        if job.may_start.done() and not job.may_start.cancelled():
            self._finish(job)
        elif (jobs := self.waiting.get(sender)) and job in jobs:
            jobs.remove(job)
            if not jobs:
                del self.waiting[sender]
