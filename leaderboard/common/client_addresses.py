"""Client addresses of requests, for every limit that counts by address.

A provider assigns a customer at least a /64 of IPv6 addresses, so a limit per single IPv6 address would limit nothing.
"""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any


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
