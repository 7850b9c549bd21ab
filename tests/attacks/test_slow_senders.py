"""Over real sockets: people who send requests in part do not keep the others waiting."""

from __future__ import annotations

import os
import resource
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from leaderboard.management import children
from tests.site import free_port, patience, until

HELLO = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HELD_BEFORE = 1024
"""At so many the web server stopped answering."""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The web server as `up` starts it, with a page that needs nothing."""
    (tmp_path / "hello.py").write_text(HELLO)
    port = free_port()
    *command, _application = children.web("127.0.0.1", port).command
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    server = children.spawn([*command, "hello:application"], tmp_path / "log", environment)
    try:
        until(lambda: is_open(port), what="the web server")
        yield port
    finally:
        server.terminate()
        server.wait(20)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def seconds_of_a_page(port: int, source: str) -> float:
    begun = time.monotonic()
    connection = HTTPConnection("127.0.0.1", port, timeout=20, source_address=(source, 0))
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"hello"
    connection.close()
    return time.monotonic() - begun


@contextmanager
def half_sent(port: int, number: int) -> Iterator[list[socket.socket]]:
    """So many connections of one address, each with the beginning of a header."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + 512
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(wanted, hard)), hard))
    with ExitStack() as held:
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        connections = []
        for _ in range(number):
            connections.append(held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)))
            connections[-1].send(HALF)
        yield connections


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_two_thousand_half_sent_headers_of_one_address_leave_pages_to_all(port: int) -> None:
    with half_sent(port, 2 * HELD_BEFORE + 2):
        for source in ("127.0.0.1", "127.0.0.2"):
            assert seconds_of_a_page(port, source) < 2 * patience()


@pytest.mark.long
@pytest.mark.slow
def test_a_connection_without_a_whole_header_ends(port: int) -> None:
    with half_sent(port, 3) as connections:
        for connection in connections:
            connection.settimeout(3 * children.HEADER_MILLISECONDS / 1000)
            assert connection.recv(99) == b""
