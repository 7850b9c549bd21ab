"""What one process keeps of rendered boards, and how many readers of a new one cost a single rendering.

Keys carry the board version, so nothing here is ever out of date: what changed has another key, and what nobody
asks for any more falls off the end. The reader's language is added to every key here.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar, cast

from django.utils.translation import get_language

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


# What facts about the teams of a page are taken to weigh, beside the texts that come with them, and what a row about
# each team does.
FACTS, ROW = 10_000, 500


def weight_of(made: object) -> int:
    """In bytes. A text with one letter beyond Latin takes two or four for each."""
    if isinstance(made, (str, bytes)):
        return sys.getsizeof(made)
    rows = ROW * len(made) if isinstance(made, (tuple, list, dict)) else 0
    parts = made if isinstance(made, tuple) else getattr(made, "__dict__", {}).values()
    return FACTS + rows + sum(sys.getsizeof(part) for part in parts if isinstance(part, (str, bytes)))


class Shelf:
    """A store of so many bytes, oldest use first out. Of many who miss the same key at once one makes it, the rest
    wait."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.weight = 0
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._flights: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Any:
        """What is kept under a key, or None; makes nothing and waits for nobody."""
        with self._lock:
            return self._kept.get((get_language(), key))

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under a key, made by `make` if it is not there. An exception of `make` is not kept."""
        key = (get_language(), key)
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

    def get_all(self, keys: Sequence[K], make: Callable[[list[K]], Sequence[T]]) -> list[T]:
        """What is kept under each key. `make` answers for those that are not there, in order; of several who miss the
        same ones at once each makes them."""
        language = get_language()
        named = [(language, key) for key in keys]
        with self._lock:
            found = {key: self._kept[key] for key in named if key in self._kept}
            for key in found:
                self._kept.move_to_end(key)
        missing = [key for key in named if key not in found]
        for key, made in zip(missing, make([own for _language, own in missing]) if missing else (), strict=True):
            self._keep(key, made)
            found[key] = made
        return [cast("T", found[key]) for key in named]

    def _keep(self, key: Hashable, made: object) -> None:
        """The newest is kept however much it weighs."""
        with self._lock:
            self._kept[key] = made
            self.weight += weight_of(made)
            while self.weight > self.size and len(self._kept) > 1:
                self.weight -= weight_of(self._kept.popitem(last=False)[1])

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self.weight = 0


# A table of 100 rows weighs up to 400 kB, a page of them a little more; whoever hands in a file makes new ones.
shelf = Shelf(10_000_000)
pages = Shelf(6_000_000)
# Rows of the boards that people look at now: up to 3 kB each, and about half as much for what tells them apart.
rows = Shelf(4_000_000)


def clear() -> None:
    """Forget everything: for tests, whose databases come and go under the same keys."""
    shelf.clear()
    pages.clear()
    rows.clear()
