"""Over real sockets: people who send or read slowly, or not at all, do not keep the others waiting."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from leaderboard.common.web_requests import MAX_STRANGER_BYTES
from leaderboard.operations.supervisor import processes
from tests.running_site import free_port, patience, until

HELLO = """
import os, time
from pathlib import Path
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
from leaderboard.common import web_requests, web_pools
from leaderboard.common.web_requests import BodyLimits
from leaderboard.common.web_pools import WebPools

web_requests.FREE_SECONDS = web_pools.UNREAD_SECONDS = 3.0

def hello(environ, start_response):
    length = len(environ["wsgi.input"].read())
    reason = environ.get(web_pools.REFUSAL, "")
    start_response("413 Too Large" if reason else "200 OK", [("Content-Type", "text/plain")])
    if environ["PATH_INFO"] == "/large":
        return environ["wsgi.file_wrapper"](open(os.environ["LARGE"], "rb"))
    if "stuck" in environ["PATH_INFO"]:
        time.sleep(3600)
    return [reason.encode() or b"hello %d" % length]

application = WebPools(
    hello, person_of=lambda environ: environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer forged"),
    folder=Path(os.environ["LARGE"]).parent, limits=BodyLimits(2**20, 2**24), has_bucket=True,
)
"""
ROOT = Path(__file__).resolve().parent.parent.parent
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
LARGE_BYTES = 30_000_000


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The web server as `up` starts it, with a site that needs no database."""
    (tmp_path / "hello.py").write_text(HELLO)
    (tmp_path / "large").write_bytes(b"x" * LARGE_BYTES)
    port = free_port()
    *command, _application = processes.web_process("127.0.0.1", port).command
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "LARGE": str(tmp_path / "large")}
    server = processes.spawn_process([*command, "hello:application"], tmp_path / "log", environment)
    try:
        until(lambda: is_open(port), what="the web server")
        yield port
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(20)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def seconds_of_a_page(port: int, source: str = "127.0.0.1", path: str = "/", expected: bytes = b"hello 0") -> float:
    begun = time.monotonic()
    connection = HTTPConnection("127.0.0.1", port, timeout=20, source_address=(source, 0))
    connection.request("GET", path)
    assert connection.getresponse().read() == expected
    connection.close()
    return time.monotonic() - begun


