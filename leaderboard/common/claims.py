"""Claims of rows that workers process, for models with the columns `claim`, `lease_until` and `tries`.

A worker may write the result of a row while its claim is in that row and its lease is extended. Once the lease has run
out another worker may claim the row, and the first one writes nothing any more. All times are the database's.

A claim is derived from the ID of the message that woke the worker, so the main process of a dead worker finds exactly
the rows which that worker held. It begins with the place of the worker, so the worker that `up` starts after a dead one
finds the rows of all its processes.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection, models
from django.db.models import F, Q
from django.db.models.functions import Now

from . import child_processes

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
PLACE_BYTES = 4
JOIN_SECONDS = 12.0  # as long as the thread that extends a lease may wait for a lock of the database


def has_lease() -> Q:
    """Condition for rows with a live lease.

    Leases that end later than `2 * LEASE` from now are ignored: the clock was set back after they were written.
    """
    return Q(lease_until__gte=Now(), lease_until__lte=Now() + 2 * LEASE)


def has_no_lease() -> Q:
    return Q(lease_until=None) | Q(lease_until__lt=Now()) | Q(lease_until__gt=Now() + 2 * LEASE)


def is_due(field: str, latest: timedelta) -> Q:
    """Condition for rows whose time in this field has come.

    Times more than `latest` from now are ignored: the clock was set back after they were written.
    """
    return Q(**{f"{field}__lte": Now()}) | Q(**{f"{field}__gt": Now() + latest})


def claim_key(wake_up_id: str | uuid.UUID, number: int = 1) -> uuid.UUID:
    """The key of the worker that was woken by the message `wake_up_id`, for the try of this number."""
    key = uuid.uuid5(uuid.NAMESPACE_OID, f"{wake_up_id}:{number}")
    return uuid.UUID(bytes=_place_of_worker() + key.bytes[PLACE_BYTES:])


def _place_of_worker() -> bytes:
    """The same bytes for every worker that one `up` starts, one after another."""
    folder = os.environ.get(child_processes.HEARTBEAT_FOLDER, "")
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{socket.gethostname()}:{folder}").bytes[:PLACE_BYTES]


def end_claims_of_place(rows: models.QuerySet[Any]) -> int:
    """End the claims of dead workers of this place, as if their leases had run out; returns the number of rows.

    A worker that lives on after all loses its claim and writes nothing.
    """
    place, further = _place_of_worker(), 16 - PLACE_BYTES
    keys = [uuid.UUID(bytes=place + byte * further) for byte in (b"\0", b"\xff")]
    return rows.filter(has_lease(), claim__range=keys).update(claim=None, lease_until=None)


def claim_rows(rows: models.QuerySet[Any], key: uuid.UUID, **fields: Any) -> int:
    """Claim those of the rows that have no lease, write `fields`, and count a try; returns the number of rows."""
    return rows.filter(has_no_lease()).update(**fields_of_claim(key), **fields)


def fields_of_claim(key: uuid.UUID) -> dict[str, Any]:
    """What a claim writes into a row without a lease."""
    return {"claim": key, "lease_until": Now() + LEASE, "tries": F("tries") + 1}


@dataclass(frozen=True)
class Claim:
    """The claim of one row. `finish` and `release` return False, and write nothing, after it was lost."""

    model: type[models.Model]
    row: Any
    key: uuid.UUID | None

    @property
    def rows(self) -> models.QuerySet[Any]:
        """The row while the claim is in it, else no row."""
        return self.model._default_manager.filter(pk=self.row, claim=self.key)

    def extend(self) -> bool:
        """Begin the lease again; False if the claim was lost."""
        return bool(self.rows.update(lease_until=Now() + LEASE))

    def finish(self, **fields: Any) -> bool:
        """End the claim and write `fields`; the try counts."""
        return bool(self.rows.update(claim=None, lease_until=None, **fields))

    def release(self, **fields: Any) -> bool:
        """End the claim and write `fields`, without counting the try."""
        return self.finish(tries=F("tries") - 1, **fields)


@contextmanager
def called_during_lease(extend: Callable[[], bool], when_lost: Callable[[], None] | None = None) -> Iterator[None]:
    """While the block runs, call `extend` in a background thread three times per lease, until it returns False.

    Then `when_lost` is called, unless the block has ended meanwhile: its own last write ends the claims too.

    An error of the database does not end this: the lease may still be extended in time when it is back.
    """
    done = threading.Event()

    def keep_calling() -> None:
        while not done.wait(LEASE.total_seconds() / 3):
            try:
                if not extend():
                    if when_lost and not done.is_set():
                        when_lost()
                    return
            except Exception:
                log.exception("a lease could not be extended")
            finally:
                connection.close()  # the connection of this thread

    thread = threading.Thread(target=keep_calling, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(JOIN_SECONDS)
