"""Celery tasks of learning platforms. One of them at a time asks a platform, so that a silent one takes one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from leaderboard.celery import app
from leaderboard.common.hooks import on
from leaderboard.competitions import hooks, wake_ups

from . import launching, marks, places, registering, roster, sending

_one_request = threading.Lock()


def _in_turn(work: Callable[..., object], *arguments: Any) -> bool:
    """Whether the work has more to do. It is left to the sweep while another task asks a platform."""
    if not _one_request.acquire(blocking=False):
        return False
    try:
        return bool(work(*arguments))
    finally:
        _one_request.release()


@app.task(name=launching.FETCH_KEYS)
def fetch_keys(platform_id: int) -> None:
    """Fetch a platform's keys: at approval, hourly, and for a launch with an unknown key."""
    for platform in registering.platforms_without_fresh_keys().filter(pk=platform_id):
        _in_turn(registering.fetch_keys, platform)


@app.task(name=registering.ASK_PLATFORM)
def ask_platform(registration_id: int) -> None:
    _in_turn(registering.ask_platform, registration_id)


@app.task(name=places.READ_ROSTER)
def read_roster(link_id: int) -> None:
    _in_turn(roster.read_roster, link_id)


@app.task(name=marks.SEND_MARKS, bind=True)
def send_marks(self: Any, link_id: int) -> None:
    """Send due marks of one column; if some remain, queue this task again behind the others."""
    if wake_ups.has_known_schema(self) and _in_turn(sending.send_marks, link_id, self.request.id):
        wake_ups.wake_workers(marks.SEND_MARKS, link_id, expires=wake_ups.SWEEP_MESSAGE_LIFETIME)


@on(hooks.due_tasks)
def find_due() -> list[tuple[Any, ...]]:
    """A wake-up for each platform without fresh keys, each registration in progress, each column with due marks."""
    due = {
        launching.FETCH_KEYS: registering.platforms_without_fresh_keys().values_list("pk", flat=True),
        registering.ASK_PLATFORM: registering.registrations_to_ask(),
        places.READ_ROSTER: places.links_to_read(),
        marks.SEND_MARKS: sending.links_with_due_marks(),
    }
    return [(task, number) for task, numbers in due.items() for number in numbers]
