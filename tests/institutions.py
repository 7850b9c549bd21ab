"""Providers of OpenID Connect for tests: a package's real one in a process of its own, and a hostile one."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.http import HttpResponse
from django.test import Client

from leaderboard.accounts.institution import metadata
from leaderboard.common.institutions import Institution
from tests.running_site import free_port, until

# How busy the machine is says nothing of a provider.
PATIENCE = {"MAX_PAGE_SECONDS": 60.0}
CLIENT_ID, CLIENT_SECRET = "leaderboard", "a-secret-of-thirty-two-characters!"
LOGIN = "/accounts/oidc/1/login/"


def institution_at(issuer: str, **given: Any) -> Institution:
    fields = {"name": "Sign in with University X", "domains": ("uni.example",), **given}
    return Institution(issuer=issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, **fields)


@dataclass
class RealProvider:
    """`oidc-provider-mock`, whose people are what a test says."""

    issuer: str

    def know(self, subject: str, **claims: Any) -> None:
        requests.put(f"{self.issuer}/users/{subject}", json=claims, timeout=60).raise_for_status()

    def sign_in(self, address: str, subject: str) -> str:
        """Where the provider sends a person back to who signs in there."""
        answer = requests.post(address, data={"sub": subject}, allow_redirects=False, timeout=60)
        return answer.headers["Location"]


@contextmanager
def real_provider() -> Iterator[RealProvider]:
    port = free_port()
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "oidc_provider_mock",
        "--port",
        str(port),
        "--require-nonce",
        "true",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    provider = RealProvider(f"http://127.0.0.1:{port}")

    def is_up() -> bool:
        assert process.poll() is None, "the provider has ended"
        return answers_at(provider.issuer)

    try:
        until(is_up, seconds=30)
        yield provider
    finally:
        process.terminate()
        process.wait(10)


def answers_at(issuer: str) -> bool:
    try:
        return requests.get(f"{issuer}/.well-known/openid-configuration", timeout=1).ok
    except requests.RequestException:
        return False


def fetch_all_metadata() -> bool:
    """What the task does at the start and each hour; whether all providers answered as they should."""
    return all([metadata.fetch_metadata(one) for one in settings.INSTITUTIONS])


def way_to_provider(client: Client, *, at: str = LOGIN, **data: str) -> str:
    """The address that the button on the sign-in page leads to, once the task has fetched the provider's metadata."""
    fetch_all_metadata()
    page = client.post(at, data)
    assert page.status_code == 200, page.content
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.content.decode())
    assert found, page.content.decode()
    return html.unescape(found[1])


def come_back(client: Client, address: str) -> HttpResponse:
    """The provider's redirect, followed to this site."""
    parts = urlsplit(address)
    return client.get(f"{parts.path}?{parts.query}")  # type: ignore[return-value]


# --- a provider that lies -----------------------------------------------------------------------------------------


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signing_key(name: str) -> rsa.RSAPrivateKey:
    return KEYS.setdefault(name, rsa.generate_private_key(public_exponent=65537, key_size=2048))


KEYS: dict[str, rsa.RSAPrivateKey] = {}


@dataclass
class HostileProvider:
    """Says whatever a test wants. As far as a test changes nothing, it is an honest provider: with PKCE, codes that
    work once and tokens that this site must take."""

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    """Of the person who signs in; None takes one out."""
    token: Callable[[dict[str, Any]], str] | None = None
    """Makes the ID token of honest claims."""
    user_info: dict[str, Any] | None = None
    configuration: dict[str, Any] = field(default_factory=dict)
    keys: list[dict[str, Any]] | None = None
    """What it publishes."""
    answer: Callable[[str, Any], bool] | None = None
    """Takes a request over: path and handler; whether it has answered."""
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def sign_in(self, address: str) -> str:
        asked = dict(parse_qsl(urlsplit(address).query))
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def honest_claims(self, nonce: str) -> dict[str, Any]:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "subject-1",
            "aud": CLIENT_ID,
            "exp": now + 300,
            "iat": now,
            "nonce": nonce,
            "email": "bo@uni.example",
            "email_verified": True,
            "preferred_username": "bo",
            **self.claims,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def id_token(self, claims: dict[str, Any]) -> str:
        if self.token:
            return self.token(claims)
        return jwt.encode(claims, signing_key("own"), "RS256", headers={"kid": "own"})

    def answer_to(self, path: str, form: dict[str, str]) -> tuple[int, Any]:
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
            known = {name: f"{self.issuer}/{page}" for name, page in names.items()}
            known["userinfo_endpoint"] = f"{self.issuer}/userinfo"
            return 200, {"issuer": self.issuer, **known, **self.configuration}
        if path == "/jwks":
            return 200, {"keys": self.keys if self.keys is not None else [public_key("own")]}
        if path == "/userinfo":
            return 200, self.user_info or {"sub": self.claims.get("sub", "subject-1")}
        if path == "/token" and (asked := self.codes.pop(form.get("code", ""), None)):
            challenge = encoded(hashlib.sha256(form["code_verifier"].encode()).digest())
            if challenge == asked["code_challenge"] and form["client_secret"] == CLIENT_SECRET:
                token = self.id_token(self.honest_claims(asked["nonce"]))
                return 200, {"access_token": "token-canary", "token_type": "Bearer", "id_token": token}
        return 400, {"error": "invalid_grant"}


def public_key(name: str, **more: Any) -> dict[str, Any]:
    key = jwt.algorithms.RSAAlgorithm.to_jwk(signing_key(name).public_key(), as_dict=True)
    return {**key, "kid": name, "use": "sig", "alg": "RS256", **more}


def unsigned(claims: dict[str, Any]) -> str:
    """A token with `alg: none`."""
    return f"{encoded(json.dumps({'alg': 'none', 'kid': 'own'}).encode())}.{encoded(json.dumps(claims).encode())}."


@contextmanager
def hostile_provider() -> Iterator[HostileProvider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            self.reply({name: values[0] for name, values in parse_qs(body).items()})

        def reply(self, form: dict[str, str]) -> None:
            path = urlsplit(self.path).path
            provider.asked.append(path)
            if provider.answer and provider.answer(path, self):
                return
            status, said = provider.answer_to(path, form)
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = HostileProvider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
