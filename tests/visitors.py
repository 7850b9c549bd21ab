"""A browser without a screen: real connections, cookies, redirects and forms, hundreds of them in one event loop.

It is cheap, because it shares the processors with the site that it asks.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import requests

REDIRECTS = (301, 302, 303, 307)
BOUNDARY = "----leaderboard-visitor"
FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL | re.IGNORECASE)
INPUT = re.compile(r"<(?:input|button)\b([^>]*)>", re.DOTALL | re.IGNORECASE)
ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')


class NoForm(AssertionError):
    """A page without the form that a visitor wants to fill in."""


@dataclass(frozen=True)
class Form:
    """A form of a page with what its inputs hold; boxes that must be ticked are ticked."""

    action: str
    values: dict[str, str]
    names: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """What came back, and the seconds from the request's first byte to the answer's last."""

    path: str
    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def forms(self) -> list[Form]:
        return [_read_form(attributes, inner) for attributes, inner in FORM.findall(self.text)]

    def form_with(self, *names: str) -> Form:
        """The first form that has all these fields."""
        for form in self.forms():
            if form.names.issuperset(names):
                return form
        raise NoForm(f"{self.path} ({self.status}) has no form with {names}: {self.text[:200]!r}")


def _read_form(attributes: str, inner: str) -> Form:
    values, names = {}, set()
    for found in INPUT.findall(inner):
        one = _attributes(found)
        if not (name := one.get("name", "")):
            continue
        names.add(name)
        kind = one.get("type", "text")
        is_kept = kind in ("hidden", "text", "email") or (
            kind == "checkbox" and ("required" in one or "checked" in one)
        )
        if is_kept:
            values[name] = one.get("value", "on" if kind == "checkbox" else "")
    return Form(_attributes(attributes).get("action", ""), values, frozenset(names))


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): html.unescape(value) for name, value in ATTRIBUTE.findall(text)}


@dataclass
class Visitor:
    """One person at a site of this machine; `source` is the address of theirs that the site sees.

    `pages` are all answers, each redirect among them; a request that is not answered in time raises `TimeoutError`.
    """

    address: str
    source: str = "127.0.0.1"
    time_limit: float = 120.0
    token: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    pages: list[tuple[str, float]] = field(default_factory=list)
    _wire: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Answer:
        """A page, after its redirects."""
        return await self._follow(await self.ask("GET", path))

    async def send(
        self, page: Answer, form: Form, fields: dict[str, str], file: tuple[str, bytes] | None = None
    ) -> Answer:
        """Fill in a form of a page and send it; the page after it."""
        body, kind = encode_form({**form.values, **fields}, file)
        target = urljoin(page.path, form.action or page.path)
        headers = {"Content-Type": kind, "Origin": self.address, "Referer": self.address + page.path}
        return await self._follow(await self.ask("POST", target.partition("#")[0], body, headers))

    async def upload(self, slug: str, data: bytes, key: str = "") -> Answer:
        """Submit a file through the API, with the visitor's token."""
        body, kind = encode_form({}, ("mine.csv", data))
        headers = {"Content-Type": kind, **({"Idempotency-Key": key} if key else {})}
        return await self.ask("POST", f"/api/v1/competitions/{slug}/submissions", body, headers)

    async def ask(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        """One request and its answer, without following it. A connection that the site closed meanwhile is opened
        again, once."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(self.time_limit):
                is_kept = self._wire is not None
                try:
                    return await self._exchange(method, path, body, headers or {}, begun)
                except (ConnectionError, asyncio.IncompleteReadError):
                    self.hang_up()
                    if not is_kept:
                        raise
                    return await self._exchange(method, path, body, headers or {}, begun)
        except TimeoutError:
            self.hang_up()  # what comes late would be taken for the next answer
            raise TimeoutError(f"{method} {path}: no answer in {self.time_limit:g} s") from None
        finally:
            self.pages.append((f"{method} {path}", time.monotonic() - begun))

    def hang_up(self) -> None:
        if self._wire is not None:
            with suppress(OSError, RuntimeError):
                self._wire[1].close()
            self._wire = None

    async def _follow(self, answer: Answer) -> Answer:
        for _ in range(6):
            if answer.status not in REDIRECTS:
                return answer
            parts = urlsplit(urljoin(self.address + answer.path, answer.headers["location"]))
            answer = await self.ask("GET", parts.path + (f"?{parts.query}" if parts.query else ""))
        raise AssertionError(f"{answer.path} leads on without end")

    async def _exchange(self, method: str, path: str, body: bytes, headers: dict[str, str], begun: float) -> Answer:
        if self._wire is None:
            host, port = self.address.removeprefix("http://").split(":")
            self._wire = await asyncio.open_connection(host, int(port), local_addr=(self.source, 0))
        reader, writer = self._wire
        writer.write(self._head(method, path, len(body), headers) + body)
        await writer.drain()
        status, found = await self._read_head(reader)
        content = b"" if method == "HEAD" or status in (204, 304) else await _read_body(reader, found)
        if found.get("connection", "").lower() == "close":
            self.hang_up()
        if found.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        return Answer(path, status, found, content, time.monotonic() - begun)

    def _head(self, method: str, path: str, length: int, headers: dict[str, str]) -> bytes:
        given = {"Host": self.address.removeprefix("http://"), "Accept-Encoding": "gzip", **headers}
        if self.cookies:
            given["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if self.token:
            given["Authorization"] = f"Bearer {self.token}"
        if method not in ("GET", "HEAD"):
            given["Content-Length"] = str(length)
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def _read_head(self, reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        found = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            name, value = name.strip().lower(), value.strip()
            found[name] = value
            if name == "set-cookie":
                cookie, _, content = value.partition(";")[0].partition("=")
                self.cookies[cookie] = content
        return int(lines[0].split()[1]), found


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        if "content-length" in headers:
            return await reader.readexactly(int(headers["content-length"]))
        return await reader.read()
    parts = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(parts)


def encode_form(fields: dict[str, str], file: tuple[str, bytes] | None = None) -> tuple[bytes, str]:
    """The body of a form and its content type; with a file in its field `file`, one in parts."""
    if file is None:
        return urlencode(fields).encode(), "application/x-www-form-urlencoded"
    head = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    name, data = file
    head += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    head += "Content-Type: text/csv\r\n\r\n"
    return head.encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode(), f"multipart/form-data; boundary={BOUNDARY}"


class Caller:
    """Somebody at a site's pages who asks one after the other; `longest` is the longest wait for an answer."""

    def __init__(self, address: str) -> None:
        self.address, self.longest, self._session = address, 0.0, requests.Session()

    def get(self, path: str) -> requests.Response:
        return self._ask("GET", path)

    def post(self, path: str, files: dict[str, tuple[str, str]] | None = None, **fields: str) -> requests.Response:
        """Send the form of a page with its own token; the page that follows."""
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.get(path).text)
        assert found, path
        return self._ask("POST", path, data={"csrfmiddlewaretoken": found[1], **fields}, files=files)

    def _ask(self, method: str, path: str, **given: Any) -> requests.Response:
        begun = time.monotonic()
        answer = self._session.request(method, urljoin(self.address, path), timeout=60, **given)
        self.longest = max(self.longest, time.monotonic() - begun)
        return answer


async def sign_up(visitor: Visitor, code: str, name: str, password: str) -> Answer:
    """Open the join page, make an account and join by its form; the overview of the competition."""
    page = await visitor.get(f"/join/{code}/")
    fields = {"full_name": f"Student {name}", "username": name, "email": f"{name}@example.org", "password1": password}
    page = await visitor.send(page, page.form_with("full_name", "password1"), fields)
    faults = re.findall(r'"field-error"[^>]*>([^<]+)', page.text)
    assert urlsplit(page.path).path.startswith("/c/"), (name, page.path, page.status, faults)
    return page


async def submit(visitor: Visitor, slug: str, data: bytes) -> Answer:
    """Open the page for files and submit one; the page that follows."""
    page = await visitor.get(f"/c/{slug}/submit/")
    return await visitor.send(page, page.form_with("file", "upload_key"), {}, ("mine.csv", data))
