"""The one clock of a site: that of its database, whatever the clocks of the machines around it say."""

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
    """The moment by which receipts, deadlines and leases are judged. SQLite's clock is that of its only machine."""
    if connection.vendor != "postgresql":
        return timezone.now()
    if _page.is_read:
        _page.moment = _page.moment or _query_database_clock()
        return _page.moment
    return _query_database_clock()


def time_since_arrival(request: HttpRequest) -> timedelta:
    """How long a request has been on this machine with its last byte, for example waiting for a thread."""
    received_at = request.META.get(RECEIVED_AT)
    return timedelta(seconds=time.monotonic() - received_at if received_at else 0.0)


@contextmanager
def one_moment_per_page() -> Iterator[None]:
    """While a page is read the clock is asked once. What writes asks each time: a lock may have made it wait."""
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
