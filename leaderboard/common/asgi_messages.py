"""Translation from ASGI, which the web server speaks, to WSGI, by which the site is called."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import unquote_to_bytes

PIECE_BYTES = 65_536

Environ = dict[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Site = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class FileWrapper:
    """A file as the body of a WSGI response (`wsgi.file_wrapper`); the event loop reads and sends it in pieces."""

    def __init__(self, file: IO[bytes], size: int = PIECE_BYTES) -> None:
        self.file = file


@dataclass
class Answer:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    file: IO[bytes] | None = None


def environ_of(scope: Scope) -> Environ:
    """The WSGI environ of a request, without its body."""
    server, client = scope.get("server") or ("localhost", 80), scope.get("client") or ("", 0)
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": client[0],
        "CONTENT_TYPE": "",
        "CONTENT_LENGTH": "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": FileWrapper,
    }
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        key = name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
        between = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{between}{value}" if environ.get(key) else value
    return environ


def plain_answer(status: int, words: str, *, close: bool = False) -> Answer:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    headers += [(b"retry-after", b"30")] * (status == 503) + [(b"connection", b"close")] * close
    return Answer(status, headers, words.encode())


def body_message(data: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}
