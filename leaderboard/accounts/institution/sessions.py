"""HTTP requests to a provider, with a hard time limit.

Redirects are not followed; proxies and password files of this machine are not used. Each request runs in a separate
thread, because the timeouts of `requests` cover neither a slow DNS lookup nor an answer that arrives byte by byte.
"""

from __future__ import annotations

import os
import threading
import time
from io import BytesIO
from queue import Empty, SimpleQueue
from typing import Any

import requests

# For all requests of one page together.
MAX_PAGE_SECONDS = 3.0
MAX_BYTES = 1_000_000
# Including requests that still run although their page has stopped waiting.
MAX_AT_ONCE = 8
_ENDS_AT = "leaderboard.institution_ends_at"
_at_once = threading.BoundedSemaphore(MAX_AT_ONCE)

NoAnswer = requests.RequestException


class Unreachable(NoAnswer):
    """The provider sent no usable answer in time."""


class ProviderSession(requests.Session):
    """The `requests` session for django-allauth; its requests end at `ends_at` of the monotonic clock.

    They raise `Unreachable`.
    """

    def __init__(self, ends_at: float) -> None:
        super().__init__()
        self.ends_at = ends_at
        self.trust_env = False
        self.verify = os.environ.get("REQUESTS_CA_BUNDLE") or True

    @classmethod
    def of_page(cls, environ: dict[str, Any]) -> ProviderSession:
        """A session for the page with this `environ`; all sessions of one page share one time limit."""
        return cls(environ.setdefault(_ENDS_AT, time.monotonic() + MAX_PAGE_SECONDS))

    def request(self, method: str, url: str, **given: Any) -> requests.Response:  # type: ignore[override]
        places = _at_once
        if not places.acquire(blocking=False):
            raise Unreachable("too many at once")
        answers: SimpleQueue[requests.Response | Exception] = SimpleQueue()
        asking = threading.Thread(target=self._answer_into, args=(places, answers, method, url, given), daemon=True)
        try:
            asking.start()
        except RuntimeError:  # the machine has no more threads
            places.release()
            raise Unreachable("no thread") from None
        try:
            answer = answers.get(timeout=max(self.ends_at - time.monotonic(), 0.01))
        except Empty:
            raise Unreachable("late") from None
        if isinstance(answer, Exception):
            raise Unreachable(type(answer).__name__) from None  # the error's message quotes URLs and answers
        return answer

    def _answer_into(
        self,
        places: threading.BoundedSemaphore,
        answers: SimpleQueue[requests.Response | Exception],
        method: str,
        url: str,
        given: dict[str, Any],
    ) -> None:
        answer: requests.Response | Exception
        try:
            answer = self._ask(method, url, given)
        except Exception as error:
            answer = error
        places.release()
        answers.put(answer)

    def _ask(self, method: str, url: str, given: dict[str, Any]) -> requests.Response:
        seconds = max(self.ends_at - time.monotonic(), 0.01)
        limits = {"allow_redirects": False, "stream": True, "timeout": seconds}
        with super().request(method, url, **{**given, **limits}) as response:
            if response.is_redirect or response.status_code >= 500:
                raise Unreachable(str(response.status_code))
            body = bytearray()
            for chunk in response.iter_content(8192):
                body += chunk
                if len(body) > MAX_BYTES or time.monotonic() > self.ends_at:
                    raise Unreachable("endless")
            whole = requests.Response()
            whole.status_code, whole.headers, whole.encoding = response.status_code, response.headers, "utf-8"
            whole.raw = BytesIO(bytes(body))
            return whole
