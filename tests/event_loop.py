"""Requests through the web server's event loop, in this process.

What the loop hands to threads runs in the thread of the test, which holds the test's transaction.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from leaderboard.accounts.backend import user_of_request
from leaderboard.common.storage import scratch_folder
from leaderboard.common.web_pools import WebPools
from leaderboard.common.web_requests import BodyLimits, Receive, Send

Result = TypeVar("Result")

HANG_UP = object()
"""Among the pieces of a body: the client closes the connection here."""


@dataclass
class Reply:
    """What a client got; no status where the connection was closed without an answer."""

    status_code: int = 0
    headers: Mapping[str, str] | None = None
    content: bytes = b""

    def get(self, name: str, default: str = "") -> str:
        return (self.headers or {}).get(name.lower(), default)


def run(play: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine, in a thread of its own: the browser's tests leave an event loop running in this
    one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, play).result()


class HandedOver(Executor):
    """Leaves every call to whoever asks for the next one."""

    def __init__(self, calls: SimpleQueue[Any]) -> None:
        self.calls = calls

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls.put((future, function, arguments, named))
        return future


def whole_site(calls: SimpleQueue[Any], folder: Path | None = None) -> WebPools:
    """The site as the web server has it."""
    return WebPools(
        get_wsgi_application(),
        person_of=user_of_request,
        folder=folder or scratch_folder(),
        limits=BodyLimits(settings.MAX_UPLOAD_BYTES, 2**30),
        new_executor=lambda _: HandedOver(calls),
    )


def send_request(
    method: str,
    path: str,
    headers: Mapping[str, str],
    pieces: Iterable[Any] = (),
    new_site: Callable[[SimpleQueue[Any]], WebPools] = whole_site,
) -> Reply:
    """Send one request to a site; its body comes in `pieces`, and is as long as the client said."""
    calls: SimpleQueue[Any] = SimpleQueue()
    site, reply = new_site(calls), Reply()
    thread = threading.Thread(target=_serve, args=(site, method, path, headers, list(pieces), reply, calls))
    thread.start()
    while (call := calls.get(timeout=60)) is not None:
        future, function, arguments, named = call
        if not future.set_running_or_notify_cancel():
            continue
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
    thread.join(60)
    return reply


def _serve(site: WebPools, method: str, path: str, headers: Mapping[str, str], *rest: Any) -> None:
    pieces, reply, calls = rest
    path, _, query = path.partition("?")
    sent = {"Host": "localhost", **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "http_version": "1.1",
        "scheme": "http",
        "server": ("localhost", 80),
        "client": (headers.get("X-Address", "127.0.0.1"), 5000),
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
    }
    try:
        asyncio.run(site(scope, receive_from(pieces), send_into(reply)))
    finally:
        calls.put(None)


def receive_from(pieces: list[Any]) -> Receive:
    """The pieces of a body, then its end."""

    async def receive() -> dict[str, Any]:
        piece = pieces.pop(0) if pieces else b""
        if piece is HANG_UP:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    return receive


def send_into(reply: Reply) -> Send:
    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            reply.status_code = message["status"]
            reply.headers = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
        else:
            reply.content += message["body"]

    return send
