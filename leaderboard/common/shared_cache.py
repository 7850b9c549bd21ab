"""The cache that all processes share, for counts of tries at signing in and at codes.

It is kept in the broker (Redis), which every installation has. While the broker is down each process counts alone, so
that people can still sign in. (Swallowing errors would not do: allauth's limits take a lock, and a lock that is not
acquired counts as an exceeded limit.)
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from functools import partialmethod
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from django.http import HttpRequest
from redis.exceptions import RedisError

from .broker import is_broker_left_alone, leave_broker_alone
from .web_pools import DELAY

log = logging.getLogger(__name__)


class JsonSerializer:
    """Serializes numbers, lists and texts as JSON. Django's own serializer runs code when it reads."""

    def dumps(self, value: object) -> int | bytes:
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


class SharedCache(RedisCache):
    """Django's Redis cache; while the broker is down, this process's local cache `alone`."""

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


# --- tries of a person or an address ---------------------------------------------------------------------------


def count_tries(what: str, who: object) -> int:
    """The number of recent tries by a person or an address, over all processes."""
    return int(caches["default"].get(_tries_key(what, who), 0))


def count_try(what: str, who: object, *, seconds: int) -> int:
    """Count one more try; returns the number with it. The count is forgotten `seconds` after the first."""
    cache, key = caches["default"], _tries_key(what, who)
    while True:
        with suppress(ValueError):  # it is the first, or the earlier ones were just forgotten
            return cache.incr(key)
        if cache.add(key, 1, seconds):
            return 1


def _tries_key(what: str, who: object) -> str:
    return f"tries:{what}:{who}"


FREE_TRIES = 10
MAX_DELAY_SECONDS = 30
TRIES_FORGOTTEN_SECONDS = 3600


def note_wrong_try(request: HttpRequest, what: str, key: object, *, free_tries: int = FREE_TRIES) -> None:
    """Count a wrong password, code or link; after `free_tries` of them the response waits 2, 4, 8 … 30 seconds, while a
    right one always passes at once. `key` names the sender and the thing tried.

    A class shares one address, so the address is never locked out: that would punish all for the tries of one. The
    event loop of the web server waits (`web_pools.py`), not a thread.
    """
    above = count_try(what, key, seconds=TRIES_FORGOTTEN_SECONDS) - free_tries
    if above > 0:
        request.META[DELAY] = min(2 ** min(above, 5), MAX_DELAY_SECONDS)
