"""Where requests come from. Every limit that counts by address asks here.

A provider gives a customer at least a /64 of IPv6 addresses, so a limit that counted single ones would be none.
"""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any


def client_address(environ: dict[str, Any], proxies: int) -> str:
    """The address that the last of so many trusted proxies names, or that of the connection."""
    named = [one.strip() for one in environ.get("HTTP_X_FORWARDED_FOR", "").split(",") if one.strip()]
    return plain_address(named[-proxies] if 0 < proxies <= len(named) else environ.get("REMOTE_ADDR", ""))


def counted_address(environ: dict[str, Any], proxies: int) -> str:
    """Where a request comes from, as limits count it."""
    return customer_network(client_address(environ, proxies))


def plain_address(address: str) -> str:
    """An IPv4 address that a socket for both families reports as IPv6, written as IPv4."""
    with suppress(ValueError):
        found = ip_address(address)
        if isinstance(found, IPv6Address) and found.ipv4_mapped:
            return str(found.ipv4_mapped)
    return address


def customer_network(address: str) -> str:
    """What a limit counts: a single IPv4 address, the /64 of an IPv6 one."""
    with suppress(ValueError):
        found = ip_address(plain_address(address))
        if isinstance(found, IPv6Address):
            return str(ip_network((found, 64), strict=False))
        return str(found)
    return address
