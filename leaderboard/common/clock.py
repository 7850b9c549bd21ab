"""The one clock of a site: that of its database, so that clocks of several machines cannot disagree."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection
from django.http import HttpRequest
from django.utils import timezone

from .web_pools import RECEIVED_AT


class _Page(threading.local):
    is_read = False
    moment: datetime | None = None


_page = _Page()


def database_now() -> datetime:
    """The time by which receipts, deadlines and leases are judged. With SQLite it is this machine's clock, as there is
    no other."""
    if connection.vendor != "postgresql":
        return timezone.now()
    if _page.is_read:
        _page.moment = _page.moment or _query_database_clock()
        return _page.moment
    return _query_database_clock()


def time_since_arrival(request: HttpRequest) -> timedelta:
    """The time since the last byte of a request arrived on this machine, for example spent waiting for a thread."""
    received_at = request.META.get(RECEIVED_AT)
    return timedelta(seconds=time.monotonic() - received_at if received_at else 0.0)


@contextmanager
def one_moment_per_page() -> Iterator[None]:
    """Ask the database for the time at most once in this block: for GET requests. Requests that write ask each time,
    because waiting for a lock may have taken long."""
    _page.is_read = True
    try:
        yield
    finally:
        _page.is_read, _page.moment = False, None


def _query_database_clock() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
