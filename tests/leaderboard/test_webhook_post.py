"""The process that posts: to the public internet, to the list, and to what it looked at; tried with a real server."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from leaderboard.webhooks import sending

SLACK = "https://hooks.slack.com/services/T1AAAAAAA/B1AAAAAAA/abcdefghijklmnopqrstuvwx"


class Service(BaseHTTPRequestHandler):
    """Answers as the server's `says` tells, and keeps what it was told."""

    server: Any

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, json.loads(body)))
        status, headers, answer = self.server.says.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        try:
            self.wfile.write(answer)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Nothing: the tests look at what was heard."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for Slack's name, by nobody that anybody trusts; key and certificate in one file."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-days", "2", "-subj", "/CN=hooks.slack.com", "-addext", "subjectAltName=DNS:hooks.slack.com"),
            *("-keyout", str(path), "-out", str(path.with_suffix(".crt"))),
        ],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


@pytest.fixture
def service(certificate: Path) -> Iterator[Any]:
    server: Any = HTTPServer(("127.0.0.1", 0), Service)
    server.heard, server.says, server.handle_error = [], [], lambda *_: None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


# The process itself, with a resolver that knows what the test says, and, for the test's own server alone, a door.
TRIAL = """
import json, logging, sys
sys.path.insert(0, {folder!r})
import _post
logging.disable(logging.CRITICAL)
usual = _post.may_connect
_post.may_connect = lambda target: tuple(target[:2]) in {doors!r} or usual(target)
_post.hold(["hooks.slack.com", "chat.example.edu"])
said = []
for address, found in {jobs!r}:
    _post.resolve = lambda *_, **__: [(10 if ":" in a else 2, 1, 6, "", (a, p)) for a, p in found]
    _post.words.clear()
    said.append(_post.post(address, "Hello", "World"))
print(json.dumps(said))
"""
Places = list[tuple[str, int]]


def tried(*jobs: tuple[str, Places], doors: Places, **environment: str) -> list[str]:
    """The words of a process for these addresses, each with the places where its name leads."""
    code = TRIAL.format(folder=str(sending.CHILD.parent), jobs=jobs, doors=doors)
    run = subprocess.run(
        [sys.executable, "-I", "-c", code],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    return [str(word) for word in json.loads(run.stdout)]


def to(service: Any, certificate: Path, *says: Any) -> list[str]:
    """Post to the test's server, as though Slack's name led there, once for each of its answers."""
    here = ("127.0.0.1", service.server_port)
    service.says.extend(says)
    trusted = str(certificate.with_suffix(".crt"))
    return tried(*[(SLACK, [here])] * len(says), doors=[here], REQUESTS_CA_BUNDLE=trusted)


def test_messages_arrive_in_the_services_own_form_and_answers_are_held_to_what_is_needed(
    service: Any, certificate: Path
) -> None:
    """Redirects are not followed, wherever they lead, and long answers not read."""
    there = f"https://hooks.slack.com:{service.server_port}/elsewhere"
    says = [
        (200, {}, b"ok"),
        (404, {}, b"no_service"),
        (302, {"Location": there}, b""),
        (307, {"Location": "http://127.0.0.1/"}, b""),
        (200, {}, b"x" * 100_000),
    ]
    assert to(service, certificate, *says) == ["", "status 404", "redirect", "redirect", "long"]
    assert len(service.heard) == 5
    path, body = service.heard[0]
    assert path == "/services/T1AAAAAAA/B1AAAAAAA/abcdefghijklmnopqrstuvwx"
    assert (body["attachments"][0]["title"], body["attachments"][0]["text"]) == ("Hello", "World")


def test_who_is_not_on_the_list_not_public_or_not_known_hears_nothing(service: Any) -> None:
    here = ("127.0.0.1", service.server_port)
    chat = "https://chat.example.edu/hooks/abcdefgh"
    tries: list[tuple[str, Places, str]] = [
        (SLACK, [("93.184.215.14", 443), ("10.0.0.1", 443)], "private"),
        (SLACK, [("169.254.169.254", 443)], "private"),
        (SLACK, [("::ffff:127.0.0.1", 443)], "private"),
        (SLACK, [], "private"),
        (chat, [("192.168.1.1", 443)], "private"),
        ("https://evil.example.org/hooks/abcdefgh", [here], "elsewhere"),
        ("https://chat.example.edu:8443/hooks/abcdefgh", [here], "elsewhere"),
        (SLACK, [here], "unreachable"),  # its certificate is of its own making
    ]
    assert tried(*[(address, found) for address, found, _ in tries], doors=[here]) == [word for *_, word in tries]
    assert service.heard == []


def test_no_library_connects_to_what_was_not_looked_at(service: Any) -> None:
    """The last door: also a socket of somebody else's making is stopped."""
    code = (
        f"import sys; sys.path.insert(0, {str(sending.CHILD.parent)!r})\n"
        "import socket, _post\nsys.addaudithook(_post.watch)\n"
        "try:\n"
        f"    socket.create_connection(('127.0.0.1', {service.server_port}), 2)\n"
        "except _post.Refused as why:\n    print(why)\n"
    )
    run = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "private", run.stderr


PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:93.184.215.14",
    "::10.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "3fff::1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "5f00::1",
    "localhost",
    "0x7f.1",
    "2130706433",
]


def test_addresses_of_every_private_kind_are_known_and_public_ones_are_free() -> None:
    code = (
        f"import sys, json; sys.path.insert(0, {str(sending.CHILD.parent)!r})\nimport _post\n"
        "print(json.dumps([a for a in sys.argv[1:] if _post.is_public(a)]))"
    )
    public = ["93.184.215.14", "8.8.8.8", "2606:4700::6810:84e5", "2a00:1450:4001::1"]
    run = subprocess.run(
        [sys.executable, "-I", "-c", code, *PRIVATE, *public], capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == public


def test_the_process_itself_ends_with_a_word_where_no_name_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the worker's own call: this name is never given to anybody."""
    monkeypatch.setattr(sending, "allowed_hosts", lambda: ["chat.invalid"])
    assert sending.post("https://chat.invalid/hooks/abcdefghijkl", "t", "x") == "name"
    assert socket.getaddrinfo.__module__ == "socket"
