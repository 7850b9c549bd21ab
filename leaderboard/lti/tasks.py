"""Celery tasks of learning platforms. One of them at a time asks a platform, so that a silent one takes one thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db.models import Q

from leaderboard.celery import app
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.competitions import hooks, wake_ups

from . import launching, marks, places, registering, roster
from .models import Platform

KEYS_LAST, TRY_AGAIN_AFTER = timedelta(hours=1), timedelta(minutes=1)
_one_request = threading.Lock()


@contextmanager
def _turn(task: Any = None) -> Iterator[bool]:
    """Whether no other task asks a platform; those that find one are repeated by the sweep."""
    is_free = (task is None or wake_ups.has_known_schema(task)) and _one_request.acquire(blocking=False)
    try:
        yield is_free
    finally:
        if is_free:
            _one_request.release()


@app.task(name=launching.FETCH_KEYS)
def fetch_keys(platform_id: int) -> None:
    """Fetch a platform's keys: at approval, hourly, and for a launch with an unknown key."""
    with _turn() as is_free:
        platform = Platform.objects.filter(pk=platform_id, off_at=None).first() if is_free else None
        if platform is not None and platform.pk in platforms_without_fresh_keys():
            registering.fetch_keys(platform)


@app.task(name=registering.ASK_PLATFORM)
def ask_platform(registration_id: int) -> None:
    with _turn() as is_free:
        if is_free:
            registering.ask_platform(registration_id)


@app.task(name=places.READ_ROSTER)
def read_roster(link_id: int) -> None:
    with _turn() as is_free:
        if is_free:
            roster.read_roster(link_id)


@app.task(name=marks.SEND_MARKS, bind=True)
def send_marks(self: Any, link_id: int) -> None:
    """Send due marks of one column; if some remain, queue this task again behind the others."""
    is_more = False
    with _turn(self) as is_free:
        if is_free:
            is_more = marks.send_marks(link_id, self.request.id)
    if is_more:
        wake_ups.wake_workers(marks.SEND_MARKS, link_id, expires=wake_ups.SWEEP_MESSAGE_LIFETIME)


def platforms_without_fresh_keys() -> list[int]:
    now = database_now()
    stale = Q(keys_fetched_at=None) | Q(keys_fetched_at__lt=now - KEYS_LAST)
    waited = Q(keys_tried_at=None) | Q(keys_tried_at__lt=now - TRY_AGAIN_AFTER)
    due = Platform.objects.filter(stale, waited, off_at=None).exclude(approved_at=None)
    return list(due.values_list("pk", flat=True))


@on(hooks.due_tasks)
def find_due() -> list[tuple[Any, ...]]:
    """A wake-up for each platform without fresh keys, each registration in progress, each column with due marks."""
    return [
        *((launching.FETCH_KEYS, number) for number in platforms_without_fresh_keys()),
        *((registering.ASK_PLATFORM, number) for number in registering.registrations_to_ask()),
        *((places.READ_ROSTER, number) for number in places.links_to_read()),
        *((marks.SEND_MARKS, number) for number in marks.links_with_due_marks()),
    ]
