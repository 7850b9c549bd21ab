"""Floods that one laptop sends, `python -m tests.attacks.floods NAME SIZE SECONDS TARGET`.

A process of its own, so that its work is not counted as the site's. It writes a line when it has begun, and at its end
how often it was given which status.
"""

from __future__ import annotations

import asyncio
import base64
import json
import resource
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.running_site import ROOT
from tests.visitors import BOUNDARY, Answer, Visitor

TOKEN = "t" * 32
"""What a client that makes up its cookies sends as the token of a form, and as its cookie."""
RECEIVED_AT_ONCE = 4096
FILES = 16_384
GONE = (OSError, asyncio.IncompleteReadError, TimeoutError, AssertionError)


@dataclass(frozen=True)
class Target:
    """A site and what the sender of a flood has of it: the session of a student, the tokens of forty others."""

    address: str
    code: str
    session: str
    tokens: list[str]
    download: str
    convert: str


@dataclass
class Flood:
    """One flood under way; `answers` counts the statuses that came back."""

    target: Target
    size: int
    seconds: float
    answers: Counter[str] = field(default_factory=Counter)
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        return time.monotonic() - self.begun > self.seconds

    def visitor(self, **cookies: str) -> Visitor:
        return Visitor(self.target.address, cookies=cookies)

    def student(self) -> Visitor:
        return self.visitor(sessionid=self.target.session, csrftoken=TOKEN)

    async def ask(self, visitor: Visitor, method: str, path: str, fields: str = "") -> int:
        answer = await self.answer_to(visitor, method, path, fields)
        return answer.status if answer else 0

    async def answer_to(self, visitor: Visitor, method: str, path: str, fields: str = "") -> Answer | None:
        kind = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": TOKEN} if fields else {}
        try:
            answer = await visitor.ask(method, path, fields.encode(), kind)
        except GONE as error:
            self.answers[type(error).__name__] += 1
            visitor.hang_up()
            await asyncio.sleep(0.05)
            return None
        self.answers[str(answer.status)] += 1
        return answer

    async def keep(self, one: Callable[[int], Awaitable[Any]]) -> None:
        """As many at once as the flood is large, each again and again until it is over."""

        async def again(number: int) -> None:
            while not self.is_over:
                await one(number)

        await asyncio.gather(*(again(number) for number in range(self.size)))

    async def opened(self, data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A connection that has sent these bytes and has little room for an answer."""
        host, port = self.target.address.removeprefix("http://").split(":")
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_AT_ONCE)
        wire.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(wire, (host, int(port)))
            reader, writer = await asyncio.open_connection(sock=wire, limit=RECEIVED_AT_ONCE)
        except OSError as error:
            self.answers[type(error).__name__] += 1
            return None
        writer.write(data)
        return reader, writer

    def head(self, method: str, path: str, length: int, *lines: str) -> bytes:
        host = self.target.address.removeprefix("http://")
        found = [f"{method} {path} HTTP/1.1", f"Host: {host}", *lines]
        found += [f"Content-Length: {length}"] if length else []
        return ("\r\n".join(found) + "\r\n\r\n").encode()

    async def hold(self, datas: list[bytes], drip: bytes = b"") -> int:
        """Open a connection for each of these and keep them to the end; each second a drop. How many the site closed
        meanwhile."""
        found = await asyncio.gather(*map(self.opened, datas))
        wires = [wire for wire in found if wire]
        while not self.is_over:
            await asyncio.sleep(min(1.0, max(0.05, self.seconds / 10)))
            for _, writer in wires:
                if drip and not writer.is_closing():
                    with suppress(OSError):
                        writer.write(drip)
        closed = await asyncio.gather(*(self.is_closed(reader) for reader, _ in wires))
        for _, writer in wires:
            writer.transport.abort()
        return sum(closed)

    async def is_closed(self, reader: asyncio.StreamReader) -> bool:
        """Whether the site has closed a connection, behind an answer or without one."""
        try:
            async with asyncio.timeout(2):
                await reader.read()
        except TimeoutError:
            return False
        except OSError:
            pass
        return True


async def unread_downloads(flood: Flood) -> None:
    """Large files that are asked for and never read."""
    cookie = f"Cookie: sessionid={flood.target.session}"
    await flood.hold([flood.head("GET", flood.target.download, 0, cookie)] * flood.size)


async def wrong_sign_ins(flood: Flood) -> None:
    """Passwords that are guessed, half of them those of Cy."""

    async def guess(number: int) -> None:
        name = "cy" if number % 2 else f"guessed{number}"
        fields = f"csrfmiddlewaretoken={TOKEN}&login={name}&password=wrong{number}"
        await flood.ask(flood.visitor(csrftoken=TOKEN), "POST", "/accounts/login/", fields)

    await flood.keep(guess)


async def metric_pages(flood: Flood) -> None:
    """A page of a metric, over and over, by a stranger with a connection for each."""
    visitors = [flood.visitor() for _ in range(flood.size)]
    await flood.keep(lambda number: flood.ask(visitors[number], "GET", "/metrics/accuracy/"))


async def empty_sign_ups(flood: Flood) -> None:
    """So many empty forms for an account from one address, twenty at once."""
    opened = flood.visitor(csrftoken=TOKEN)
    await opened.get(f"/join/{flood.target.code}/")
    left = iter(range(flood.size))

    async def send() -> None:
        visitor = flood.visitor(**opened.cookies)
        for _ in left:
            await flood.ask(visitor, "POST", f"/join/{flood.target.code}/", f"csrfmiddlewaretoken={TOKEN}")

    await asyncio.gather(*(send() for _ in range(20)))


async def wrong_links(flood: Flood) -> None:
    """One-time links that nobody was given."""
    left = iter(range(flood.size))

    async def send() -> None:
        for number in left:
            await flood.ask(flood.visitor(), "GET", f"/slip/WRONG{number}/")

    await asyncio.gather(*(send() for _ in range(6)))


async def launches(flood: Flood) -> None:
    """Launches by keys that a silent learning platform would have to name, by a stranger with a connection for each."""
    login = f"iss=https://silent.invalid&login_hint=7&target_link_uri={flood.target.address}/lti/launch/"
    header = base64.urlsafe_b64encode(b'{"alg": "RS256", "kid": "new"}').decode().rstrip("=")

    async def send(number: int) -> None:
        visitor = flood.visitor()
        answer = await flood.answer_to(visitor, "POST", "/lti/login/", login)
        query = parse_qs(urlsplit(answer.headers.get("location", "") if answer else "").query)
        launch = urlencode({"state": query.get("state", ["x:y"])[0], "id_token": f"{header}.e30.{'x' * 50_000}"})
        await flood.ask(visitor, "POST", "/lti/launch/", launch)
        visitor.hang_up()

    await flood.keep(send)


async def slow_bodies(flood: Flood) -> None:
    """Files of forty accounts that come a byte a second."""
    path, kind = "/api/v1/competitions/pets/submissions", f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    heads = [
        flood.head("POST", path, 100_000, kind, f"Authorization: Bearer {flood.target.tokens[n % 40]}")
        for n in range(flood.size)
    ]
    begin = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"'.encode()
    await flood.hold([head + begin for head in heads], drip=b";")


async def silent_uploads(flood: Flood) -> None:
    """Files of which half comes, and then nothing."""
    path, kind = "/api/v1/competitions/pets/submissions", f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    begin = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'.encode()
    heads = [
        flood.head("POST", path, 4_000_000, kind, f"Authorization: Bearer {flood.target.tokens[n % 40]}")
        for n in range(flood.size)
    ]
    closed = await flood.hold([head + begin + b"1,cat\n" * 300_000 for head in heads])
    flood.answers["closed"] = closed


async def conversions(flood: Flood) -> None:
    """A student who presses Convert without end."""
    visitors = [flood.student() for _ in range(flood.size)]
    await flood.keep(lambda number: flood.ask(visitors[number], "POST", flood.target.convert, "a=b"))


async def half_headers(flood: Flood) -> None:
    """Headers of which the end never comes."""
    await flood.hold([flood.head("GET", "/", 0, "X-Slow: ")[:-4]] * flood.size)


@dataclass(frozen=True)
class Kind:
    """A flood with what one laptop sends of it in the long test, and in the one that runs more often."""

    run: Callable[[Flood], Awaitable[None]]
    full: int
    small: int


FLOODS = {
    kind.run.__name__: kind
    for kind in (
        Kind(unread_downloads, 520, 520),
        Kind(wrong_sign_ins, 200, 60),
        Kind(metric_pages, 1500, 300),
        Kind(empty_sign_ups, 2000, 220),
        Kind(wrong_links, 120, 120),
        Kind(launches, 300, 60),
        Kind(slow_bodies, 600, 600),
        Kind(silent_uploads, 20, 20),
        Kind(conversions, 20, 20),
        Kind(half_headers, 1000, 1000),
    )
}


@contextmanager
def flooding(name: str, size: int, seconds: float, target: Target) -> Iterator[Counter[str]]:
    """Send a flood for as long as the block lasts, but no longer than so many seconds; at its end the statuses that it
    was given."""
    command = [sys.executable, "-m", "tests.attacks.floods", name, str(size), str(seconds), json.dumps(asdict(target))]
    answers: Counter[str] = Counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            yield answers
            process.wait(seconds + 240)
            answers.update(json.loads(process.stdout.read()))
        finally:
            process.kill()


def main() -> None:
    name, size, seconds, target = sys.argv[1:]
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(FILES, hard), hard))
    flood = Flood(Target(**json.loads(target)), int(size), float(seconds))
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    asyncio.run(_run(FLOODS[name], flood))
    sys.stdout.write(json.dumps(flood.answers))


async def _run(kind: Kind, flood: Flood) -> None:
    """What a flood still waits for ten seconds after its end is given up: wrong tries are answered late."""
    with suppress(TimeoutError):
        await asyncio.wait_for(kind.run(flood), flood.seconds + 10)


if __name__ == "__main__":
    main()
