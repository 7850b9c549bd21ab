"""A lane for senders with many wrong tries: one try after the other, with a pause after a wrong one.

A class sits behind one address, so an address is never shut out for what one of its people sends. A right password or
code from there is only waited for longer. Each lane belongs to one web process, and a site has one per machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from leaderboard.common.shared_cache import count_tries, count_try
from leaderboard.common.slow_clients import FairSemaphore, release_slot_while_waiting

MOST_WAITING = 32
"""Tries of one sender that wait at the same moment; each holds a thread of the web server."""
MOST_WAITING_OF_ALL = 128
"""In one lane, of all senders together: a sender that is made up at each try must not take all threads."""


class LaneIsFull(Exception):
    """Too many tries wait already."""


class SlowLane:
    """A sender may try wrongly so many times within `seconds`; from there on each wrong try makes the next one wait."""

    def __init__(self, name: str, *, seconds: int, pause: float, refuses: bool = False) -> None:
        """`refuses`: where too many wait, one more is refused; otherwise it passes."""
        self.name, self.seconds, self.pause, self.refuses = name, seconds, pause, refuses
        self._lanes: dict[object, FairSemaphore] = {}
        self._waiting: dict[object, int] = {}
        self._lock = threading.Lock()

    def count_wrong(self, sender: object) -> None:
        count_try(self.name, sender, seconds=self.seconds)

    def is_slow(self, sender: object, *, free_tries: int) -> bool:
        return count_tries(self.name, sender) >= free_tries

    @contextmanager
    def wait_for_turn(self, sender: object, *, free_tries: int) -> Iterator[LaneTurn]:
        """Wait for the sender's turn where it had more than its free tries.

        Where too many wait already, one more passes: a flood of wrong tries must not keep a right one of the same
        address out. A lane that `refuses` raises `LaneIsFull` instead, so that no flood gets round it.
        """
        turn = LaneTurn(self, sender)
        lane = self._enter(sender) if self.is_slow(sender, free_tries=free_tries) else None
        if lane is None:
            yield turn
            return
        try:
            with release_slot_while_waiting():
                lane.acquire()
            try:
                yield turn
                if turn.is_wrong:
                    with release_slot_while_waiting():
                        time.sleep(self.pause)
            finally:
                lane.release()
        finally:
            self._leave(sender)

    def _enter(self, sender: object) -> FairSemaphore | None:
        """The sender's lane, or nothing where it is full."""
        with self._lock:
            if self._waiting.get(sender, 0) >= MOST_WAITING or sum(self._waiting.values()) >= MOST_WAITING_OF_ALL:
                if self.refuses:
                    raise LaneIsFull
                return None
            self._waiting[sender] = self._waiting.get(sender, 0) + 1
            return self._lanes.setdefault(sender, FairSemaphore(1))

    def _leave(self, sender: object) -> None:
        with self._lock:
            self._waiting[sender] -= 1
            if not self._waiting[sender]:
                del self._waiting[sender], self._lanes[sender]


class LaneTurn:
    """One try of a sender."""

    def __init__(self, lane: SlowLane, sender: object) -> None:
        self.lane, self.sender, self.is_wrong = lane, sender, False

    def was_wrong(self) -> None:
        self.is_wrong = True
        self.lane.count_wrong(self.sender)