@contextmanager
def connected(port: int, number: int, beginning: bytes) -> Iterator[list[socket.socket]]:
    """So many connections of one address, each with the same beginning of a request."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(number + 512, hard)), hard))
    with ExitStack() as held:
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        connections = []
        for _ in range(number):
            connections.append(held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)))
            connections[-1].sendall(beginning)
        yield connections


def request(path: str = "/", length: int = 0, person: str = "", method: str = "POST") -> bytes:
    token = f"Authorization: Bearer {person}\r\n" if person else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{token}Content-Length: {length}\r\n\r\n".encode()


def status_of(connection: socket.socket) -> int:
    connection.settimeout(30 * patience())
    return int(connection.recv(9999).split()[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
@pytest.mark.attack("headers sent in part by the thousand, so that nobody is answered")
def test_two_thousand_half_sent_headers_of_one_address_leave_pages_to_all(port: int) -> None:
    with connected(port, 2050, HALF):
        for source in ("127.0.0.1", "127.0.0.2"):
            assert seconds_of_a_page(port, source) < 2 * patience()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.attack("headers sent in part by the thousand, so that nobody is answered")
def test_a_connection_without_a_whole_header_ends(port: int) -> None:
    with connected(port, 3, HALF) as connections:
        for connection in connections:
            connection.settimeout(3 * processes.HEADER_MILLISECONDS / 1000)
            assert connection.recv(99) == b""


@pytest.mark.slow
@pytest.mark.attack("bodies sent drop by drop, so that others cannot submit")
@pytest.mark.case(112)
def test_six_hundred_bodies_that_fall_silent_keep_nobody_waiting_and_end(port: int) -> None:
    with connected(port, 600, request(length=100_000, person="dee") + b"x" * 1000) as connections:
        assert seconds_of_a_page(port) < 2 * patience()
        with connected(port, 1, request(length=5, person="bo") + b"whole") as uploads:
            assert status_of(uploads[0]) == 200
        assert {status_of(connection) for connection in connections} == {408}


@pytest.mark.slow
@pytest.mark.attack("bodies of which much comes at once and then nothing, to fill the disk")
def test_a_large_body_that_falls_silent_ends_as_a_small_one_does(port: int) -> None:
    """By its bytes alone it might take three minutes."""
    with connected(port, 3, request(length=2**20, person="dee") + b"x" * 700_000) as connections:
        assert {status_of(connection) for connection in connections} == {408}


@pytest.mark.slow
@pytest.mark.attack("downloads that nobody reads, so that others get no page")
def test_five_hundred_unread_downloads_keep_nobody_waiting_and_end(port: int) -> None:
    with connected(port, 520, request("/large", method="GET")) as connections:
        assert seconds_of_a_page(port) < 2 * patience()
        received = 0
        connections[0].settimeout(30 * patience())

        def is_cut() -> bool:
            """The rest of it never comes, because the server has closed the connection."""
            nonlocal received
            while piece := connections[0].recv(1_000_000):
                received += len(piece)
            return True

        until(lambda: seconds_of_a_page(port) < 2 * patience(), what="pages meanwhile")
        time_until_cut = time.monotonic() + 6 * patience()
        until(lambda: time.monotonic() > time_until_cut, what="the time that an unread answer has", seconds=60)
        assert is_cut()
        assert received < LARGE_BYTES


@pytest.mark.slow
def test_a_large_file_reaches_a_client_that_reads_it(port: int) -> None:
    assert seconds_of_a_page(port, path="/large", expected=b"x" * LARGE_BYTES) < 20 * patience()


@pytest.mark.slow
@pytest.mark.attack("files sent by people without an account, to fill the disk")
def test_a_body_is_as_long_as_its_sender_may_send(port: int) -> None:
    """A stranger 128 kB, a person what the site takes; also where the length is not announced."""
    cases = [("", MAX_STRANGER_BYTES, 200), ("", MAX_STRANGER_BYTES + 1, 413), ("bo", MAX_STRANGER_BYTES + 1, 200)]
    cases += [("forged", MAX_STRANGER_BYTES + 1, 413), ("bo", 3 * 2**20, 413)]
    for person, size, status in cases:
        body = b"x" * size
        with connected(port, 1, request(length=size, person=person) + body) as connections:
            assert status_of(connections[0]) == status, (person, size)
        token = f"Authorization: Bearer {person}\r\n" if person else ""
        head = f"POST / HTTP/1.1\r\nHost: localhost\r\n{token}Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n".encode()
        with connected(port, 1, head + body + b"\r\n0\r\n\r\n") as connections:
            assert status_of(connections[0]) == status, (person, size)


@pytest.mark.slow
@pytest.mark.parametrize("length", ["many", "-5", "1e3"])
@pytest.mark.case(110)
def test_110_a_length_that_is_none_takes_nothing(port: int, length: str) -> None:
    head = f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\nabc".encode()
    with connected(port, 1, head) as connections:
        assert status_of(connections[0]) == 400


@pytest.mark.slow
@pytest.mark.attack("methods that echo what a browser sends")
def test_trace_is_refused(port: int) -> None:
    with connected(port, 1, request(method="TRACE")) as connections:
        assert status_of(connections[0]) == 405


def test_downloads_that_wait_for_a_bucket_keep_no_page_waiting(port: int) -> None:
    people = [f"p{number}" for number in range(9)]
    with ExitStack() as held:
        for person in people:
            path = "/c/pets/data/files/stuck.csv"
            held.enter_context(connected(port, 1, request(path, person=person, method="GET")))
        assert seconds_of_a_page(port) < 2 * patience()


@pytest.mark.slow
@pytest.mark.long
def test_healthz_says_when_a_pool_is_stuck(port: int) -> None:
    """Bo's page is served by half of the readers for the address of a stranger; here all are stuck."""
    people = [f"p{number}" for number in range(9)]
    with ExitStack() as held:
        for person in people:
            held.enter_context(connected(port, 1, request("/stuck", person=person, method="GET")))

        def health() -> bytes:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            return connection.getresponse().read()

        assert health() == b"ok"
        until(lambda: b"readers" in health(), what="healthz to say so", seconds=40)
