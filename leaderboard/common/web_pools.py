"""The web server's side of a request: the event loop waits for clients, threads work.

A request reaches a thread when its last byte is on this machine, and the loop carries the answer out. So a slow client
costs a socket and no thread, and nothing here is held while somebody waits.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import unquote_to_bytes
from weakref import WeakValueDictionary

from django.core import signing
from django.http import parse_cookie

from .client_addresses import counted_address
from .fair_pools import MAX_WAIT_SECONDS, FairPool, WaitedTooLong

log = logging.getLogger(__name__)

MAX_STRANGER_BYTES = 131_072
FORM_BYTES = 1_048_576  # of a form around its files
MEMORY_BYTES = 16_384  # a larger body, and a larger streamed answer, waits on the disk
PIECE_BYTES = 65_536
FREE_SECONDS, BYTES_A_SECOND = 60.0, 4096
"""A body may take `FREE_SECONDS`, and longer for as long as it sends so many bytes a second on average."""
UNREAD_SECONDS = 60.0
DISCARD_SECONDS = 10.0
REMEMBERED_SECONDS, MAX_REMEMBERED = 60.0, 20_000
REQUESTS_OF_A_SENDER, HASHES_AT_ONCE = 2, 2
UPLOADS_TO_BUCKET, SIGN_INS_ELSEWHERE = 4, 2
HASHING_PATHS = ("/accounts/", "/account/", "/setup/", "/admin/login/")
INSTITUTION_PATH = "/accounts/oidc/"
VISITOR_COOKIE = "visitor"
# What the loop and the site tell each other of a request, in its environ.
RECEIVED_AT, REFUSAL, DELAY = "leaderboard.received_at", "leaderboard.refusal", "leaderboard.delay_seconds"

TOO_LARGE = "too_large"
SIGN_IN_FIRST = "sign_in_first"
TOO_MANY = "too_many"
CUT_OFF = "cut_off"

Environ = dict[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Site = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class ClientGone(Exception):
    """The client hung up before its request was complete."""


class ClientTooSlow(Exception):
    """The client sent or read too little in the time that it had."""


class FileWrapper:
    """What a WSGI application hands out as a file: the loop reads it piece by piece."""

    def __init__(self, file: IO[bytes], size: int = PIECE_BYTES) -> None:
        self.file = file


@dataclass
class Answer:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    file: IO[bytes] | None = None


@dataclass(frozen=True)
class Sender:
    """On whose account a request goes: a person, or a stranger by address and visitor cookie."""

    name: str
    is_person: bool
    address: str


@dataclass
class WebPools:
    """An ASGI application that calls a WSGI application in threads.

    `person_of` names the account of a session or token, empty for none; it is called in a thread. Files of bodies that
    are on their way lie in `folder`, all together of `max_spooled_bytes`.
    """

    site: Site
    person_of: Callable[[Environ], str]
    folder: Path
    max_upload_bytes: int
    max_spooled_bytes: int
    session_cookie: str = "sessionid"
    csrf_cookie: str = "csrftoken"
    has_secure_cookies: bool = False
    proxies: int = 0
    has_bucket: bool = False
    readers: int = 8
    writers: int = 4
    new_executor: Callable[[int], Executor] = ThreadPoolExecutor
    spooled: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        in_use: Counter[str] = Counter()
        sizes = {"readers": self.readers, "writers": self.writers}
        sizes |= {"uploads": UPLOADS_TO_BUCKET, "institution": SIGN_INS_ELSEWHERE}
        self.pools = {name: FairPool(self.new_executor(size), size, in_use) for name, size in sizes.items()}
        for pool in self.pools.values():
            pool.neighbours = list(self.pools.values())
        self.known: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()
        self.guessing: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            await self._send(send, scope, self.health())
        elif scope["method"] in ("TRACE", "CONNECT"):
            await self._send(send, scope, plain_answer(405, "This method is not allowed."))
        else:
            try:
                await self._serve(scope, receive, send)
            except ClientGone:
                log.debug("a client hung up before its request was complete")
            except ClientTooSlow:
                log.warning("a client was too slow; its connection is closed")

    def health(self) -> Answer:
        """Whether all pools go on; 503 names those that have had work waiting and finished none."""
        stuck = [name for name, pool in self.pools.items() if pool.is_stuck()]
        return plain_answer(503, f"stuck: {', '.join(stuck)}") if stuck else plain_answer(200, "ok")

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        environ = environ_of(scope)
        sender = await self._sender_of(environ)
        with SpooledTemporaryFile(MEMORY_BYTES, dir=str(self.folder)) as body:
            try:
                await self._receive_body(environ, sender, receive, body)
                answer = await self._answer(environ, sender)
            except ClientTooSlow:
                await self._send(send, scope, plain_answer(408, "The request took too long.", close=True))
                raise
            except WaitedTooLong:
                answer = plain_answer(503, "The site is busy. Nothing was saved. Try again in a minute.")
            finally:
                self._forget_spooled(environ, sender)
        self._add_visitor_cookie(environ, answer)
        await self._send(send, scope, answer, sender)

    # --- senders ----------------------------------------------------------------------------------------------------

    async def _sender_of(self, environ: Environ) -> Sender:
        """The sender of a request. A session or token is a person once a thread has found it valid; that is remembered
        for a minute. Everybody else is a stranger."""
        cookies = parse_cookie(environ.get("HTTP_COOKIE", ""))
        visitor = environ["leaderboard.visitor"] = visitor_of(cookies)
        address = counted_address(environ, self.proxies)
        stranger = Sender(f"stranger {address} {visitor}", False, address)
        credential = environ.get("HTTP_AUTHORIZATION", ""), cookies.get(self.session_cookie, "")
        if not any(credential):
            return stranger
        until, person = self.known.get(credential, (0.0, ""))
        if time.monotonic() > until:
            try:
                person = await self.pools["readers"].run(
                    stranger.name, self._shares(stranger, "readers"), self.person_of, environ
                )
            except WaitedTooLong:
                return stranger
            self.known[credential] = time.monotonic() + REMEMBERED_SECONDS, person
            self.known.move_to_end(credential)
            if len(self.known) > MAX_REMEMBERED:
                self.known.popitem(last=False)
        return Sender(person, True, address) if person else stranger

    def _shares(self, sender: Sender, pool: str) -> dict[str, int]:
        """Two requests of one sender at a time; strangers of one address have half of each pool."""
        shares = {sender.name: REQUESTS_OF_A_SENDER}
        if not sender.is_person:
            shares[f"{pool} {sender.address}"] = max(self.pools[pool].threads // 2, 1)
        return shares

    # --- the way in -------------------------------------------------------------------------------------------------

    async def _receive_body(self, environ: Environ, sender: Sender, receive: Receive, body: IO[bytes]) -> None:
        """Take the whole body, or put the reason into the environ why it is not taken. Raises `ClientGone`,
        `ClientTooSlow`."""
        begun, announced, received = time.monotonic(), environ["CONTENT_LENGTH"], 0
        most = self.max_upload_bytes + FORM_BYTES if sender.is_person else MAX_STRANGER_BYTES
        why = self._why_not_taken(sender, int(announced) if announced.isdigit() else 0, most)
        while not why:
            late_at = begun + FREE_SECONDS + received / BYTES_A_SECOND
            message = await _in_time(receive(), late_at - time.monotonic())
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece = message.get("body", b"")
            received += len(piece)
            body.write(piece)
            self._count_spooled(environ, sender, received)
            if not message.get("more_body"):
                break
            why = self._why_not_taken(sender, received, most)
        if why:
            await _discard(receive)
            body.truncate(0)
            received = 0
        elif environ["CONTENT_TYPE"].startswith("multipart/form-data") and not _has_end(body, received, environ):
            why = CUT_OFF
        body.seek(0)
        environ |= {"wsgi.input": body, "CONTENT_LENGTH": str(received), RECEIVED_AT: time.monotonic()}
        if why:
            environ |= {REFUSAL: why}

    def _why_not_taken(self, sender: Sender, size: int, most: int) -> str:
        if size > most:
            return TOO_LARGE if sender.is_person else SIGN_IN_FIRST
        if size <= MEMORY_BYTES:
            return ""
        of_one = max(2 * (self.max_upload_bytes + FORM_BYTES), self.max_spooled_bytes // 8)
        is_full = self.spooled[sender.name] > of_one or self.spooled.total() > self.max_spooled_bytes
        return TOO_MANY if is_full else ""

    def _count_spooled(self, environ: Environ, sender: Sender, received: int) -> None:
        if received > MEMORY_BYTES:
            self.spooled[sender.name] += received - environ.get("leaderboard.spooled", 0)
            environ["leaderboard.spooled"] = received

    def _forget_spooled(self, environ: Environ, sender: Sender) -> None:
        self.spooled[sender.name] -= environ.get("leaderboard.spooled", 0)
        if not self.spooled[sender.name]:
            del self.spooled[sender.name]

    # --- the work ---------------------------------------------------------------------------------------------------

    async def _answer(self, environ: Environ, sender: Sender) -> Answer:
        """Have a thread call the site. Few passwords are hashed at once, and the answer to a wrong one may be delayed:
        it keeps its sender's place among those who try passwords, and no thread."""
        name = self._pool_of(environ)
        shares = self._shares(sender, name)
        if not (environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"].startswith(HASHING_PATHS)):
            return await self._call_in_thread(name, sender, shares, environ)
        async with self._place_for_guesses(sender):
            return await self._call_in_thread(name, sender, shares | {"hashing": HASHES_AT_ONCE}, environ)

    async def _call_in_thread(self, pool: str, sender: Sender, shares: dict[str, int], environ: Environ) -> Answer:
        answer: Answer = await self.pools[pool].run(sender.name, shares, self._call_site, environ)
        await asyncio.sleep(environ.get(DELAY, 0))
        return answer

    def _pool_of(self, environ: Environ) -> str:
        if environ["PATH_INFO"].startswith(INSTITUTION_PATH):
            return "institution"
        if environ["REQUEST_METHOD"] in ("GET", "HEAD", "OPTIONS"):
            return "readers"
        is_upload = self.has_bucket and environ["CONTENT_TYPE"].startswith("multipart/form-data")
        return "uploads" if is_upload else "writers"

    @asynccontextmanager
    async def _place_for_guesses(self, sender: Sender) -> AsyncIterator[None]:
        """One of two places of a sender, for as long as an answer about a password is under way. Raises
        `WaitedTooLong`."""
        places = self.guessing.get(sender.name) or asyncio.Semaphore(REQUESTS_OF_A_SENDER)
        self.guessing[sender.name] = places
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await places.acquire()
        except TimeoutError:
            raise WaitedTooLong from None
        try:
            yield
        finally:
            places.release()

    def _call_site(self, environ: Environ) -> Answer:
        """The whole answer: what a view streams waits on the disk for its client."""
        started: list[Any] = []
        result = self.site(environ, lambda *start: started.extend(start[:2]))
        status, headers = (
            int(started[0][:3]),
            [(n.lower().encode(), v.strip().encode("latin-1")) for n, v in started[1]],
        )
        if isinstance(result, FileWrapper):
            return Answer(status, headers, file=result.file)
        try:
            if not getattr(result, "streaming", False):
                return Answer(status, headers, b"".join(result))
            file = SpooledTemporaryFile(MEMORY_BYTES, dir=str(self.folder))  # noqa: SIM115 - closed when it was sent
            for piece in result:
                file.write(piece)
        finally:
            if close := getattr(result, "close", None):
                close()
        if not any(name == b"content-length" for name, _ in headers):
            headers.append((b"content-length", str(file.tell()).encode()))
        file.seek(0)
        return Answer(status, headers, file=file)

    # --- the way out ------------------------------------------------------------------------------------------------

    def _add_visitor_cookie(self, environ: Environ, answer: Answer) -> None:
        """Whoever gets a form gets a turn of their own behind an address that many share."""
        form = f"{self.csrf_cookie}=".encode()
        if environ["leaderboard.visitor"] or not any(
            n == b"set-cookie" and v.startswith(form) for n, v in answer.headers
        ):
            return
        cookie = f"{VISITOR_COOKIE}={_signer().sign(secrets.token_hex(8))}; Path=/; HttpOnly; SameSite=Lax"
        answer.headers.append((b"set-cookie", (cookie + "; Secure" * self.has_secure_cookies).encode()))

    async def _send(self, send: Send, scope: Scope, answer: Answer, sender: Sender | None = None) -> None:
        """Send an answer in pieces. Raises `ClientTooSlow`, which closes the connection."""
        is_head = scope["method"] == "HEAD"
        start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
        await _in_time(send(start), UNREAD_SECONDS)
        if answer.file is not None:
            with closing(answer.file) as file:
                assert sender is not None
                while not is_head and (piece := await self._read(file, sender)):
                    await _in_time(send(body_message(piece, more=True)), UNREAD_SECONDS)
            await _in_time(send(body_message(b"")), UNREAD_SECONDS)
            return
        body = memoryview(b"" if is_head else answer.body)
        while len(body) > PIECE_BYTES:
            await _in_time(send(body_message(bytes(body[:PIECE_BYTES]), more=True)), UNREAD_SECONDS)
            body = body[PIECE_BYTES:]
        await _in_time(send(body_message(bytes(body))), UNREAD_SECONDS)

    async def _read(self, file: IO[bytes], sender: Sender) -> bytes:
        shares = self._shares(sender, "readers")
        piece: bytes = await self.pools["readers"].run(sender.name, shares, file.read, PIECE_BYTES)
        return piece


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


def visitor_of(cookies: dict[str, str]) -> str:
    """The visitor whom a signed cookie names; empty for none, and for one that is made up."""
    try:
        return _signer().unsign(cookies.get(VISITOR_COOKIE, ""))
    except signing.BadSignature:
        return ""


def _signer() -> signing.Signer:
    return signing.Signer(salt=VISITOR_COOKIE)


def plain_answer(status: int, words: str, *, close: bool = False) -> Answer:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    headers += [(b"retry-after", b"30")] * (status == 503) + [(b"connection", b"close")] * close
    return Answer(status, headers, words.encode())


def body_message(data: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def _in_time(awaited: Awaitable[Any], seconds: float) -> Any:
    """The result, if it comes in so many seconds. Raises `ClientTooSlow`."""
    try:
        async with asyncio.timeout(max(seconds, 0.001)):
            return await awaited
    except TimeoutError:
        raise ClientTooSlow from None


async def _discard(receive: Receive) -> None:
    """Read what a client still sends, for a moment: a browser shows no answer before it has sent its file."""
    ends_at = time.monotonic() + DISCARD_SECONDS
    try:
        while (await _in_time(receive(), ends_at - time.monotonic())).get("more_body"):
            pass
    except ClientTooSlow:
        return


def _has_end(body: IO[bytes], size: int, environ: Environ) -> bool:
    """Whether a form ends with its last boundary: of a form that was cut off the beginning would be scored."""
    boundary = environ["CONTENT_TYPE"].partition("boundary=")[2].partition(";")[0].strip().strip('"')
    body.seek(max(size - 1024, 0))
    return f"--{boundary}--".encode("latin-1") in body.read()
