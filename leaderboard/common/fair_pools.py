"""Thread pools that serve senders in turn, so that no sender keeps the others waiting.

A job waits in the event loop until a thread is free and its sender runs fewer jobs than it may. Senders take turns in
the order of their arrival; jobs of one sender stay in order. Newcomers (many people under one name, before they have a
cookie) get every second turn, else senders with names would all pass them.
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
    """No thread was free for this job in time."""


@dataclass
class _Job:
    shares: Mapping[str, int]
    is_newcomer: bool
    may_start: asyncio.Future[None]
    came_at: float = field(default_factory=lambda: time.monotonic())


class FairPool:
    """Runs jobs in at most `threads` threads of an executor. `in_use` counts the running jobs of each share over all
    pools of the site."""

    def __init__(self, executor: Executor, threads: int, in_use: Counter[str]) -> None:
        self.executor, self.threads, self.in_use = executor, threads, in_use
        self.running, self.finished_at = 0, time.monotonic()
        self.lines: dict[bool, dict[str, deque[_Job]]] = {False: {}, True: {}}
        self.is_newcomers_turn = False
        self.neighbours: list[FairPool] = [self]

    async def run(
        self,
        sender: str,
        shares: Mapping[str, int],
        function: Callable[..., Any],
        *arguments: Any,
        is_newcomer: bool = False,
        max_wait_seconds: float | None = None,
    ) -> Any:
        """Call a function in a thread when it is the sender's turn, and return its result. `shares` maps each group
        that this job belongs to (a sender, an address) to the number of its jobs that may run at once. Raises
        `WaitedTooLong`, by default after `MAX_WAIT_SECONDS`."""
        loop = asyncio.get_running_loop()
        job = _Job(shares, is_newcomer, loop.create_future())
        self.lines[is_newcomer].setdefault(sender, deque()).append(job)
        self.start_waiting()
        try:
            async with asyncio.timeout(max_wait_seconds or MAX_WAIT_SECONDS):
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
        """Start waiting jobs while threads are free; the sender of each goes to the end of the queue."""
        while self.running < self.threads and (job := self._next_job()) is not None:
            if job.may_start.done():  # its client went away in this moment
                continue
            self.is_newcomers_turn = not job.is_newcomer
            self.running += 1
            self.in_use.update(job.shares.keys())
            job.may_start.set_result(None)

    @property
    def is_waited_for(self) -> bool:
        """Whether a job waits."""
        return any(self.lines.values())

    def is_stuck(self) -> bool:
        """Whether all threads were busy and none finished for `STUCK_AFTER_SECONDS` while jobs waited. Jobs that wait
        for their sender's share while threads are free do not count."""
        if not self.is_waited_for or self.running < self.threads:
            return False
        oldest = min(jobs[0].came_at for line in self.lines.values() for jobs in line.values())
        return time.monotonic() - max(self.finished_at, oldest) > STUCK_AFTER_SECONDS

    def _next_job(self) -> _Job | None:
        """The job whose turn it is, removed from its queue, or None; its sender goes to the end of the queue."""
        for line in (self.lines[self.is_newcomers_turn], self.lines[not self.is_newcomers_turn]):
            for sender, jobs in line.items():
                if all(self.in_use[share] < most for share, most in jobs[0].shares.items()):
                    del line[sender]
                    job = jobs.popleft()
                    if jobs:
                        line[sender] = jobs
                    return job
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
        """Remove the job of a client that disconnected or waited too long."""
        if job.may_start.done() and not job.may_start.cancelled():
            self._finish(job)
        elif (jobs := self.lines[job.is_newcomer].get(sender)) and job in jobs:
            jobs.remove(job)
            if not jobs:
                del self.lines[job.is_newcomer][sender]
