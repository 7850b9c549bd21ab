"""What this process has done since it started, for whoever draws curves of it.

Plain numbers behind a lock. A web process shows its own when it is asked; a worker, whom nobody can ask, leaves its own
in its row (`Worker`). What the database knows anyway is not counted here.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# Upper ends in seconds; one more place holds what took longer.
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

Labels = tuple[tuple[str, str], ...]


@dataclass
class Tally:
    """How often something happened, and where it is measured, how long it took: `buckets` are not summed up."""

    name: str
    labels: Labels
    number: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Tally:
        """The same from JSON; a process of another version may have written more."""
        labels = tuple((name, value) for name, value in row["labels"])
        return cls(row["name"], labels, row["number"], row["seconds"], row["buckets"])


_lock = threading.Lock()
_tallies: dict[tuple[str, Labels], Tally] = {}


def add(name: str, *, seconds: float | None = None, number: int = 1, **labels: str) -> None:
    """Count something that happened, and how long it took."""
    key = (name, tuple(sorted(labels.items())))
    with _lock:
        tally = _tallies.get(key)
        if tally is None:
            tally = _tallies[key] = Tally(*key)
        tally.number += number
        if seconds is not None:
            tally.buckets = tally.buckets or [0] * (len(BUCKETS) + 1)
            tally.seconds += seconds
            tally.buckets[bisect_left(BUCKETS, seconds)] += 1


def so_far() -> list[Tally]:
    """A copy of everything counted."""
    with _lock:
        return [Tally.of(tally.as_dict()) for tally in _tallies.values()]


def start_again() -> None:
    """Forget what was counted, as a process does that was forked from one that counted."""
    with _lock:
        _tallies.clear()
