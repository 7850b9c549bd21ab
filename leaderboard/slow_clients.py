"""People with slow connections must not keep everybody else waiting.

A web thread is busy for as long as an upload comes in or a download goes out, so there are many of them; but only a
few may work at the same time (Python runs one at a time, and SQLite has one writer). A thread that waits for a
client's bytes or for a child process gives its place to another, and one that sends bytes has none.

Who sends hundreds of bodies drop by drop would have all threads. So some are left for pages, and one address gets a
part of them; more than that is not begun to be read. A whole class may sit behind that address, so some are left for
people who are signed in, a few for each.

A large body fills the disk while it comes in, so a person sends two at once (`large_bodies.py`).
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from .client_addresses import client_address, customer_network
from .large_bodies import LargeBodies, LargeBody

log = logging.getLogger(__name__)

# Of the web server's 512 threads. A whole class may sit behind one address.
MOST_SLOW, MOST_SLOW_OF_ONE = 448, 256
FOR_PEOPLE, MOST_SLOW_OF_A_PERSON = 128, 8
TOO_MANY = b"Too many uploads are on their way at this moment. Try again in half a minute.\n"
TOO_MANY_LARGE = b"Two large files of yours are on their way. Send this one when one of them has arrived.\n"

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class Places:
    """A semaphore that serves in order of arrival: Python's own lets latecomers pass."""

    def __init__(self, number: int) -> None:
        self.free = number
        self._queue: deque[threading.Lock] = deque()
        self._lock = threading.Lock()

    def acquire(self) -> None:
        with self._lock:
            if self.free:
                self.free -= 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._queue.append(turn)
        turn.acquire()

    def release(self) -> None:
        with self._lock:
            if self._queue:
                self._queue.popleft().release()
            else:
                self.free += 1


_here = threading.local()


@contextmanager
def waiting() -> Iterator[None]:
    """Give this thread's place away while it waits for somebody else; outside of a request nothing happens."""
    places: Places | None = getattr(_here, "places", None)
    if places is None:
        yield
        return
    _here.places = None
    places.release()
    try:
        yield
    finally:
        places.acquire()
        _here.places = places


class Slow:
    """Bodies that are waited for at this moment, all and by sender: an address or, where its part is used up, a person.
    The last `for_people` are for persons alone."""

    def __init__(self, most: int, most_of_one: int, for_people: int = 0) -> None:
        self.most, self.most_of_one, self.for_people = most, most_of_one, for_people
        self._by_sender: Counter[str] = Counter()
        self._lock = threading.Lock()

    def are_too_many(self, address: str) -> bool:
        with self._lock:
            most = self.most - self.for_people
            return self._by_sender.total() >= most or self._by_sender[address] >= self.most_of_one

    def are_too_many_of_person(self, person: str) -> bool:
        with self._lock:
            return self._by_sender.total() >= self.most or self._by_sender[person] >= MOST_SLOW_OF_A_PERSON

    @contextmanager
    def one_of(self, sender: str) -> Iterator[None]:
        with self._lock:
            self._by_sender[sender] += 1
        try:
            yield
        finally:
            with self._lock:
                self._by_sender[sender] -= 1
                if not self._by_sender[sender]:
                    del self._by_sender[sender]


def address_of(environ: Environ, proxies: int) -> str:
    """Where a request comes from, as limits count it."""
    return customer_network(client_address(environ, proxies))


def nobody(_: Environ) -> str:
    return ""


class FewAtOnce:
    """A WSGI application of which at most `places` requests are worked on at once. `proxies` stand before it; `person`
    says who sends a request, where that has to be known before it is read."""

    def __init__(
        self,
        application: Application,
        places: int,
        *,
        slow: Slow | None = None,
        proxies: int = 0,
        person: Callable[[Environ], str] = nobody,
    ) -> None:
        self.application = application
        self.places = Places(places)
        self.slow = slow or Slow(MOST_SLOW, MOST_SLOW_OF_ONE, FOR_PEOPLE)
        self.proxies = proxies
        self.person = person
        self.large_bodies = LargeBodies()

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"] = Body(environ["wsgi.input"], self.slow, address_of(environ, self.proxies))
        self.places.acquire()
        _here.places = self.places
        try:
            # Asked by those who have a place, so that a crowd that comes at once is counted too.
            if environ.get("CONTENT_LENGTH", "0") not in ("", "0") and not self._may_begin(environ, body):
                return _too_many(start_response)
            if not self._may_be_large(environ, body):
                return _too_many_large(start_response)
            return self.application(environ, start_response)
        finally:
            if isinstance(body.source, LargeBody):
                self.large_bodies.end(body.source)
            _here.places = None
            self.places.release()

    def _may_be_large(self, environ: Environ, body: Body) -> bool:
        # A stranger's file reaches no disk, and its thread is counted above.
        if not self.large_bodies.is_large(environ) or not (person := self.person(environ)):
            return True
        if (large := self.large_bodies.begin(body.source, person)) is None:
            return False
        body.source = large
        return True

    def _may_begin(self, environ: Environ, body: Body) -> bool:
        if not self.slow.are_too_many(body.sender):
            return True
        if not (person := self.person(environ)) or self.slow.are_too_many_of_person(person):
            return False
        body.sender = person
        return True


def _too_many(start_response: Callable[..., Any]) -> Iterable[bytes]:
    log.warning("too many slow uploads at once: one more was not read")
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Retry-After", "30"), ("Cache-Control", "no-store")]
    start_response("503 Service Unavailable", headers)
    return [TOO_MANY]


def _too_many_large(start_response: Callable[..., Any]) -> Iterable[bytes]:
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Retry-After", "60"), ("Cache-Control", "no-store")]
    start_response("429 Too Many Requests", headers)
    return [TOO_MANY_LARGE]


class Body:
    """What a client sends; whoever waits for it needs no place."""

    def __init__(self, source: Any, slow: Slow, sender: str) -> None:
        self.source, self.slow, self.sender = source, slow, sender

    def fills(self, file: IO[bytes]) -> None:
        """The file on the disk that this body is written to."""
        if isinstance(self.source, LargeBody):
            self.source.fills(file)

    def read(self, *size: int) -> bytes:
        with self._waiting():
            data: bytes = self.source.read(*size)
        return data

    def readline(self, *size: int) -> bytes:
        with self._waiting():
            line: bytes = self.source.readline(*size)
        return line

    def readlines(self, *hint: int) -> list[bytes]:
        with self._waiting():
            lines: list[bytes] = self.source.readlines(*hint)
        return lines

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        with waiting(), self.slow.one_of(self.sender):
            yield
