"""The task that asks platforms: one at a time, so that a silent one takes one thread of the worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from leaderboard.lti import places, registering, roster, sending, tasks


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch, db: None) -> Iterator[threading.Event]:
    """A worker's thread that asks a silent platform; it ends when the event is set."""
    begun, over = threading.Event(), threading.Event()

    def read_roster(link_id: int) -> None:
        begun.set()
        over.wait(30)

    for module, find in (
        (registering, "platforms_without_fresh_keys"),
        (registering, "registrations_to_ask"),
        (sending, "links_with_due_marks"),
    ):
        monkeypatch.setattr(module, find, list)
    monkeypatch.setattr(places, "links_to_read", lambda: [] if begun.is_set() else [1])
    monkeypatch.setattr(roster, "read_roster", read_roster)
    thread = threading.Thread(target=tasks.ask_platforms)
    thread.start()
    assert begun.wait(30)
    yield over
    over.set()
    thread.join()


def test_while_one_thread_asks_a_platform_no_other_one_does(
    asking: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[int]()
    monkeypatch.setattr(registering, "registrations_to_ask", lambda: [] if asked else [7])
    monkeypatch.setattr(registering, "ask_platform", asked.append)
    tasks.ask_platforms()
    assert asked == []
    asking.set()
    while not asked:
        tasks.ask_platforms()
    assert asked == [7]
