"""The addresses of this machine, by which other computers in its network reach the site. Imports no Django."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
from collections.abc import Iterator

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104
PORT_VARIABLE = "NETWORK_PORT"
"""Set by `manage.py up` for its web server, if that listens on all addresses of the machine."""
_INNER_NETWORKS = ("docker", "br-", "veth", "virbr", "podman", "cni")
"""Beginnings of the names of network cards that only containers and virtual machines of this machine reach."""
_SIOCGIFADDR = 0x8915


def own_addresses() -> list[str]:
    """The IPv4 addresses by which others may reach this machine, the one of its usual way out first.

    Those of all network cards on Linux; elsewhere only that one.
    """
    found: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            if not name.startswith(_INNER_NETWORKS):
                with contextlib.suppress(OSError):
                    answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", os.fsencode(name)[:15]))
                    found.append(socket.inet_ntoa(answer[20:24]))
        with contextlib.suppress(OSError):
            probe.connect(("203.0.113.1", 9))  # sends nothing; the system picks the card
            found.insert(0, probe.getsockname()[0])
    return [address for address in dict.fromkeys(found) if not address.startswith("127.")]


def own_urls(port: int | str) -> list[str]:
    """The URLs that work in this machine's networks; [] without a network."""
    return [f"http://{address}:{port}/" for address in own_addresses()]


class AllowedHosts(list[str]):
    """Django's `ALLOWED_HOSTS`, with the addresses that this machine has now: a laptop changes its network while the
    site runs."""

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        yield from own_addresses()
