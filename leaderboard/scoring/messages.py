"""Messages between the processes: JSON objects through a socket that is open already.

A sealed process may only read and write open descriptors, so nothing here calls `send` or `recv`. Each wait has the
deadline that its caller gives, in time of the monotonic clock; a waiting process, which ends with its client, gives
none.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

MAX_MESSAGE_BYTES = 8_000_000
"""The most bytes of one message: a result takes some kilobytes, a long list of problems a few hundred."""

Result = TypeVar("Result")

_LENGTH = struct.Struct("!I")
_MAX_WAIT_SECONDS = 3600.0


class ConnectionEnded(Exception):
    """The connection cannot be used any more: the other side is gone, too slow, or sent nonsense (the subclasses)."""


class DeadlinePassed(ConnectionEnded):
    """The other side did not answer in time."""


class MalformedMessage(ConnectionEnded):
    """The other side sent something that no correct process sends."""


class Channel:
    """One end of a connection between two processes."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self.socket = end

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Both ends of a new connection."""
        ours, theirs = socket.socketpair()
        return cls(ours), cls(theirs)

    def send(self, message: dict[str, Any], until: float | None = None) -> None:
        """Send one message. Raises `ConnectionEnded`."""
        text = json.dumps(message).encode()
        left = memoryview(_LENGTH.pack(len(text)) + text)
        while left:
            left = left[_call_without_waiting(os.write, self.socket.fileno(), left) or 0 :]
            if left:
                self._wait(select.POLLOUT, until)

    def receive(self, until: float | None = None) -> dict[str, Any]:
        """The next message. Raises `ConnectionEnded`."""
        (size,) = _LENGTH.unpack(self.read(_LENGTH.size, until))
        if size > MAX_MESSAGE_BYTES:
            raise MalformedMessage("too long")
        try:
            message = json.loads(self.read(size, until))
        except (ValueError, RecursionError) as error:
            raise MalformedMessage("no JSON") from error
        if not isinstance(message, dict):
            raise MalformedMessage("no JSON object")
        return message

    def read(self, size: int, until: float | None = None) -> bytes:
        """Read exactly `size` bytes. Raises `ConnectionEnded`."""
        pieces: list[bytes] = []
        while size:
            piece = _call_without_waiting(os.read, self.socket.fileno(), min(size, 1_048_576))
            if piece is None:
                self._wait(select.POLLIN, until)
            elif not piece:
                raise ConnectionEnded
            else:
                pieces.append(piece)
                size -= len(piece)
        return b"".join(pieces)

    def send_file(self, path: Path, message: dict[str, Any], until: float | None = None) -> None:
        """Send a message with the `size` of a file and then its bytes. Raises `ConnectionEnded`, and `OSError` if there
        is no such file."""
        with path.open("rb") as file:
            size, sent = os.fstat(file.fileno()).st_size, 0
            self.send({**message, "size": size}, until)
            while sent < size:
                count = _call_without_waiting(os.sendfile, self.socket.fileno(), file.fileno(), sent, size - sent)
                if count == 0:
                    raise ConnectionEnded  # the file became shorter
                if count is None:
                    self._wait(select.POLLOUT, until)
                else:
                    sent += count

    def send_channel(self, message: dict[str, Any], channel: Channel, until: float) -> None:
        """Send a message and then a connection. Raises `ConnectionEnded`."""
        self.send(message, until)
        self._wait(select.POLLOUT, until)
        _call_without_waiting(socket.send_fds, self.socket, [b"c"], [channel.socket.fileno()])

    def receive_channel(self) -> Channel:
        """The connection that `send_channel` sent after its message. Raises `ConnectionEnded`."""
        self._wait(select.POLLIN, None)
        received = _call_without_waiting(socket.recv_fds, self.socket, 1, 1)
        if not received or not received[1]:
            raise ConnectionEnded
        return Channel(socket.socket(fileno=received[1][0]))

    def has_something(self, seconds: float = 0) -> bool:
        """Whether the other side has sent something or ended, or does so within these seconds."""
        poll = select.poll()
        poll.register(self.socket.fileno(), select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def close(self) -> None:
        self.socket.close()

    def _wait(self, for_what: int, until: float | None) -> None:
        poll = select.poll()
        poll.register(self.socket.fileno(), for_what)
        left = _MAX_WAIT_SECONDS if until is None else until - time.monotonic()
        if left <= 0 or (not poll.poll(left * 1000) and until is not None):
            raise DeadlinePassed


def _call_without_waiting(function: Callable[..., Result], *arguments: Any) -> Result | None:
    """Call a function of the system; None if it would block. Raises `ConnectionEnded`."""
    try:
        return function(*arguments)
    except BlockingIOError:
        return None
    except OSError as error:
        raise ConnectionEnded from error
