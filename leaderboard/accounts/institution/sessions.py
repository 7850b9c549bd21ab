"""HTTP requests to a provider, with a hard time limit.

Redirects are not followed; proxies and password files of this machine are not used. Each request runs in a separate
thread, because the timeouts of `requests` cover neither a slow DNS lookup nor an answer that arrives byte by byte.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Future
from io import BytesIO
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

    They raise `Unreachable`, also for an answer with a status above `max_status`.
    """

    max_status = 499

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
        answer: Future[requests.Response] = Future()
        asking = threading.Thread(target=self._answer_into, args=(answer, places, method, url, given), daemon=True)
        try:
            asking.start()
        except RuntimeError:  # the machine has no more threads
            places.release()
            raise Unreachable("no thread") from None
        try:
            return answer.result(timeout=max(self.ends_at - time.monotonic(), 0.01))
        except TimeoutError:
            raise Unreachable("late") from None
        except Exception as error:
            raise Unreachable(type(error).__name__) from None  # the error's message quotes URLs and answers

    def _answer_into(
        self, answer: Future[requests.Response], places: threading.BoundedSemaphore, method: str, url: str, given: Any
    ) -> None:
        try:
            response = self._ask(method, url, given)
        except Exception as error:
            places.release()
            answer.set_exception(error)
        else:
            places.release()
            answer.set_result(response)

    def _ask(self, method: str, url: str, given: dict[str, Any]) -> requests.Response:
        seconds = max(self.ends_at - time.monotonic(), 0.01)
        limits = {"allow_redirects": False, "stream": True, "timeout": seconds}
        with super().request(method, url, **{**given, **limits}) as response:
            if response.is_redirect or response.status_code > self.max_status:
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
