"""Addresses of learning platforms, and requests to them that cannot be led into this network.

A request goes to an address that was checked: https, port 443, and every address of the name is public. The connection
is made to that very address, so that a second answer of the name server changes nothing. Hosts in `LTI_PLATFORM_HOSTS`
may be private and have any scheme and port.
"""

from __future__ import annotations

import socket
import time
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from requests import PreparedRequest
from requests.adapters import HTTPAdapter

from leaderboard.accounts.institution.sessions import NoAnswer, ProviderSession, Unreachable

SECONDS = 8.0
MAX_ADDRESS_CHARACTERS = 600
# All other IPv6 addresses are of one machine, one site, or translated into IPv4.
GLOBAL_UNICAST = ip_network("2000::/3")

__all__ = ["NoAnswer", "PlatformSession", "host_of", "is_usable_address", "object_of"]


def object_of(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def host_of(address: str) -> str:
    """The host of an address in lower case; "" if it has none or cannot be read."""
    try:
        return (urlsplit(address).hostname or "").casefold()
    except ValueError:
        return ""


def is_usable_address(address: object) -> bool:
    """Whether an address may be stored as one of a platform, before its name is looked up."""
    if not isinstance(address, str) or len(address) > MAX_ADDRESS_CHARACTERS:
        return False
    if not (address.isascii() and address.isprintable()):
        return False
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    if parts.username is not None or parts.password is not None or not parts.hostname or "\\" in address:
        return False
    if parts.hostname.casefold() in settings.LTI_PLATFORM_HOSTS:
        return parts.scheme in ("https", "http")
    return parts.scheme == "https" and port in (None, 443)


def _checked_ip(host: str, port: int) -> str:
    """One of the name's addresses, all of which are public. Raises `Unreachable`."""
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        raise Unreachable("name") from None
    is_known = host.casefold() in settings.LTI_PLATFORM_HOSTS
    if not found or not (is_known or all(_is_public(one) for one in found)):
        raise Unreachable("address")
    return min(found, key=lambda one: (":" in one, one))


def _is_public(address: str) -> bool:
    """Whether an address is on the internet. No IPv6 address is that has an IPv4 address inside."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address) and (found not in GLOBAL_UNICAST or found.sixtofour is not None):
        return False
    return found.is_global and not found.is_multicast


class _PinnedAdapter(HTTPAdapter):
    """Connects to the checked address of a name; certificate and `Host` are those of the name."""

    def build_connection_pool_key_attributes(
        self, request: PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[Any, Any]:
        host_params, pool_kwargs = super().build_connection_pool_key_attributes(request, verify, cert)
        name, port = host_params["host"], host_params["port"] or (443 if host_params["scheme"] == "https" else 80)
        host_params["host"] = _checked_ip(name.strip("[]"), port)
        if host_params["scheme"] == "https":
            pool_kwargs["server_hostname"] = pool_kwargs["assert_hostname"] = name
        return host_params, pool_kwargs

    def add_headers(self, request: PreparedRequest, **kwargs: Any) -> None:
        request.headers["Host"] = urlsplit(request.url or "").netloc


class PlatformSession(ProviderSession):
    """A session for requests to a platform; all of its requests together end after `seconds`."""

    max_status = 599

    def __init__(self, seconds: float = SECONDS) -> None:
        super().__init__(time.monotonic() + seconds)
        self.mount("https://", _PinnedAdapter())
        self.mount("http://", _PinnedAdapter())

    def request(self, method: str, url: str, **given: Any) -> Any:  # type: ignore[override]
        """The response, of whatever status but a redirect's. Raises `NoAnswer`."""
        if not is_usable_address(url):
            raise Unreachable("address")
        return super().request(method, url, **given)
