"""Wrong passwords, codes and links: the answer to each waits longer, and a right one always passes.

A class sits behind one address, so nobody is shut out for what others send. The wait is in the event loop of the web
server (`web_pools.py`); no thread waits.
"""

from __future__ import annotations

from django.http import HttpRequest

from .shared_cache import count_try
from .web_pools import DELAY

FREE_TRIES = 10
MAX_DELAY_SECONDS = 30
FORGOTTEN_SECONDS = 3600


def note_wrong_try(request: HttpRequest, what: str, key: object, *, free_tries: int = FREE_TRIES) -> None:
    """Count a wrong try; from so many on its answer waits 2, 4, 8 … 30 seconds. `key` names the sender, and what the
    try was for."""
    above = count_try(what, key, seconds=FORGOTTEN_SECONDS) - free_tries
    if above > 0:
        request.META[DELAY] = min(2 ** min(above, 5), MAX_DELAY_SECONDS)
