"""The sender of a request, for fair shares: a person's account, or a stranger's address; and the client's address, for
every limit that counts by address.

A provider assigns a customer at least a /64 of IPv6 addresses, so a limit per single IPv6 address would limit nothing.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.core import signing
from django.http import parse_cookie

from .asgi_messages import Environ
from .fair_pools import WaitedTooLong


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


log = logging.getLogger(__name__)

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
        return _signer().unsign(cookies.get(VISITOR_COOKIE, ""))
    except signing.BadSignature:
        return ""


def new_visitor_cookie(*, is_secure: bool) -> str:
    """A `Set-Cookie` header with a new visitor id, valid until the browser is closed."""
    cookie = f"{VISITOR_COOKIE}={_signer().sign(secrets.token_hex(8))}; Path=/; HttpOnly; SameSite=Lax"
    return cookie + "; Secure" * is_secure


def _signer() -> signing.Signer:
    return signing.Signer(salt=VISITOR_COOKIE)
