"""Messages between the processes: JSON objects through a connection of `multiprocessing`.

A sandboxed process may only read and write what is open, which is all that such a connection does.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import Any

MOST_BYTES = 8_000_000
"""What one message may have: the resampled values of a result take some kilobytes, a long list of problems a few
hundred."""


class ConnectionEnded(Exception):
    """The other side is gone, or sends messages that are too long."""


class PeerGone(ConnectionEnded):
    """The other side was gone before a file was in its hands."""


class MalformedMessage(Exception):
    """The other side sent what no honest one sends."""


def send_message(to: Connection, message: dict[str, Any]) -> None:
    """Send one message. Raises `ConnectionEnded`."""
    text = json.dumps(message).encode()
    with _or_ended():
        to.send_bytes(text)


def receive_message(source: Connection) -> dict[str, Any]:
    """The next message. Raises `ConnectionEnded`, `MalformedMessage`."""
    with _or_ended():
        text = source.recv_bytes(MOST_BYTES)
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage("no JSON") from error
    if not isinstance(message, dict):
        raise MalformedMessage("no JSON object")
    return message


def send_request(to: Connection, request: dict[str, Any]) -> Connection:
    """Send a request; the connection on which a process of its own answers. Raises `PeerGone`."""
    ours, theirs = Pipe()
    with theirs:
        try:
            send_with_connection(to, request, theirs)
        except ConnectionEnded as error:
            raise PeerGone from error
    return ours


def send_with_connection(to: Connection, message: dict[str, Any], connection: Connection) -> None:
    """Send a message, and a connection with it, which stays open here too. Raises `ConnectionEnded`."""
    send_message(to, message)
    with _or_ended():
        send_handle(to, connection.fileno(), None)


def receive_connection(source: Connection) -> Connection:
    """What `send_with_connection` sent behind its message. Raises `ConnectionEnded`."""
    with _or_ended():
        return Connection(recv_handle(source))


def send_file(to: Connection, path: Path) -> None:
    """Send the bytes of a file, which `receive_file` expects. Raises `ConnectionEnded`, and `OSError` where there is no
    such file."""
    with path.open("rb") as file:
        send_message(to, {"size": os.fstat(file.fileno()).st_size})
        with _or_ended(), socket.socket(fileno=os.dup(to.fileno())) as stream:
            stream.sendfile(file)


def receive_file(source: Connection) -> bytes:
    """The bytes of a file. Raises `ConnectionEnded`, `MalformedMessage`."""
    size = int(receive_message(source)["size"])
    with _or_ended(), open(source.fileno(), "rb", closefd=False) as stream:
        data = stream.read(size)
    if len(data) < size:
        raise ConnectionEnded
    return data


def close_connection(connection: Connection) -> None:
    """End a connection from another thread than the one that reads from it."""
    with socket.socket(fileno=os.dup(connection.fileno())) as ours:
        ours.shutdown(socket.SHUT_RDWR)


@contextmanager
def _or_ended() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise ConnectionEnded from error
