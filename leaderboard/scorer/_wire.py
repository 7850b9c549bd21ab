"""Frames through a descriptor: a JSON object and raw bytes. What arrives is never more than numbers, texts and bytes.

A sealed process may read and write what is open and do nothing else with a socket, so `read` and `write` are all that
is used, but where a descriptor changes hands.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

MOST_BYTES = 8_000_000
"""What one frame may have: two hundred resampled values per split take some kilobytes, a long list of problems a few
hundred."""

_LENGTHS = struct.Struct("!II")
_PIECE = 1 << 18


class Ended(Exception):
    """The other side is gone."""


class Garbled(Exception):
    """The other side sent what no honest one sends."""


def send(to: int, told: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Send one frame. Raises `Ended`."""
    text, rest = json.dumps(told).encode(), b"".join(blobs)
    left = memoryview(_LENGTHS.pack(len(text), len(rest)) + text + rest)
    try:
        while left:
            left = left[os.write(to, left) :]
    except OSError as error:
        raise Ended from error


def receive(source: int, until: float | None = None) -> tuple[dict[str, Any], bytes]:
    """The next frame, before `until` on the monotonic clock. Raises `Ended`, `Garbled`, `TimeoutError`."""
    length, rest = _LENGTHS.unpack(_exactly(source, _LENGTHS.size, until))
    if length + rest > MOST_BYTES:
        raise Garbled("a frame that is too long")
    text, blob = _exactly(source, length, until), _exactly(source, rest, until)
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Garbled("no JSON") from error
    if not isinstance(told, dict):
        raise Garbled("no JSON object")
    return told, blob


def send_descriptor(to: int, descriptor: int) -> None:
    """Hand a descriptor over. Raises `Ended`."""
    try:
        with socket.socket(fileno=os.dup(to)) as door:
            socket.send_fds(door, [b"."], [descriptor])
    except OSError as error:
        raise Ended from error


def receive_descriptor(source: int, until: float) -> int:
    """A descriptor that the other side hands over, which this process then owns. Raises `Ended`, `TimeoutError`."""
    if not is_readable_until(source, until):
        raise TimeoutError
    try:
        with socket.socket(fileno=os.dup(source)) as door:
            _, found, _, _ = socket.recv_fds(door, 1, 1)
    except OSError as error:
        raise Ended from error
    if not found:
        raise Ended
    return found[0]


def is_readable_until(source: int, until: float | None) -> bool:
    """Wait until something can be read, or the end of it; False when the time is over before."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    left = None if until is None else max(0.0, until - time.monotonic()) * 1000
    return bool(poll.poll(left))


def close(*descriptors: int) -> None:
    """Close these; one that is closed already does no harm."""
    for one in descriptors:
        with suppress(OSError):
            os.close(one)


def pair() -> tuple[int, int]:
    """Two ends of a connection, as descriptors."""
    one, other = socket.socketpair()
    return one.detach(), other.detach()


def _exactly(source: int, size: int, until: float | None) -> bytes:
    found = bytearray()
    while len(found) < size:
        if not is_readable_until(source, until):
            raise TimeoutError
        try:
            more = os.read(source, min(size - len(found), _PIECE))
        except OSError as error:
            raise Ended from error
        if not more:
            raise Ended
        found += more
    return bytes(found)
