"""Over real sockets: people who send requests in part do not keep the others waiting."""

from __future__ import annotations

import io
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.wsgi import get_wsgi_application
from django.test import Client, RequestFactory

from leaderboard.accounts.adapter import user_of_request
from leaderboard.accounts.models import User
from leaderboard.common.slow_clients import LARGE, LONGEST_SILENCE, LimitSlowClients, MeteredBody
from leaderboard.competitions.models import Competition, Submission
from leaderboard.operations.supervisor import children
from tests.conftest import enter
from tests.site import free_port, patience, until

HELLO = """
from leaderboard.common.slow_clients import LimitSlowClients

def hello(environ, start_response):
    environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]

application = LimitSlowClients(hello, 4, person=lambda environ: environ.get("HTTP_X_PERSON", ""))
"""
ROOT = Path(__file__).resolve().parent.parent.parent
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HELD_BEFORE = 1024
"""At so many the web server stopped answering."""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The web server as `up` starts it, with a page that needs nothing."""
    (tmp_path / "hello.py").write_text(HELLO)
    port = free_port()
    *command, _application = children.web_process("127.0.0.1", port).command
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    server = children.spawn_process([*command, "hello:application"], tmp_path / "log", environment)
    try:
        until(lambda: is_open(port), what="the web server")
        yield port
    finally:
        os.killpg(server.pid, signal.SIGKILL)
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
@pytest.mark.attack("headers sent in part by the thousand, so that nobody is answered")
def test_two_thousand_half_sent_headers_of_one_address_leave_pages_to_all(port: int) -> None:
    with half_sent(port, 2 * HELD_BEFORE + 2):
        for source in ("127.0.0.1", "127.0.0.2"):
            assert seconds_of_a_page(port, source) < 2 * patience()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.attack("headers sent in part by the thousand, so that nobody is answered")
def test_a_connection_without_a_whole_header_ends(port: int) -> None:
    with half_sent(port, 3) as connections:
        for connection in connections:
            connection.settimeout(3 * children.HEADER_MILLISECONDS / 1000)
            assert connection.recv(99) == b""


# --- large bodies -------------------------------------------------------------------------------------------------


def begin_large(port: int, person: str) -> socket.socket:
    """A connection with the beginning of a large body, which then falls silent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20 * patience())
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nX-Person: {person}\r\nContent-Length: {LARGE}\r\n\r\n"
    connection.sendall(head.encode() + b"x" * 1000)
    return connection


def is_refused(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        return connection.recv(999).split()[1] == b"429"
    except TimeoutError:
        return False


@pytest.mark.slow
# Where connections do not stay open, a request that begins here closes the connection of this test.
@pytest.mark.sqlite
@pytest.mark.attack("large files that fall silent on their way, to fill the disk")
def test_of_one_person_two_large_bodies_are_on_their_way(port: int) -> None:
    with ExitStack() as held:
        of_bo = [held.enter_context(begin_large(port, "bo")) for _ in range(3)]
        of_cy = [held.enter_context(begin_large(port, "cy")) for _ in range(2)]
        until(lambda: any(map(is_refused, of_bo)), what="the third of Bo to be refused")
        assert not any(map(is_refused, of_cy))

    def is_taken() -> bool:
        with begin_large(port, "bo") as connection, suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(b"x" * (LARGE - 1000))
            connection.settimeout(20 * patience())
            return connection.recv(999).split()[1] == b"200"
        return False

    until(is_taken, what="Bo's next file")


# Where connections do not stay open, a request that begins here closes the connection of this test.
@pytest.mark.sqlite
@pytest.mark.attack("large files that fall silent on their way, to fill the disk")
def test_an_upload_that_falls_silent_leaves_the_disk(
    client: Client, pets: Competition, bo: User, settings: LazySettings, tmp_path: Path
) -> None:
    """Bo's upload stops halfway; before and after the watcher looks, the folder for parts is measured."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    enter(pets, bo)
    client.force_login(bo)
    found: list[tuple[str, int]] = []
    site = LimitSlowClients(get_wsgi_application(), 2, person=user_of_request)

    def held() -> int:
        return sum(path.stat().st_size for path in tmp_path.iterdir() if path.is_file())

    class Silent(io.BytesIO):
        """After two megabytes a minute of silence, then the rest."""

        is_silent = False

        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 2_000_000 and not self.is_silent:
                self.is_silent = True
                found.append(("comes in", held()))
                site.give_up_late_bodies(time.monotonic() + LONGEST_SILENCE + 1)
                found.append(("given up", held()))
            return super().read(size)

    boundary = "xxx"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    body = head.encode() + b"1,cat\n" * 500_000 + f"\r\n--{boundary}--\r\n".encode()
    environ = RequestFactory().post("/c/pets/submit/").environ | {
        "wsgi.input": Silent(body),
        "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": f"multipart/form-data; boundary={boundary}",
        "HTTP_COOKIE": f"sessionid={client.cookies['sessionid'].value}; csrftoken={'x' * 32}",
        "HTTP_X_CSRFTOKEN": "x" * 32,
    }
    statuses: list[str] = []
    b"".join(site(environ, lambda status, headers: statuses.append(status[:3])))
    assert found[0][1] > 1_000_000
    assert found[1] == ("given up", 0)
    assert statuses == ["400"]
    assert held() == 0
    assert not Submission.objects.exists()


@pytest.mark.parametrize("size", [100, 65536])
def test_a_large_body_that_comes_in_time_is_read_whole(size: int) -> None:
    data = os.urandom(300_000)
    body = MeteredBody(io.BytesIO(data), "bo")
    assert b"".join(iter(lambda: body.read(size), b"")) == data
    assert not body.takes_too_long(body.heard + LONGEST_SILENCE - 1)


def test_a_body_that_crawls_takes_too_long_after_the_first_minute() -> None:
    body = MeteredBody(io.BytesIO(b"x" * 1_000_000), "bo")
    body.received, body.heard = 300_000, body.begun + 70
    assert not body.takes_too_long(body.begun + 70)
    body.heard = body.begun + 80
    assert body.takes_too_long(body.begun + 80)
