"""Threads are shared fairly: nobody's requests keep another's waiting."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.common import fair_pools
from leaderboard.common.fair_pools import FairPool, WaitedTooLong
from tests import event_loop


class Threads(Executor):
    """Threads whose work ends when the test says so."""

    def __init__(self) -> None:
        self.at_work: dict[str, Future[Any]] = {}

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        name, future = function(), Future[Any]()
        self.at_work[name] = future
        return future

    def finish(self, name: str) -> None:
        self.at_work.pop(name).set_result(name)


async def settle() -> None:
    """Let everything that may happen in the loop happen."""
    for _ in range(8):
        await asyncio.sleep(0)


def ask(pool: FairPool, sender: str, name: str, **shares: int) -> asyncio.Task[Any]:
    return asyncio.get_running_loop().create_task(pool.run(sender, shares, lambda: name))


def test_senders_take_turns_in_the_order_in_which_they_came() -> None:
    async def play() -> None:
        threads = Threads()
        pool = FairPool(threads, 1, Counter())
        for name in ("dee 1", "dee 2", "dee 3", "bo 1", "cy 1", "bo 2"):
            ask(pool, name.partition(" ")[0], name)
        order = []
        await settle()
        while threads.at_work:
            order += list(threads.at_work)
            threads.finish(order[-1])
            await settle()
        assert order == ["dee 1", "dee 2", "bo 1", "cy 1", "dee 3", "bo 2"]

    event_loop.run(play())


def test_newcomers_who_share_a_name_have_every_second_turn() -> None:
    async def play() -> None:
        threads = Threads()
        pool = FairPool(threads, 1, Counter())
        ask(pool, "bo", "bo 1")
        for number in range(2, 5):
            ask(pool, "bo", f"bo {number}")
            ask(pool, "cy", f"cy {number}")
            asyncio.get_running_loop().create_task(pool.run("new", {}, lambda n=number: f"new {n}", is_newcomer=True))
        order = []
        await settle()
        while threads.at_work:
            order += list(threads.at_work)
            threads.finish(order[-1])
            await settle()
        assert order == ["bo 1", "new 2", "bo 2", "new 3", "cy 2", "new 4", "bo 3", "cy 3", "bo 4", "cy 4"]

    event_loop.run(play())


def test_of_one_sender_two_requests_are_at_work_and_the_rest_waits() -> None:
    async def play() -> None:
        threads = Threads()
        pool = FairPool(threads, 8, Counter())
        for number in range(5):
            ask(pool, "dee", f"dee {number}", dee=2)
        ask(pool, "bo", "bo", bo=2)
        await settle()
        assert set(threads.at_work) == {"dee 0", "dee 1", "bo"}
        threads.finish("dee 0")
        await settle()
        assert set(threads.at_work) == {"dee 1", "dee 2", "bo"}

    event_loop.run(play())


def test_what_a_sender_has_at_work_counts_in_all_pools() -> None:
    async def play() -> None:
        in_use: Counter[str] = Counter()
        reading, writing = Threads(), Threads()
        pools = [FairPool(threads, 4, in_use) for threads in (reading, writing)]
        for pool in pools:
            pool.neighbours = pools
        ask(pools[0], "dee", "page 1", dee=2)
        ask(pools[0], "dee", "page 2", dee=2)
        ask(pools[1], "dee", "upload", dee=2)
        await settle()
        assert not writing.at_work
        reading.finish("page 1")
        await settle()
        assert list(writing.at_work) == ["upload"]

    event_loop.run(play())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=40), st.integers(1, 4))
def test_whatever_comes_and_goes_shares_hold_and_all_get_through(steps: list[tuple[str, bool]], size: int) -> None:
    async def play() -> None:
        threads, in_use = Threads(), Counter[str]()
        pool = FairPool(threads, size, in_use)
        tasks = []
        for number, (sender, finishes) in enumerate(steps):
            tasks.append(ask(pool, sender, f"{sender}{number}", **{sender: 2}))
            await settle()
            assert len(threads.at_work) <= size
            assert max(Counter(name[0] for name in threads.at_work).values()) <= 2
            if finishes:
                threads.finish(next(iter(threads.at_work)))
        await settle()
        while threads.at_work:
            threads.finish(next(iter(threads.at_work)))
            await settle()
        assert all(task.done() for task in tasks)
        assert not in_use
        assert not pool.is_waited_for

    event_loop.run(play())


def test_a_client_that_goes_away_leaves_its_place_to_the_next() -> None:
    async def play() -> None:
        threads = Threads()
        pool = FairPool(threads, 1, Counter())
        ask(pool, "bo", "bo 1")
        gone, cy = ask(pool, "dee", "dee"), ask(pool, "cy", "cy")
        await settle()
        gone.cancel()
        await settle()
        threads.finish("bo 1")
        await settle()
        assert list(threads.at_work) == ["cy"]
        threads.finish("cy")
        assert await cy == "cy"

    event_loop.run(play())


def test_a_wait_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_pools, "MAX_WAIT_SECONDS", 0.01)

    async def play() -> None:
        threads = Threads()
        pool = FairPool(threads, 1, Counter())
        ask(pool, "bo", "bo")
        await settle()
        with pytest.raises(WaitedTooLong):
            await pool.run("cy", {}, lambda: "cy")
        threads.finish("bo")
        await settle()
        assert not pool.is_waited_for
        assert not pool.running

    event_loop.run(play())


def test_what_waits_for_its_own_share_beside_a_free_thread_makes_no_pool_stuck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play() -> None:
        pool, now = FairPool(Threads(), 2, Counter()), time.monotonic()
        for number in range(3):
            ask(pool, "dee", f"dee {number}", dee=1)
        await settle()
        monkeypatch.setattr(time, "monotonic", lambda: now + 100)
        assert pool.is_waited_for
        assert not pool.is_stuck()
        monkeypatch.undo()

    event_loop.run(play())


def test_a_pool_is_stuck_when_work_waits_and_none_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        threads, now = Threads(), time.monotonic()
        pool = FairPool(threads, 1, Counter())
        ask(pool, "bo", "bo")
        await settle()
        monkeypatch.setattr(time, "monotonic", lambda: now + 100)
        assert not pool.is_stuck(), "one long request is no crowd"
        ask(pool, "cy", "cy")
        await settle()
        assert not pool.is_stuck(), "it has only just begun to wait"
        monkeypatch.setattr(time, "monotonic", lambda: now + 116)
        assert pool.is_stuck()
        threads.finish("bo")
        await settle()
        assert not pool.is_stuck()
        monkeypatch.undo()

    event_loop.run(play())
