"""Tasks that ask platforms: one at a time, so that a silent one takes one thread of the worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from leaderboard.lti import registering, roster, tasks


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A worker's thread that asks a silent platform; it ends when the event is set."""
    begun, over = threading.Event(), threading.Event()

    def read_roster(link_id: int) -> None:
        begun.set()
        over.wait(30)

    monkeypatch.setattr(roster, "read_roster", read_roster)
    thread = threading.Thread(target=tasks.read_roster, args=(1,))
    thread.start()
    assert begun.wait(30)
    yield over
    over.set()
    thread.join()


def test_while_one_thread_asks_a_platform_no_other_one_does(
    asking: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[int]()
    monkeypatch.setattr(registering, "ask_platform", asked.append)
    tasks.ask_platform(7)
    assert asked == []
    asking.set()
    while not asked:
        tasks.ask_platform(7)
    assert asked == [7]
