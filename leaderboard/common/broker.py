"""The broker (Redis): how many wake-ups wait in it, and the pause after it did not answer."""

from __future__ import annotations

import logging
import time
from functools import cache
from typing import Any

from django.conf import settings

log = logging.getLogger(__name__)

QUEUE = "celery"
# After the broker failed to answer, a process does not ask it for so long, neither to count nor to send a wake-up: a
# frozen broker would cost a time-out each time.
LEFT_ALONE_FOR = 5.0
left_alone = {"until": 0.0}


def is_broker_left_alone() -> bool:
    return time.monotonic() < left_alone["until"]


def leave_broker_alone() -> None:
    """Do not ask the broker for `LEFT_ALONE_FOR` seconds, because it did not answer in time."""
    left_alone["until"] = time.monotonic() + LEFT_ALONE_FOR


def queue_length() -> int | None:
    """Number of wake-ups in the broker; None if it does not connect and answer within half a second each."""
    import redis  # here, because a web server starts faster without it

    try:
        return int(_broker(settings.REDIS_URL).llen(QUEUE))
    except (redis.RedisError, OSError) as error:
        log.warning("the broker does not answer: %s", error)
        return None


@cache
def _broker(address: str) -> Any:
    """A client whose connections stay open: one that the broker closed meanwhile is opened once more."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    again = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
    return redis.Redis.from_url(address, socket_timeout=0.5, socket_connect_timeout=0.5, retry=again)
