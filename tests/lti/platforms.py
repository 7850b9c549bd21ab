"""A learning platform for tests: its keys and launches, and a server with its roster, columns and marks.

`quirks` are those of real platforms: `moodle` answers 409 to a mark of the same second, `openedx` takes whole maxima
only, `canvas` adds a comment with each mark.
"""

from __future__ import annotations

import html
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client

from leaderboard.lti import registering
from leaderboard.lti.launching import CLAIM, GRADES_CLAIM, ROLE, ROSTER_CLAIM
from leaderboard.lti.models import Deployment, Platform

CLIENT_ID, DEPLOYMENT = "leaderboard-1", "d-1"
SITE = "http://testserver"
LEARNER, INSTRUCTOR = [ROLE + "Learner"], [ROLE + "Instructor"]
Answer = tuple[int, Any, dict[str, str]]
"""Status, JSON, headers."""
_key: list[rsa.RSAPrivateKey] = []


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def platform_key() -> rsa.RSAPrivateKey:
    """One key for all tests of a process: making it takes a tenth of a second."""
    if not _key:
        _key.append(new_key())
    return _key[0]


def jwk_of(key: rsa.RSAPrivateKey, kid: str) -> dict[str, Any]:
    return {**jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}


@dataclass
class FakePlatform:
    """A platform that an operator has approved, and what its server was sent."""

    address: str = "https://moodle.example"
    kid: str = "k1"
    quirks: str = "moodle"
    members: list[dict[str, Any]] = field(default_factory=list)
    lineitems: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    tokens: int = 0
    page_size: int = 2
    # Its clock's header, and the seconds to wait that it names with each answer.
    date: str = ""
    retry_after: str = ""
    # Called before an answer; may return a status to answer with, or sleep.
    before: Callable[[str, str, dict[str, Any]], int | None] | None = None
    registered: list[dict[str, Any]] = field(default_factory=list)
    platform: Platform = field(default_factory=Platform)

    def approve(self, **facts: Any) -> Platform:
        """Registered and approved here, with its keys."""
        self.platform = Platform.objects.create(
            issuer=self.address,
            client_id=CLIENT_ID,
            auth_url=f"{self.address}/auth",
            token_url=f"{self.address}/token",
            keys_url=f"{self.address}/keys",
            name="Moodle",
            keys={"keys": [jwk_of(platform_key(), self.kid)]},
            **facts,
        )
        Deployment.objects.create(platform=self.platform, name=DEPLOYMENT)
        registering.approve_platform(platform=self.platform, user=None)
        Platform.objects.filter(pk=self.platform.pk).update(keys_fetched_at=self.platform.approved_at)
        return self.platform

    def approve_again(self) -> None:
        """Switch the platform on again."""
        self.platform.refresh_from_db()
        registering.approve_platform(platform=self.platform, user=None)

    def claims(self, subject: str, *, roles: list[str] = LEARNER, nonce: str = "", **given: Any) -> dict[str, Any]:
        """What a launch of a person says, with services in the test's server."""
        now = int(time.time())
        name = subject.capitalize()
        return {
            "iss": self.address,
            "aud": CLIENT_ID,
            "sub": subject,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "given_name": name,
            "family_name": "Example",
            "name": f"{name} Example",
            "email": f"{subject}@uni.example",
            CLAIM + "version": "1.3.0",
            CLAIM + "message_type": "LtiResourceLinkRequest",
            CLAIM + "deployment_id": DEPLOYMENT,
            CLAIM + "target_link_uri": f"{SITE}/lti/launch/",
            CLAIM + "context": {"id": "c-1", "title": "Machine learning"},
            CLAIM + "resource_link": {"id": "r-1", "title": "Pets"},
            CLAIM + "roles": roles,
            ROSTER_CLAIM: {"context_memberships_url": f"{self.address}/members"},
            GRADES_CLAIM: {"lineitems": f"{self.address}/lineitems"},
            **given,
        }

    def token(
        self, claims: dict[str, Any], *, key: Any = None, kid: str | None = None, algorithm: str = "RS256"
    ) -> str:
        headers = {"kid": self.kid if kid is None else kid}
        return jwt.encode(claims, key or platform_key(), algorithm=algorithm, headers=headers)

    def begin(self, client: Client, **given: Any) -> dict[str, str]:
        """The login of a launch; returns what the site asks the platform for (`state`, `nonce`, …)."""
        asked = {"iss": self.address, "login_hint": "7", "target_link_uri": f"{SITE}/lti/launch/", **given}
        answer = client.post("/lti/login/", asked)
        assert answer.status_code == 302, answer.content.decode()
        return {name: values[0] for name, values in parse_qs(urlsplit(answer["Location"]).query).items()}

    def launch(self, client: Client, subject: str, *, roles: list[str] = LEARNER, **given: Any) -> Any:
        """A whole launch of a person in a browser."""
        asked = self.begin(client)
        token = self.token(self.claims(subject, roles=roles, nonce=asked["nonce"], **given))
        return client.post("/lti/launch/", {"id_token": token, "state": asked["state"]})

    # --- what its server answers --------------------------------------------------------------------------------

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        if path == "/token":
            self.tokens += 1
            return 200, {"access_token": secrets.token_hex(8), "expires_in": 3600}, {}
        if path == "/registration":
            self.registered.append(body)
            return 201, {"client_id": "made-by-platform", "deployment": 1}, {}
        if path == "/members":
            return self._members(int(query.get("page", ["0"])[0]))
        if path.endswith("/scores"):
            return self._take_mark(self.address + path.removesuffix("/scores"), body)
        if path.startswith("/lineitems"):
            return self._column(method, path, query, body)
        fixed = {"/keys": {"keys": [jwk_of(platform_key(), self.kid)]}, "/configuration": self.configuration()}
        return (200, fixed[path], {}) if path in fixed else (404, {}, {})

    def _column(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        address = self.address + path
        if path == "/lineitems" and method == "POST":
            made = f"{address}/{len(self.lineitems) + 1}"
            self.lineitems[made] = {**body, "id": made}
            return 201, self.lineitems[made], {}
        if path == "/lineitems":
            named = query.get("resource_id", [""])[0]
            return 200, [one for one in self.lineitems.values() if not named or one.get("resourceId") == named], {}
        if address not in self.lineitems:
            return 404, {}, {}
        if method == "PUT":
            self.lineitems[address] = {**body, "id": address}
        return 200, self.lineitems[address], {}

    def configuration(self) -> dict[str, Any]:
        named = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "keys"}
        return {
            "issuer": self.address,
            **{name: f"{self.address}/{path}" for name, path in named.items()},
            "registration_endpoint": f"{self.address}/registration",
            registering.PLATFORM_CLAIM: {"product_family_code": "moodle"},
        }

    def _members(self, page: int) -> Answer:
        rows = self.members[page * self.page_size : (page + 1) * self.page_size]
        is_last = (page + 1) * self.page_size >= len(self.members)
        link = {} if is_last else {"Link": f'<{self.address}/members?page={page + 1}>; rel="next"'}
        return 200, {"id": "m", "context": {"id": "another"}, "members": rows}, link

    def _take_mark(self, column: str, mark: dict[str, Any]) -> Answer:
        if column not in self.lineitems:
            return 404, {}, {}
        if self.quirks == "openedx" and mark.get("scoreMaximum", 1) != int(mark.get("scoreMaximum", 1)):
            return 400, {}, {}
        known = [one for at, one in self.scores if at == column and one["userId"] == mark["userId"]]
        if self.quirks == "moodle" and any(one["timestamp"] >= mark["timestamp"] for one in known):
            return 409, {}, {}
        self.scores.append((column, mark))
        return 200, {"resultUrl": "x"}, {}

    def marks_of(self, subject: str) -> list[Any]:
        """The marks that it was sent of a person, oldest first; None: taken back."""
        return [mark.get("scoreGiven") for _column, mark in self.scores if mark["userId"] == subject]


@contextmanager
def serving(fake: FakePlatform, *, port: int = 0) -> Iterator[FakePlatform]:
    """Run the platform's server on this machine, by default on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            text = self.rfile.read(length).decode()
            parts = urlsplit(self.path)
            try:
                body = json.loads(text) if text else {}
            except ValueError:
                body = {}
            status = fake.before(self.command, parts.path, body) if fake.before else None
            answer: Answer = (
                (status, {}, {}) if status else (fake.answer(self.command, parts.path, parse_qs(parts.query), body))
            )
            content = json.dumps(answer[1]).encode()
            self.send_response_only(answer[0])
            further = {"Date": fake.date, "Retry-After": fake.retry_after, "Content-Length": str(len(content))}
            for name, value in {**answer[2], **further}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = _do  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    fake.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def hidden_fields(page: str) -> dict[str, str]:
    """The hidden fields of the form on a page."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}
