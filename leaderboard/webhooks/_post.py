"""The process that posts one message and ends. It knows nothing of the site: a job comes in as JSON, a word goes out.

All of it is held to the job: https on port 443, hosts of the list, addresses of the public internet. A name is resolved
where the connection is made, and what was looked at is what is connected to. The word is empty when the message was
taken, else one of those that `sending` explains.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import re
import socket
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

import apprise
import requests

CONNECT_SECONDS, READ_SECONDS = 4, 6
MOST_BYTES = 64 * 1024
PORT = 443
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
# Addresses within others: Teredo and its like, examples, 6to4.
_NOT_PUBLIC_6 = [ipaddress.IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
_NOT_PUBLIC_4 = [ipaddress.IPv4Network(net) for net in ("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24")]

resolve: Callable[..., list[Any]] = socket.getaddrinfo


class Refused(OSError):
    """A connection or an answer that is not for this process; `words` collects why."""


words: list[str] = []
hosts: list[str] = []


def refuse(word: str) -> Refused:
    words.append(word)
    return Refused(word)


def is_public(address: str) -> bool:
    """Whether an address belongs to the public internet, and to nothing within another network."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # a zone of a link, or no address at all
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        return ip in _PUBLIC_6 and ip.is_global and not any(ip in net for net in _NOT_PUBLIC_6)
    is_other = ip.is_multicast or ip.is_reserved or any(ip in net for net in _NOT_PUBLIC_4)
    return ip.is_global and not is_other


def may_connect(target: Any) -> bool:
    """Whether a socket may be connected there: asked by the interpreter itself for every connection."""
    return isinstance(target, tuple) and target[1] == PORT and is_public(str(target[0]))


def guarded_resolve(host: Any, port: Any, *arguments: Any, **options: Any) -> list[Any]:
    """Every address behind a name of the list; none at all when one of them is not public."""
    name = host.decode("ascii") if isinstance(host, bytes) else str(host)
    if port != PORT or not is_listed(name):
        raise refuse("elsewhere")
    try:
        found = resolve(name, port, *arguments, **options)
    except OSError:
        words.append("name")
        raise
    if not found or not all(may_connect(entry[4]) for entry in found):
        raise refuse("private")
    return found


def is_listed(host: str) -> bool:
    return any(fnmatchcase(host.lower(), pattern) for pattern in hosts)


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """The last door: no library's way around the rest leads to another address."""
    if event in ("socket.connect", "socket.sendto") and not may_connect(arguments[1]):
        raise refuse("private")


class Held(requests.Session):
    """What apprise posts with: to the list alone, without proxies, redirects, or answers of any length."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.adapters.pop("http://")

    def request(self, method: Any, url: Any, *_arguments: Any, **options: Any) -> requests.Response:
        parts = urlsplit(str(url))
        if parts.scheme != "https" or parts.port not in (None, PORT) or not is_listed(parts.hostname or ""):
            raise refuse("elsewhere")
        given = {name: options.get(name) for name in ("params", "data", "headers", "json")}
        answer = super().request(
            method,
            url,
            **given,
            allow_redirects=False,
            stream=True,
            timeout=(CONNECT_SECONDS, READ_SECONDS),
            verify=os.environ.get("REQUESTS_CA_BUNDLE") or True,
        )
        return read(answer)


def read(answer: requests.Response) -> requests.Response:
    """Read an answer as far as one is read at all, and note what it was."""
    body = b""
    for chunk in answer.iter_content(8192):
        body += chunk
        if len(body) > MOST_BYTES:
            answer.close()
            raise refuse("long")
    answer._content = body
    if 300 <= answer.status_code < 400:
        words.append("redirect")
    elif not answer.ok:
        words.append(f"status {answer.status_code}")
    return answer


def form_of(address: str) -> str:
    """The address as apprise reads it: services' own as they are, other hosts as Mattermost's or as plain JSON."""
    if re.match(r"https://(hooks\.slack\.com|discord(app)?\.com)/|.*/triggers/manual/paths/invoke", address):
        return address
    if hook := re.fullmatch(r"https://([^/]+)((?:/[^/]+)*)/hooks/([^/]+)/?", address):
        return f"mmosts://{hook[1]}{hook[2]}/{hook[3]}"
    return address.replace("https://", "jsons://", 1)


def post(address: str, title: str, text: str) -> str:
    """Post one message; gives the word for what came of it."""
    asset = apprise.AppriseAsset(app_id="Leaderboard", app_desc="Leaderboard", app_url="", image_url_mask="")
    channel = apprise.Apprise(asset=asset)
    if not channel.add(form_of(address)):
        return "address"
    if channel.notify(title=title if text else "", body=text or title) and not words:
        return ""
    return words[0] if words else "unreachable"


def hold(listed: list[str]) -> None:
    """Close every door of this process but those of the job, for good."""
    hosts.extend(listed)
    socket.getaddrinfo = guarded_resolve
    requests.sessions.Session = Held  # type: ignore[misc]
    sys.addaudithook(watch)


def main() -> None:
    logging.disable(logging.CRITICAL)
    job = json.load(sys.stdin)
    hold(job["hosts"])
    sys.stdout.write(json.dumps({"word": post(job["address"], job["title"], job["text"])}))


if __name__ == "__main__":
    main()
