"""People with slow connections must not keep everybody else waiting.

A web thread is busy for as long as an upload comes in or a download goes out, so there are many of them; but only a
few may work at the same time (Python runs one at a time, and SQLite has one writer). A thread that waits for a
client's bytes or for a child process gives its place to another, and one that sends bytes has none.

A sender of hundreds of bodies that come drop by drop would have all threads, and the web server limits neither their
time nor their number. So some threads are left for pages, and one address gets a part of them. A whole class may sit
behind that address, so some are left for people who are signed in, a few for each.

Django writes a large body to the disk while it comes in. So a person sends two at once, and one that falls silent or
crawls is given up: its file is emptied and the rest is not read, as if the client had hung up.
"""

from __future__ import annotations

import io
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from .client_addresses import counted_address

log = logging.getLogger(__name__)

# Of the web server's 512 threads. A whole class may sit behind one address.
MOST_SLOW, MOST_SLOW_OF_ONE = 448, 256
FOR_PEOPLE, MOST_SLOW_OF_A_PERSON = 128, 8
# Bytes from which Django keeps an upload on the disk (its `FILE_UPLOAD_MAX_MEMORY_SIZE`).
LARGE, MOST_LARGE_OF_A_PERSON = 2_621_440, 2
LONGEST_SILENCE = 60.0
SLOWEST = 4096  # bytes a second on the whole, after a first minute
LOOKED_AT_EVERY = 5.0
TOO_MANY = b"Too many uploads are on their way at this moment. Try again in half a minute.\n"
TOO_MANY_LARGE = b"Two large files of yours are on their way. Send this one when one of them has arrived.\n"

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class FairSemaphore:
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


_thread_state = threading.local()


@contextmanager
def release_slot_while_waiting() -> Iterator[None]:
    """Give this thread's place away while it waits for somebody else; outside of a request nothing happens."""
    places: FairSemaphore | None = getattr(_thread_state, "places", None)
    if places is None:
        yield
        return
    _thread_state.places = None
    places.release()
    try:
        yield
    finally:
        places.acquire()
        _thread_state.places = places


class MeteredBody(io.BufferedIOBase):
    """What a client sends. `sender` is whom its thread counts for, `owner` the person who sends a large one."""

    def __init__(self, source: Any, sender: str, owner: str = "") -> None:
        self.source, self.sender, self.owner = source, sender, owner
        self.files: list[IO[bytes]] = []
        self.begun = self.heard = time.monotonic()
        self.received, self.is_awaited, self.is_given_up = 0, False, False

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        if self.is_given_up:
            return b""
        with release_slot_while_waiting():
            self.is_awaited = True
            try:
                data: bytes = self.source.read() if size is None or size < 0 else self.source.read(size)
            finally:
                self.is_awaited = False
        self.received, self.heard = self.received + len(data), time.monotonic()
        return b"" if self.is_given_up else data

    def takes_too_long(self, now: float) -> bool:
        seconds = now - self.begun
        is_silent = now - self.heard > LONGEST_SILENCE
        return is_silent or (seconds > LONGEST_SILENCE and self.received < SLOWEST * seconds)

    def give_up(self) -> None:
        self.is_given_up = True
        for file in self.files:
            with suppress(OSError, ValueError):  # closed meanwhile
                file.truncate(0)
        log.warning("a large upload was given up: it was silent or too slow")


class LimitSlowClients:
    """A WSGI application of which at most `places` requests are worked on at once. `proxies` stand before it; `person`
    says who sends a request, where that has to be known before it is read; `most` bodies are waited for at once, of
    them `most_of_one` of one address, and the last `for_people` of persons alone."""

    def __init__(
        self,
        application: Application,
        places: int,
        *,
        proxies: int = 0,
        person: Callable[[Environ], str] = lambda _: "",
        most: int = MOST_SLOW,
        most_of_one: int = MOST_SLOW_OF_ONE,
        for_people: int = FOR_PEOPLE,
    ) -> None:
        self.application, self.places, self.proxies, self.person = application, FairSemaphore(places), proxies, person
        self.most, self.most_of_one, self.for_people = most, most_of_one, for_people
        self.bodies: set[MeteredBody] = set()
        self._lock = threading.Lock()

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"] = MeteredBody(environ["wsgi.input"], counted_address(environ, self.proxies))
        self.places.acquire()
        _thread_state.places = self.places
        try:
            # Asked by those who have a place, so that a crowd that comes at once is counted too.
            if self._is_one_too_many(environ, body):
                log.warning("too many slow uploads at once: one more was not read")
                return _refuse(start_response, "503 Service Unavailable", "30", TOO_MANY)
            if not self._add(environ, body):
                return _refuse(start_response, "429 Too Many Requests", "60", TOO_MANY_LARGE)
            return self.application(environ, start_response)
        finally:
            with self._lock:
                self.bodies.discard(body)
            _thread_state.places = None
            self.places.release()

    def _is_one_too_many(self, environ: Environ, body: MeteredBody) -> bool:
        """Whether the part of the sender is used up: of the address and, where it is, of the person."""
        if environ.get("CONTENT_LENGTH", "0") in ("", "0"):
            return False
        with self._lock:
            awaited = [one.sender for one in self.bodies if one.is_awaited]
        if len(awaited) < self.most - self.for_people and awaited.count(body.sender) < self.most_of_one:
            return False
        body.sender = self.person(environ)
        is_full = len(awaited) >= self.most or awaited.count(body.sender) >= MOST_SLOW_OF_A_PERSON
        return is_full or not body.sender

    def _add(self, environ: Environ, body: MeteredBody) -> bool:
        """Count a body as on its way, unless it is large and its owner sends as many as are allowed."""
        # A stranger's file reaches no disk.
        owner = self.person(environ) if _length(environ) >= LARGE else ""
        with self._lock:
            if owner and sum(one.owner == owner for one in self.bodies) >= MOST_LARGE_OF_A_PERSON:
                return False
            body.owner = owner
            self.bodies.add(body)
        return True

    def give_up_late_bodies(self, now: float) -> None:
        with self._lock:
            large = [body for body in self.bodies if body.owner and not body.is_given_up]
        for body in large:
            if body.takes_too_long(now):
                body.give_up()

    def watch(self) -> None:
        """Look after large bodies for as long as the process lives."""
        while True:
            time.sleep(LOOKED_AT_EVERY)
            self.give_up_late_bodies(time.monotonic())


def _length(environ: Environ) -> int:
    with suppress(ValueError):
        return int(environ.get("CONTENT_LENGTH") or 0)
    return 0


def _refuse(start_response: Callable[..., Any], status: str, seconds: str, text: bytes) -> Iterable[bytes]:
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Retry-After", seconds), ("Cache-Control", "no-store")]
    start_response(status, headers)
    return [text]
