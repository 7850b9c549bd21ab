"""HTTP requests to a provider, which have an end whatever the provider does.

The requests of one page may take `SECONDS` together. No redirect is followed, no proxy and no password file of this
machine is read. A thread of its own sends each: a provider that answers drop by drop begins every time limit for
reading anew.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from io import BytesIO
from queue import Empty, SimpleQueue
from typing import Any

import requests
from django.conf import settings

from leaderboard.common.client_addresses import counted_address
from leaderboard.common.slow_clients import release_slot_while_waiting

SECONDS = 8.0
LONGEST_SILENCE = 5.0
MOST_BYTES = 1_000_000
# Of the web server's 512 threads, those that may wait for providers, and for one address; pages have the others.
MOST_AT_ONCE, MOST_OF_ONE_ADDRESS = 128, 64
_ENDS_AT = "leaderboard.institution_ends_at"


class Places:
    """The requests that are under way, by the address that each is made for."""

    def __init__(self) -> None:
        self._lock, self._taken = threading.Lock(), Counter[str]()

    def take(self, address: str) -> bool:
        with self._lock:
            is_free = self._taken.total() < MOST_AT_ONCE and self._taken[address] < MOST_OF_ONE_ADDRESS
            self._taken[address] += is_free
            return is_free

    def give_back(self, address: str) -> None:
        with self._lock:
            self._taken[address] -= 1
            self._taken += Counter()  # without those that have none

    def taken(self) -> int:
        with self._lock:
            return self._taken.total()


PLACES = Places()


NoAnswer = requests.RequestException


class Unreachable(NoAnswer):
    """The provider gave no answer that can be used, or none in time."""


class ProviderSession(requests.Session):
    """What django-allauth asks a provider with, for the page that `environ` belongs to."""

    def __init__(self, environ: dict[str, Any]) -> None:
        super().__init__()
        self.address = counted_address(environ, settings.ALLAUTH_TRUSTED_PROXY_COUNT)
        self.ends_at: float = environ.setdefault(_ENDS_AT, time.monotonic() + SECONDS)
        self.trust_env = False
        self.verify = os.environ.get("REQUESTS_CA_BUNDLE") or True

    def request(self, method: str, url: str, **given: Any) -> requests.Response:  # type: ignore[override]
        if not PLACES.take(self.address):
            raise Unreachable("too many at once")
        answers: SimpleQueue[requests.Response | Exception] = SimpleQueue()
        asking = threading.Thread(target=self._answer_into, args=(answers, method, url, given), daemon=True)
        try:
            asking.start()
        except RuntimeError:  # the machine has no more threads
            PLACES.give_back(self.address)
            raise Unreachable("no thread") from None
        try:
            with release_slot_while_waiting():
                answer = answers.get(timeout=max(self.ends_at - time.monotonic(), 0.01))
        except Empty:
            raise Unreachable("late") from None
        if isinstance(answer, Exception):
            raise Unreachable(type(answer).__name__) from None  # its own words quote addresses and answers
        return answer

    def _answer_into(
        self, answers: SimpleQueue[requests.Response | Exception], method: str, url: str, given: dict[str, Any]
    ) -> None:
        answer: requests.Response | Exception
        try:
            answer = self._ask(method, url, given)
        except Exception as error:
            answer = error
        PLACES.give_back(self.address)
        answers.put(answer)

    def _ask(self, method: str, url: str, given: dict[str, Any]) -> requests.Response:
        limits = {"allow_redirects": False, "stream": True, "timeout": LONGEST_SILENCE}
        with super().request(method, url, **{**given, **limits}) as response:
            if response.is_redirect or response.status_code >= 500:
                raise Unreachable(str(response.status_code))
            body = bytearray()
            for chunk in response.iter_content(8192):
                body += chunk
                if len(body) > MOST_BYTES or time.monotonic() > self.ends_at:
                    raise Unreachable("endless")
            whole = requests.Response()
            whole.status_code, whole.headers, whole.encoding = response.status_code, response.headers, "utf-8"
            whole.raw = BytesIO(bytes(body))
            return whole
