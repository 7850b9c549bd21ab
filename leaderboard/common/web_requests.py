"""Requests as the event loop of the web server receives them: messages, senders, bodies.

`client_address` is for every limit that counts by address. A provider assigns a customer at least a /64 of IPv6
addresses, so a limit per single IPv6 address would limit nothing.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from django.core import signing
from django.http import parse_cookie

from .fair_pools import WaitedTooLong

log = logging.getLogger(__name__)

# --- messages: from ASGI, which the server speaks, to WSGI -----------------------------------------------------

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
        if b"_" in raw_name:
            continue  # `X_Forwarded_For` passes a proxy, and would have the same key as the proxy's own header
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


# --- senders, for fair shares ----------------------------------------------------------------------------------


def client_address(environ: dict[str, Any], proxies: int) -> str:
    """The client's address: the entry of `X-Forwarded-For` that the outermost of `proxies` trusted proxies added, else
    that of the connection."""
    named = [one.strip() for one in environ.get("HTTP_X_FORWARDED_FOR", "").split(",") if one.strip()]
    return plain_address(named[-proxies] if 0 < proxies <= len(named) else environ.get("REMOTE_ADDR", ""))


def counted_address(environ: dict[str, Any], proxies: int) -> str:
    """The client's address in the form in which limits count it."""
    return customer_network(client_address(environ, proxies))


def plain_address(address: str) -> str:
    """An address in which IPv4 mapped into IPv6 (`::ffff:192.0.2.1`) is written as IPv4; other texts unchanged."""
    with suppress(ValueError):
        found = ip_address(address)
        if isinstance(found, IPv6Address) and found.ipv4_mapped:
            return str(found.ipv4_mapped)
    return address


def customer_network(address: str) -> str:
    """The unit that limits count: a single IPv4 address, or the /64 network of an IPv6 address."""
    with suppress(ValueError):
        found = ip_address(plain_address(address))
        if isinstance(found, IPv6Address):
            return str(ip_network((found, 64), strict=False))
        return str(found)
    return address


REMEMBERED_SECONDS, MAX_REMEMBERED = 60.0, 20_000
VISITOR_COOKIE = "visitor"

Credential = tuple[str, str]


@dataclass(frozen=True)
class Sender:
    """A person by account; a stranger by address and visitor cookie. `is_new`: a stranger without that cookie yet."""

    name: str
    address: str
    is_person: bool = False
    is_new: bool = False


@dataclass
class Senders:
    """Finds the senders of requests. A valid session or token means a person, which is remembered for a minute; all
    others are strangers. `ask` returns the name of a request's account, `""` for none, and runs in a thread."""

    ask: Callable[[Environ, Sender], Awaitable[str]]
    session_cookie: str
    proxies: int
    known: OrderedDict[Credential, tuple[float, str]] = field(default_factory=OrderedDict)
    being_asked: dict[Credential, asyncio.Task[Sender]] = field(default_factory=dict)

    def find(self, environ: Environ) -> Sender | asyncio.Task[Sender]:
        """The sender, or the task that finds it; requests with the same credential share one task."""
        cookies = parse_cookie(environ.get("HTTP_COOKIE", ""))
        visitor, address = visitor_of(cookies), counted_address(environ, self.proxies)
        stranger = Sender(f"stranger {address} {visitor}", address, is_new=not visitor)
        credential = environ.get("HTTP_AUTHORIZATION", ""), cookies.get(self.session_cookie, "")
        if not any(credential):
            return stranger
        until, person = self.known.get(credential, (0.0, ""))
        if time.monotonic() <= until:
            return Sender(person, address, is_person=True) if person else stranger
        if credential not in self.being_asked:
            self.being_asked[credential] = asyncio.create_task(self._ask(credential, environ, stranger))
        return self.being_asked[credential]

    async def _ask(self, credential: Credential, environ: Environ, stranger: Sender) -> Sender:
        try:
            person = await self.ask(environ, stranger)
        except WaitedTooLong:
            return stranger
        except Exception:
            # Probably the database is down, which the view will report; the body must not be refused for that.
            log.exception("the sender of a request could not be found out")
            return Sender(f"unknown {stranger.address}", stranger.address, is_person=True)
        finally:
            del self.being_asked[credential]
        self.known[credential] = time.monotonic() + REMEMBERED_SECONDS, person
        self.known.move_to_end(credential)
        if len(self.known) > MAX_REMEMBERED:
            self.known.popitem(last=False)
        return Sender(person, stranger.address, is_person=True) if person else stranger


def visitor_of(cookies: dict[str, str]) -> str:
    """The visitor id in the signed cookie; `""` without a cookie, or with one whose signature is wrong."""
    try:
        return _visitor_signer().unsign(cookies.get(VISITOR_COOKIE, ""))
    except signing.BadSignature:
        return ""


def new_visitor_cookie(*, is_secure: bool) -> str:
    """A `Set-Cookie` header with a new visitor id, valid until the browser is closed."""
    cookie = f"{VISITOR_COOKIE}={_visitor_signer().sign(secrets.token_hex(8))}; Path=/; HttpOnly; SameSite=Lax"
    return cookie + "; Secure" * is_secure


def _visitor_signer() -> signing.Signer:
    return signing.Signer(salt=VISITOR_COOKIE)


# --- bodies, complete before a thread starts -------------------------------------------------------------------

MAX_STRANGER_BYTES = 131_072
FORM_BYTES = 1_048_576  # of a form around its files
MEMORY_BYTES = 16_384  # a larger body waits on the disk
FREE_SECONDS, BYTES_A_SECOND = 60.0, 4096
"""A body may take `FREE_SECONDS`, and a second more for each `BYTES_A_SECOND` bytes that have arrived; but it may not
be silent for `FREE_SECONDS`."""
DISCARD_SECONDS = 10.0

# Reasons for not accepting a body.
TOO_LARGE, SIGN_IN_FIRST, TOO_MANY, CUT_OFF = "too_large", "sign_in_first", "too_many", "cut_off"
NO_ROOM = "no_room"

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
            seconds_left = begun + FREE_SECONDS + received / BYTES_A_SECOND - time.monotonic()
            message = await in_time(receive(), min(seconds_left, FREE_SECONDS))
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece, is_last = message.get("body", b""), not message.get("more_body")
            try:
                body.write(piece)
                if is_last:
                    body.flush()
            except OSError:  # the disk is full
                log.exception("a body found no room")
                if not is_last:
                    await _discard(receive)
                return NO_ROOM
            received += len(piece)
            size = max(size, received)
            if is_last:
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
