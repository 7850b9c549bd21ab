"""Large bodies: a few at once for each person, and none that holds the disk while it is silent or crawls.

From some size on Django writes a file to the disk while it comes in, so twenty bodies of 90 MB that fall silent would
hold the disk for as long as their sender likes. The web server has no time limit for a body and nothing can stop its
waiting. So a watcher empties the file of a body that takes too long. The rest is not read, as if the client had hung
up, and the body counts as its sender's until the client does hang up.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import IO, Any

log = logging.getLogger(__name__)

LARGE = 2_621_440
"""Bytes from which Django keeps an upload on the disk (its `FILE_UPLOAD_MAX_MEMORY_SIZE`)."""
MOST_OF_A_PERSON = 2
LONGEST_SILENCE = 60.0
SLOWEST = 4096
"""Bytes a second on the whole, after a first minute."""
LOOKED_AT_EVERY = 5.0


class LargeBody:
    """Reads like the body that it is made of, and like one that has ended once it was given up."""

    def __init__(self, source: Any) -> None:
        self.source, self.files = source, list[IO[bytes]]()
        self.begun = self.heard = time.monotonic()
        self.received, self.is_given_up = 0, False

    def fills(self, file: IO[bytes]) -> None:
        """Have this file emptied when the body is given up."""
        self.files.append(file)

    def read(self, *size: int) -> bytes:
        data: bytes = self._noted(self.source.read, size, b"")
        return data

    def readline(self, *size: int) -> bytes:
        line: bytes = self._noted(self.source.readline, size, b"")
        return line

    def readlines(self, *hint: int) -> list[bytes]:
        found: list[bytes] = self._noted(self.source.readlines, hint, [])
        return found

    def _noted(self, read: Any, arguments: tuple[int, ...], nothing: Any) -> Any:
        found = nothing if self.is_given_up else read(*arguments)
        if self.is_given_up:
            return nothing
        self.received += sum(map(len, found)) if isinstance(found, list) else len(found)
        self.heard = time.monotonic()
        return found

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


class LargeBodies:
    """Large bodies that are on their way at this moment, by person."""

    def __init__(self) -> None:
        self._open: dict[LargeBody, str] = {}
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None

    def is_large(self, environ: dict[str, Any]) -> bool:
        with suppress(ValueError):
            return int(environ.get("CONTENT_LENGTH") or 0) >= LARGE
        return False

    def begin(self, source: Any, person: str) -> LargeBody | None:
        """One more body of this person; None where they have as many as are allowed."""
        with self._lock:
            if Counter(self._open.values())[person] >= MOST_OF_A_PERSON:
                return None
            body = LargeBody(source)
            self._open[body] = person
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
            return body

    def end(self, body: LargeBody) -> None:
        """The request is answered; nothing more of it is read."""
        with self._lock:
            self._open.pop(body, None)

    def look(self, now: float) -> None:
        """Give up what takes too long."""
        with self._lock:
            late = [body for body in self._open if not body.is_given_up and body.takes_too_long(now)]
        for body in late:
            body.give_up()

    def _watch(self) -> None:
        while True:
            time.sleep(LOOKED_AT_EVERY)
            self.look(time.monotonic())
