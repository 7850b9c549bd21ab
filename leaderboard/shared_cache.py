"""What all processes count together: tries at signing in and at codes.

It lies in the broker, which every installation has. The broker may go away at any time, and nobody is kept from signing
in by that: each process then counts alone until it is back. (A cache that swallows errors would not do: allauth's
limits take a lock that is not given for a limit that is reached.)
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import suppress
from functools import cached_property
from typing import Any, cast

from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

# Who found the broker away does not ask again for so long: a frozen one would cost its time-out at every question.
LEFT_ALONE_FOR = 5.0
_away_until = 0.0


class JsonValues:
    """Plain numbers, lists and texts. Django's own way of writing them would run what it reads."""

    def dumps(self, value: object) -> int | bytes:
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


class _Counting(RedisCache):
    @cached_property
    def _counter(self) -> Any:
        """Django makes a client for each question, which takes longer than to ask it."""
        return self._cache.get_client(write=True)

    def count(self, key: str, seconds: int) -> int:
        """In one question, for it is asked at every request of a program."""
        key = self.make_and_validate_key(key)
        with self._counter.pipeline() as line:
            line.set(key, 0, ex=seconds, nx=True)
            line.incr(key)
            return int(line.execute()[-1])


class Memory(LocMemCache):
    """What a process counts alone."""

    def count(self, key: str, seconds: int) -> int:
        with suppress(ValueError):  # it ran out between the two calls
            if not self.add(key, 1, seconds):
                return int(self.incr(key))
        self.set(key, 1, seconds)
        return 1


class SharedCache(_Counting):
    """Django's Redis cache with JSON inside and a memory of its own for the time without a broker."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {"serializer": JsonValues, "socket_timeout": 0.5, "socket_connect_timeout": 0.5, "retry": None}
        super().__init__(server, {**params, "OPTIONS": {**options, **params.get("OPTIONS", {})}})
        self._alone = Memory("shared", {**params, "OPTIONS": {"MAX_ENTRIES": 20_000}})

    def add(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("add", *args, **kwargs)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("get", *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("set", *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("touch", *args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("delete", *args, **kwargs)

    def has_key(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("has_key", *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("incr", *args, **kwargs)

    def count(self, key: str, seconds: int) -> int:
        """One more under `key`: how many there are with it. They are forgotten `seconds` after the first."""
        return int(self._ask("count", key, seconds))

    def clear(self) -> None:
        """Forget what is ours. Django's own would empty the broker, and with it the queue's bells."""
        self._alone.clear()
        with suppress(RedisError):
            client = self._cache.get_client(write=True)
            for key in client.scan_iter(match=f"{self.key_prefix}:*"):
                client.delete(key)

    def _ask(self, what: str, *args: Any, **kwargs: Any) -> Any:
        global _away_until
        if time.monotonic() >= _away_until:
            try:
                return getattr(super(), what)(*args, **kwargs)
            except RedisError as error:
                _away_until = time.monotonic() + LEFT_ALONE_FOR
                log.warning("the broker does not count (%s); this process counts alone", type(error).__name__)
        return getattr(self._alone, what)(*args, **kwargs)


# --- tries of a person or an address ---------------------------------------------------------------------------


def tries(what: str, who: object) -> int:
    """How often somebody did something lately, in all processes together."""
    return int(caches["default"].get(_key(what, who), 0))


def count_try(what: str, who: object, *, seconds: int) -> int:
    """One more: how many there are with it. The count is forgotten `seconds` after the first."""
    shared = cast(SharedCache, caches["default"])
    return shared.count(_key(what, who), seconds)


def _key(what: str, who: object) -> str:
    return f"tries:{what}:{who}"
