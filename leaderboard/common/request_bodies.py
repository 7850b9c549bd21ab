"""Request bodies: the event loop receives them completely before a thread starts."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import IO, Any

from .asgi_messages import Environ, Receive
from .request_senders import Sender

MAX_STRANGER_BYTES = 131_072
FORM_BYTES = 1_048_576  # of a form around its files
MEMORY_BYTES = 16_384  # a larger body waits on the disk
FREE_SECONDS, BYTES_A_SECOND = 60.0, 4096
"""A body may take `FREE_SECONDS`, and a second more for each `BYTES_A_SECOND` bytes that have arrived."""
DISCARD_SECONDS = 10.0

# Reasons for not accepting a body.
TOO_LARGE, SIGN_IN_FIRST, TOO_MANY, CUT_OFF = "too_large", "sign_in_first", "too_many", "cut_off"


_COUNTED = "leaderboard.spooled"


class ClientGone(Exception):
    """The client hung up before its request was complete."""


class ClientTooSlow(Exception):
    """The client sent or read too little in the time that it had."""


@dataclass
class BodyLimits:
    """Limits in bytes for one upload and for all bodies being received together, with the bytes in use per sender."""

    max_upload_bytes: int
    max_spooled_bytes: int
    spooled: Counter[str] = field(default_factory=Counter)

    async def receive(
        self, environ: Environ, sender: Sender | asyncio.Task[Sender], receive: Receive, body: IO[bytes]
    ) -> str:
        """Write the whole body into a file; returns `""`, or the reason for not accepting it. Only a large body depends
        on its sender, so a small one does not wait for it. Raises `ClientGone`, `ClientTooSlow`."""
        begun, announced, received = time.monotonic(), environ["CONTENT_LENGTH"], 0
        size = int(announced) if announced.isdigit() else 0
        while True:
            if size > MAX_STRANGER_BYTES:
                sender = sender if isinstance(sender, Sender) else await sender
                self._count(environ, sender, received)
                if reason := self._reason_to_refuse(sender, size):
                    await _discard(receive)
                    return reason
            late_at = begun + FREE_SECONDS + received / BYTES_A_SECOND
            message = await in_time(receive(), late_at - time.monotonic())
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece = message.get("body", b"")
            body.write(piece)
            received += len(piece)
            size = max(size, received)
            if not message.get("more_body"):
                break
        is_form = environ["CONTENT_TYPE"].startswith("multipart/form-data")
        return "" if not is_form or _has_end(body, received, environ["CONTENT_TYPE"]) else CUT_OFF

    def forget(self, environ: Environ) -> None:
        """Stop counting a body whose file is closed."""
        sender, counted = environ.pop(_COUNTED, ("", 0))
        self.spooled.subtract({sender: counted})
        if self.spooled[sender] <= 0:
            del self.spooled[sender]

    def _count(self, environ: Environ, sender: Sender, size: int) -> None:
        _, counted = environ.get(_COUNTED, ("", 0))
        self.spooled[sender.name] += size - counted
        environ[_COUNTED] = sender.name, size

    def _reason_to_refuse(self, sender: Sender, size: int) -> str:
        if not sender.is_person:
            return SIGN_IN_FIRST
        if size > self.max_upload_bytes + FORM_BYTES:
            return TOO_LARGE
        of_one = max(2 * (self.max_upload_bytes + FORM_BYTES), self.max_spooled_bytes // 8)
        is_full = self.spooled[sender.name] > of_one or self.spooled.total() > self.max_spooled_bytes
        return TOO_MANY if is_full else ""


async def in_time(awaited: Awaitable[Any], seconds: float) -> Any:
    """The result of an awaitable within `seconds`. Raises `ClientTooSlow`."""
    try:
        async with asyncio.timeout(max(seconds, 0.001)):
            return await awaited
    except TimeoutError:
        raise ClientTooSlow from None


async def _discard(receive: Receive) -> None:
    """Read and drop what a client still sends, for at most `DISCARD_SECONDS`: a browser shows no response before it has
    sent its whole file."""
    ends_at = time.monotonic() + DISCARD_SECONDS
    try:
        while (await in_time(receive(), ends_at - time.monotonic())).get("more_body"):
            pass
    except ClientTooSlow:
        return


def _has_end(body: IO[bytes], size: int, content_type: str) -> bool:
    """Whether a multipart form ends with its last boundary: otherwise the first part of a truncated file would be
    scored."""
    boundary = content_type.partition("boundary=")[2].partition(";")[0].strip().strip('"')
    body.seek(max(size - 1024, 0))
    return f"--{boundary}--".encode("latin-1") in body.read()
