"""Wrong passwords, codes and links: the response to each waits longer, while a right one always passes at once.

A class shares one address, so the address is never locked out: that would punish all for the tries of one. The event
loop of the web server waits (`web_pools.py`), not a thread.
"""

from __future__ import annotations

from django.http import HttpRequest

from .shared_cache import count_try
from .web_pools import DELAY

FREE_TRIES = 10
MAX_DELAY_SECONDS = 30
FORGOTTEN_SECONDS = 3600


def note_wrong_try(request: HttpRequest, what: str, key: object, *, free_tries: int = FREE_TRIES) -> None:
    """Count a wrong try; after `free_tries` of them the response waits 2, 4, 8 … 30 seconds. `key` names the sender and
    the thing tried."""
    above = count_try(what, key, seconds=FORGOTTEN_SECONDS) - free_tries
    if above > 0:
        request.META[DELAY] = min(2 ** min(above, 5), MAX_DELAY_SECONDS)
