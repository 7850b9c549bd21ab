"""Rendered boards of this process.

Keys carry the board version, so no entry is ever out of date: a changed board has another key, and entries without
readers fall off the end. Every key also holds the reader's language.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from django.utils.translation import get_language

T = TypeVar("T")

# Assumed bytes of an entry in addition to its text.
FACTS = 10_000


class BytesLimitedCache:
    """Holds so many bytes and drops what was used longest ago. Threads that miss a key at once all make the entry: a
    request waits for no other one's result."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.weight = 0
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The entry of a key, made by `make` if it is missing. Exceptions of `make` are not stored."""
        key = (get_language(), key)
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return cast("T", self._entries[key])
        made = make()
        with self._lock:
            if key not in self._entries:
                self._entries[key] = made
                self.weight += _weight_of(made)
                # The newest entry stays however much it weighs.
                while self.weight > self.size and len(self._entries) > 1:
                    self.weight -= _weight_of(self._entries.popitem(last=False)[1])
        return made

    def clear(self) -> None:
        """For tests, whose databases come and go under the same keys."""
        with self._lock:
            self._entries.clear()
            self.weight = 0


class CalmVersions:
    """Versions of boards for pages that renew themselves. In a burst each score makes a new version; such a page asks
    every 15 seconds, so one that is a second old will do, and the board is rendered once a second."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._chosen: dict[Hashable, tuple[float, int]] = {}

    def choose(self, board: Hashable, version: int) -> int:
        """The version to show of a board whose version is `version` now."""
        now = time.monotonic()
        begun, chosen = self._chosen.get(board, (-math.inf, version))
        if now - begun < self.seconds:
            return chosen
        self._chosen[board] = (now, version)
        return version


calm_versions = CalmVersions(1.0)

# A table of 100 rows weighs up to 400 kB, and a page with it a little more.
boards = BytesLimitedCache(20_000_000)


def _weight_of(made: object) -> int:
    """In bytes: the text or its `html`, and a fixed sum for all else."""
    text = getattr(made, "html", made)
    return FACTS + (sys.getsizeof(text) if isinstance(text, (str, bytes)) else 0)
