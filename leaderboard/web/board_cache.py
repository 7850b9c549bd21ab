"""What one process keeps of rendered boards, and how many readers of a new one cost a single rendering.

Keys carry the board version, so nothing here is ever out of date: what changed has another key, and what nobody
asks for any more falls off the end.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Shelf:
    """A bounded store, oldest use first out. Of many who miss the same key at once one makes it, the rest wait."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._flights: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Any:
        """What is kept under a key, or None; makes nothing and waits for nobody."""
        with self._lock:
            return self._kept.get(key)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under a key, made by `make` if it is not there. An exception of `make` is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
            flight = self._flights.setdefault(key, threading.Lock())
        with flight:
            with self._lock:
                if key in self._kept:
                    return cast("T", self._kept[key])
            try:
                made = make()
                self._keep(key, made)
            finally:
                with self._lock:
                    self._flights.pop(key, None)
        return made

    def _keep(self, key: Hashable, made: object) -> None:
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


# Tables and places are small; whole pages of 100 rows weigh about 100 kB each.
shelf = Shelf(400)
pages = Shelf(48)


def clear() -> None:
    """Forget everything: for tests, whose databases come and go under the same keys."""
    shelf.clear()
    pages.clear()
