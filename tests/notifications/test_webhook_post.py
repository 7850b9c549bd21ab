"""Messages reach the services of the list and no other place; tried with a real server."""

from __future__ import annotations

import json
import logging
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from leaderboard.notifications import chat_posting

SECRET = "abcdefghijklmnopqrstuvwx"
SLACK = f"https://hooks.slack.com/services/T1AAAAAAA/B1AAAAAAA/{SECRET}"
FLOW = "workflows/abc123/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=x"


class Service(BaseHTTPRequestHandler):
    """Answers with the server's `replies`, one after the other, and records what it received."""

    server: Any

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, json.loads(body)))
        status, headers, answer = self.server.replies.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(answer)
            while answer == b"endless" and not self.server.is_over.wait(0.01):
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        """Nothing: the tests look at what was received."""


class DrippingService(Service):
    def do_POST(self) -> None:
        while not self.server.is_over.wait(0.01):
            try:
                self.wfile.write(b"H")
            except OSError:
                return


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for Slack's name that no authority has signed; key and certificate in one file."""
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
def service(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server to which every name leads, as after a takeover of the DNS; `called` lists the names."""
    server: Any = HTTPServer(("127.0.0.1", 0), Service)
    server.received, server.replies, server.called, server.is_over = [], [], [], threading.Event()
    server.handle_error = lambda *_: None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)

    def connect(address: tuple[str, int], timeout: Any = None, *_: Any, **__: Any) -> socket.socket:
        server.called.append(address)
        return socket.create_connection(("127.0.0.1", server.server_port), 5)

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.is_over.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def trusted(service: Any, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same server with a certificate that counts, as Slack's own."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.with_suffix(".crt")))
    return service


def test_a_message_arrives_in_the_form_of_the_service(trusted: Any) -> None:
    trusted.replies.append((200, {}, b"ok"))
    assert chat_posting.post_message(SLACK, "Cats & dogs", "World <!here>") == ""
    ((path, body),) = trusted.received
    assert path == f"/services/T1AAAAAAA/B1AAAAAAA/{SECRET}"
    assert (body["attachments"][0]["title"], body["attachments"][0]["text"]) == (
        "Cats &amp; dogs",
        "World &lt;!here&gt;",
    )


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://discord.com/api/webhooks/1/a", {"content": "**Hello**\nWorld", "allowed_mentions": {"parse": []}}),
        ("https://chat.example.edu/hooks/abc", {"username": "Leaderboard", "text": "**Hello**\nWorld"}),
        (
            "https://chat.example.edu/a/b",
            {"version": "1.0", "type": "info", "title": "Hello", "message": "World"},
        ),
    ],
)
def test_each_service_has_its_form(settings: LazySettings, address: str, expected: dict[str, Any]) -> None:
    settings.WEBHOOK_HOSTS = ["chat.example.edu"]
    assert chat_posting.payload(chat_posting.read_address(address), "Hello", "World") == expected


def test_teams_receives_a_card() -> None:
    channel = chat_posting.read_address(f"https://prod-1.westeurope.logic.azure.com:443/{FLOW}")
    (attachment,) = chat_posting.payload(channel, "Hello", "World")["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert [block["text"] for block in attachment["content"]["body"]] == ["Hello", "World"]


@pytest.mark.parametrize(
    "location", ["https://hooks.slack.com/elsewhere", "http://127.0.0.1/", "http://169.254.169.254/"]
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.attack("making the server post into its own network through a channel's address")
def test_redirects_are_not_followed(trusted: Any, status: int, location: str) -> None:
    trusted.replies.append((status, {"Location": location}, b""))
    assert chat_posting.post_message(SLACK, "Hello", "World") == "redirect"
    assert len(trusted.called) == 1


@pytest.mark.attack("making the server post into its own network through a channel's address")
def test_the_status_alone_counts_and_an_endless_answer_is_not_read(trusted: Any) -> None:
    trusted.replies += [(404, {}, b"no_service"), (200, {}, b"endless"), (500, {}, b"endless")]
    assert [chat_posting.post_message(SLACK, "Hello", "World") for _ in range(3)] == ["status 404", "", "status 500"]


@pytest.mark.attack("making the server post into its own network through a channel's address")
def test_an_answer_that_comes_drop_by_drop_is_given_up(trusted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted.RequestHandlerClass = DrippingService
    monkeypatch.setattr(chat_posting, "POST_SECONDS", 0.3)
    assert chat_posting.post_message(SLACK, "Hello", "World") == "late"


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1/hooks/x",
        "https://localhost/hooks/x",
        "https://[::1]/hooks/x",
        "https://0x7f.1/hooks/x",
        "https://2130706433/hooks/x",
        "https://169.254.169.254/latest/meta-data/iam",
        "https://metadata.google.internal/computeMetadata/v1",
        "https://10.0.0.1/hooks/x",
        "https://evil.example.org/hooks/x",
        "https://chat.example.edu.evil.example.org/hooks/x",
        "https://chat.example.edu@evil.example.org/hooks/x",
        "https://evil.example.org\\@chat.example.edu/hooks/x",
        "https://chat.example.edu:8443/hooks/x",
        "http://chat.example.edu/hooks/x",
        SLACK.replace("hooks.slack.com", "hooks.slack.com.example.org"),
        f"https://logic.azure.com.example.org/{FLOW}",
        "file:///etc/passwd",
    ],
)
@pytest.mark.attack("making the server post into its own network through a channel's address")
def test_nothing_is_sent_to_a_host_that_is_not_on_the_list(settings: LazySettings, service: Any, address: str) -> None:
    """Also when such an address stands in the database, or its host left the list since."""
    settings.WEBHOOK_HOSTS = ["chat.example.edu"]
    assert chat_posting.post_message(address, "Hello", "World") == "elsewhere"
    assert service.called == []


@pytest.mark.attack("making the server post into its own network through a channel's address")
def test_a_name_of_the_list_that_leads_to_this_machine_receives_nothing(service: Any) -> None:
    """The certificate there is not one for that name that anybody trusts."""
    assert chat_posting.post_message(SLACK, "Hello", "World") == "unreachable"
    assert service.called == [("hooks.slack.com", 443)]
    assert service.received == []


@pytest.mark.attack("making the server post into its own network through a channel's address")
def test_a_certificate_of_another_name_does_not_count(trusted: Any, settings: LazySettings) -> None:
    settings.WEBHOOK_HOSTS = ["chat.example.edu"]
    assert chat_posting.post_message("https://chat.example.edu/hooks/abcdefgh", "Hello", "World") == "unreachable"
    assert trusted.received == []


def test_a_proxy_of_this_machine_is_not_asked(trusted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    trusted.replies.append((200, {}, b"ok"))
    assert chat_posting.post_message(SLACK, "Hello", "World") == ""
    assert trusted.called == [("hooks.slack.com", 443)]


@pytest.mark.attack("a channel's address read or logged; names that call people in a chat")
def test_no_log_holds_the_address(trusted: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Also not where the operator asks for everything, and where headers are malformed."""
    trusted.replies += [(200, {"a b\n": "x"}, b"ok"), (200, {}, b"ok")]
    with caplog.at_level(logging.DEBUG):
        assert {chat_posting.post_message(SLACK, "Hello", "World") for _ in range(2)} == {""}
    assert SECRET not in caplog.text
