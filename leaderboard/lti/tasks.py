"""The Celery task of learning platforms. A worker asks one platform at a time, so a silent one takes one thread."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

from leaderboard.celery import app
from leaderboard.common.hooks import on
from leaderboard.competitions import hooks, wake_ups

from . import launching, places, registering, roster, sending

_one_request = threading.Lock()


def _due() -> list[tuple[Callable[[int], object], list[int]]]:
    """What is due, by its verb: keys of platforms, registrations, class lists, marks of columns."""
    work: dict[Callable[[int], object], list[int]] = {
        registering.fetch_keys: registering.platforms_without_fresh_keys(),
        registering.ask_platform: registering.registrations_to_ask(),
        roster.read_roster: places.links_to_read(),
        sending.send_marks: sending.links_with_due_marks(),
    }
    return [(verb, numbers) for verb, numbers in work.items() if numbers]


@app.task(name=launching.ASK_PLATFORMS, bind=True)
def ask_platforms(self: Any) -> None:
    """Do one thing of those that are due; if more remains, queue this task again.

    The kind and the thing are drawn by lot: neither a failure nor many silent platforms keep the others waiting.
    """
    if not wake_ups.has_known_schema(self) or not _one_request.acquire(blocking=False):
        return
    try:
        if due := _due():
            verb, numbers = secrets.choice(due)
            verb(secrets.choice(numbers))
    finally:
        _one_request.release()
    for wake_up in find_due():
        wake_ups.wake_workers(*wake_up, expires=wake_ups.SWEEP_MESSAGE_LIFETIME)


@on(hooks.due_tasks)
def find_due() -> list[tuple[str]]:
    return [(launching.ASK_PLATFORMS,)] if _due() else []
