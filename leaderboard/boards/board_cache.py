"""Cache of rendered boards in this process.

Keys contain the version of the board, so entries are never stale: a changed board has another key, and old entries are
dropped when space is needed. All keys also contain the reader's language.
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

# Estimated bytes of an entry besides its text.
FACTS = 10_000


class BytesLimitedCache:
    """LRU cache limited by bytes. Threads that miss a key at the same time all make the entry; none waits."""

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
                # The newest entry stays, whatever its size.
                while self.weight > self.size and len(self._entries) > 1:
                    self.weight -= _weight_of(self._entries.popitem(last=False)[1])
        return made

    def clear(self) -> None:
        """Remove all entries. For tests, in which different databases have the same keys."""
        with self._lock:
            self._entries.clear()
            self.weight = 0


class CalmVersions:
    """Versions of boards for pages that poll, at most one per second.

    Each ranked score makes a new version, and polling pages need not be newer than a second, so a busy board is
    rendered once per second for them.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._chosen: dict[Hashable, tuple[float, int]] = {}

    def choose(self, board: Hashable, version: int) -> int:
        """The version to show for a board whose current version is `version`."""
        now = time.monotonic()
        begun, chosen = self._chosen.get(board, (-math.inf, version))
        if now - begun < self.seconds:
            return chosen
        self._chosen[board] = (now, version)
        return version


calm_versions = CalmVersions(1.0)

# Bytes. A table of 100 rows has up to 400 kB, and its page a little more.
boards = BytesLimitedCache(6_000_000)


def _weight_of(made: object) -> int:
    """Estimated bytes of an entry: those of its text or `html`, and a fixed number for the rest."""
    text = getattr(made, "html", made)
    return FACTS + (sys.getsizeof(text) if isinstance(text, (str, bytes)) else 0)
