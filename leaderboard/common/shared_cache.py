"""The cache that all processes share, and what they count together in it: tries at signing in and at codes.

It lies in the broker, which every installation has. The broker may go away at any time, and that must keep no person
from signing in: each process then counts alone until it is back. (A cache that swallows errors would not do: allauth's
limits take a lock, and a lock that is not given counts as a limit that is reached.)
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import suppress
from functools import partialmethod
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

# A process that found the broker away does not ask again for so long, neither for a count nor to send a wake-up: a
# frozen one would cost its time-out each time.
LEFT_ALONE_FOR = 5.0


class JsonSerializer:
    """Plain numbers, lists and texts. Django's own serializer would run what it reads."""

    def dumps(self, value: object) -> int | bytes:
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


class SharedCache(RedisCache):
    """Django's Redis cache; while the broker is away it is the cache `alone` of this process."""

    away_until = 0.0

    def ask(self, what: str, *args: Any, **kwargs: Any) -> Any:
        if not is_broker_left_alone():
            try:
                return getattr(super(), what)(*args, **kwargs)
            except RedisError as error:
                leave_broker_alone()
                log.warning("the broker does not count (%s); this process counts alone", type(error).__name__)
        return getattr(caches["alone"], what)(*args, **kwargs)

    def clear(self) -> None:
        raise NotImplementedError("Django would empty the broker, and with it the workers' queue.")


for _what in ("add", "get", "set", "touch", "delete", "has_key", "incr"):
    setattr(SharedCache, _what, partialmethod(SharedCache.ask, _what))


def is_broker_left_alone() -> bool:
    return time.monotonic() < SharedCache.away_until


def leave_broker_alone() -> None:
    """It gave this process no answer in time."""
    SharedCache.away_until = time.monotonic() + LEFT_ALONE_FOR


# --- tries of a person or an address ---------------------------------------------------------------------------


def count_tries(what: str, who: object) -> int:
    """How often a person or an address did something lately, in all processes together."""
    return int(caches["default"].get(_tries_key(what, who), 0))


def count_try(what: str, who: object, *, seconds: int) -> int:
    """One more: how many there are with it. The count is forgotten `seconds` after the first."""
    cache, key = caches["default"], _tries_key(what, who)
    while True:
        with suppress(ValueError):  # it is the first, or the earlier ones were just forgotten
            return cache.incr(key)
        if cache.add(key, 1, seconds):
            return 1


def _tries_key(what: str, who: object) -> str:
    return f"tries:{what}:{who}"
