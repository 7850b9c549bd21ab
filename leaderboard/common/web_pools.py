"""The web server's side of a request: the event loop waits for clients, and threads run the site.

A request reaches a thread when its last byte has arrived, and the loop sends the response. So a slow client costs a
socket but no thread.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from weakref import WeakValueDictionary

from .fair_pools import MAX_WAIT_SECONDS, FairPool, WaitedTooLong
from .web_requests import (
    MEMORY_BYTES,
    PIECE_BYTES,
    Answer,
    BodyLimits,
    ClientGone,
    ClientTooSlow,
    Environ,
    FileWrapper,
    Receive,
    Scope,
    Send,
    Sender,
    Senders,
    Site,
    body_message,
    environ_of,
    in_time,
    new_visitor_cookie,
    plain_answer,
)

log = logging.getLogger(__name__)

UNREAD_SECONDS = 60.0
REQUESTS_OF_A_SENDER, HASHES_AT_ONCE = 2, 2
# A class of three hundred signs up in 50 s; proxies commonly give up after 60.
HASHING_WAIT_SECONDS = 55.0
WAITING_FOR_BUCKET, SIGN_INS_ELSEWHERE = 4, 2
HASHING_PATH = re.compile(r"/(accounts|account|setup|admin/login|join|slip|invitation)/|/c/[^/]+/join/$")
INSTITUTION_PATH = "/accounts/oidc/"
DOWNLOAD_PATH = re.compile(r"/file/$|/data/.|/files/.|/export$|\.zip$")
"""Paths that send a stored file."""
READING = ("GET", "HEAD", "OPTIONS")
# Keys of the environ with which the loop and the site inform each other about a request.
RECEIVED_AT, REFUSAL, DELAY = "leaderboard.received_at", "leaderboard.refusal", "leaderboard.delay_seconds"


@dataclass
class WebPools:
    """An ASGI application that calls a WSGI application in threads.

    `person_of` returns the account's name of a session or token, `""` for none; it is called in a thread. Bodies that
    are being received are spooled in `folder`.
    """

    site: Site
    person_of: Callable[[Environ], str]
    folder: Path
    limits: BodyLimits
    session_cookie: str = "sessionid"
    has_secure_cookies: bool = False
    proxies: int = 0
    has_bucket: bool = False
    readers: int = 8
    writers: int = 4
    new_executor: Callable[[int], Executor] = ThreadPoolExecutor

    def __post_init__(self) -> None:
        in_use: Counter[str] = Counter()
        sizes = {"readers": self.readers, "writers": self.writers}
        sizes |= {"bucket": WAITING_FOR_BUCKET, "institution": SIGN_INS_ELSEWHERE}
        self.pools = {name: FairPool(self.new_executor(size), size, in_use) for name, size in sizes.items()}
        for pool in self.pools.values():
            pool.neighbours = list(self.pools.values())
        self.senders = Senders(self._ask_for_person, self.session_cookie, self.proxies)
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
                # It may have closed only its own direction and still read.
                with suppress(ClientTooSlow):
                    await self._send(send, scope, plain_answer(400, ""))
            except ClientTooSlow:
                log.warning("a client was too slow; its connection is closed")

    def health(self) -> Answer:
        """Status 200 if all pools make progress; 503 names the pools that are stuck."""
        stuck = [name for name, pool in self.pools.items() if pool.is_stuck()]
        return plain_answer(503, f"stuck: {', '.join(stuck)}") if stuck else plain_answer(200, "ok")

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        environ = environ_of(scope)
        finding = self.senders.find(environ)
        with self._body_file() as body:
            try:
                await self._take_body(environ, finding, receive, body)
                sender = finding if isinstance(finding, Sender) else await finding
                answer = await self._answer(environ, sender)
            except ClientTooSlow:
                await self._send(send, scope, plain_answer(408, "The request took too long.", close=True))
                raise
            except WaitedTooLong:
                answer = plain_answer(503, "The site is busy. Nothing was saved. Try again in a minute.")
            finally:
                self.limits.forget(environ)
        if sender.is_new and any(name == b"content-type" and b"html" in value for name, value in answer.headers):
            cookie = new_visitor_cookie(is_secure=self.has_secure_cookies)
            answer.headers.append((b"set-cookie", cookie.encode()))
        await self._send(send, scope, answer, sender)

    @contextmanager
    def _body_file(self) -> Iterator[IO[bytes]]:
        """A temporary file for a body. What a full disk did not take is no error again when it is closed."""
        body = SpooledTemporaryFile(MEMORY_BYTES, dir=str(self.folder))  # noqa: SIM115 - closed below
        try:
            yield body
        finally:
            with suppress(OSError):
                body.close()

    async def _take_body(
        self, environ: Environ, finding: Sender | asyncio.Task[Sender], receive: Receive, body: IO[bytes]
    ) -> None:
        if reason := await self.limits.receive(environ, finding, receive, body):
            with suppress(OSError):  # of what a full disk did not take
                body.truncate(0)
            environ[REFUSAL], body = reason, BytesIO()
        environ[RECEIVED_AT] = time.monotonic()
        body.seek(0, 2)
        environ["CONTENT_LENGTH"] = str(body.tell())
        body.seek(0)
        environ["wsgi.input"] = body

    async def _ask_for_person(self, environ: Environ, stranger: Sender) -> str:
        name = "readers" if environ["REQUEST_METHOD"] in READING else "writers"
        person: str = await self._run(name, stranger, self.person_of, environ)
        return person

    async def _run(
        self, pool: str, sender: Sender, function: Callable[..., Any], argument: object, *, hashes: bool = False
    ) -> Any:
        """Call a function in a thread of a pool, within the limits of jobs at once: two requests per sender, half of
        each pool for all strangers of one address. Newcomers have no limit per sender, because they are many people.
        Only few passwords are hashed at once."""
        shares = {"hashing": HASHES_AT_ONCE} if hashes else {}
        if not sender.is_new:
            shares[sender.name] = REQUESTS_OF_A_SENDER
        if not sender.is_person:
            shares[f"{pool} {sender.address}"] = max(self.pools[pool].threads // 2, 1)
        wait, run = HASHING_WAIT_SECONDS if hashes else MAX_WAIT_SECONDS, self.pools[pool].run
        return await run(sender.name, shares, function, argument, is_newcomer=sender.is_new, max_wait_seconds=wait)

    async def _answer(self, environ: Environ, sender: Sender) -> Answer:
        """Have a thread call the site. The response to a wrong password may be delayed, during which it occupies a
        guessing place of its sender, but no thread."""
        name = self._pool_of(environ)
        hashes = environ["REQUEST_METHOD"] == "POST" and bool(HASHING_PATH.match(environ["PATH_INFO"]))
        async with self._place_for_guesses(sender) if hashes else nullcontext():
            answer: Answer = await self._run(name, sender, self._call_site, environ, hashes=hashes)
            await asyncio.sleep(environ.get(DELAY, 0))
        return answer

    def _pool_of(self, environ: Environ) -> str:
        if environ["PATH_INFO"].startswith(INSTITUTION_PATH):
            return "institution"
        is_reading = environ["REQUEST_METHOD"] in READING
        is_upload = environ["CONTENT_TYPE"].startswith("multipart/form-data")
        if self.has_bucket and (DOWNLOAD_PATH.search(environ["PATH_INFO"]) if is_reading else is_upload):
            return "bucket"
        return "readers" if is_reading else "writers"

    @asynccontextmanager
    async def _place_for_guesses(self, sender: Sender) -> AsyncIterator[None]:
        """Hold one of the sender's two places for password requests, until the response is ready. Raises
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
        """The complete response; a streamed body is first written to a temporary file, so that no thread waits for the
        client."""
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

    async def _send(self, send: Send, scope: Scope, answer: Answer, sender: Sender | None = None) -> None:
        """Send a response in pieces. Raises `ClientTooSlow`, which closes the connection."""
        is_head = scope["method"] == "HEAD"
        start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
        await in_time(send(start), UNREAD_SECONDS)
        if answer.file is not None:
            with closing(answer.file) as file:
                assert sender is not None
                while not is_head and (piece := await self._read(file, sender)):
                    await in_time(send(body_message(piece, more=True)), UNREAD_SECONDS)
            await in_time(send(body_message(b"")), UNREAD_SECONDS)
            return
        body = memoryview(b"" if is_head else answer.body)
        while len(body) > PIECE_BYTES:
            await in_time(send(body_message(bytes(body[:PIECE_BYTES]), more=True)), UNREAD_SECONDS)
            body = body[PIECE_BYTES:]
        await in_time(send(body_message(bytes(body))), UNREAD_SECONDS)

    async def _read(self, file: IO[bytes], sender: Sender) -> bytes:
        piece: bytes = await self._run("readers", sender, file.read, PIECE_BYTES)
        return piece
