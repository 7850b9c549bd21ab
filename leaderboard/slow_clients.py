"""People with slow connections must not keep everybody else waiting.

A web thread is busy for as long as an upload comes in or a download goes out, so there are many of them; but only a
few may work at the same time (Python runs one at a time, and SQLite has one writer). A thread that waits for a
client's bytes or for a child process gives its place to another, and one that sends bytes has none.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

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


class FewAtOnce:
    """A WSGI application of which at most `places` requests are worked on at once."""

    def __init__(self, application: Application, places: int) -> None:
        self.application = application
        self.places = Places(places)

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ["wsgi.input"] = Body(environ["wsgi.input"])
        self.places.acquire()
        _here.places = self.places
        try:
            return self.application(environ, start_response)
        finally:
            _here.places = None
            self.places.release()


class Body:
    """What a client sends; whoever waits for it needs no place."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def read(self, *size: int) -> bytes:
        with waiting():
            data: bytes = self.source.read(*size)
        return data

    def readline(self, *size: int) -> bytes:
        with waiting():
            line: bytes = self.source.readline(*size)
        return line

    def readlines(self, *hint: int) -> list[bytes]:
        with waiting():
            lines: list[bytes] = self.source.readlines(*hint)
        return lines

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line
