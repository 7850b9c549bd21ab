"""Requests to the services of a platform: access tokens, lists in pages, columns, marks.

Called by tasks only. Addresses come from signed launches of approved platforms; each goes through `PlatformSession`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import urljoin

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

from leaderboard.common.folders import made_once

from .addresses import NoAnswer, PlatformSession, host_of, object_of
from .models import Platform

SCOPES = "https://purl.imsglobal.org/spec/lti-ags/scope/"
LINEITEM_SCOPE, SCORE_SCOPE = SCOPES + "lineitem", SCOPES + "score"
ROSTER_SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
ROSTER_TYPE = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
LINEITEM_TYPE = "application/vnd.ims.lis.v2.lineitem+json"
LINEITEMS_TYPE = "application/vnd.ims.lis.v2.lineitemcontainer+json"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

ASSERTION_SECONDS = 60
MAX_PAGES = 200


class PlatformProblem(Exception):
    """A platform did not do what was asked; `status` and `headers` are those of its answer, 0 and empty without one.

    The message is a short code and quotes nothing of the answer.
    """

    def __init__(self, code: str, response: Any = None) -> None:
        super().__init__(code)
        self.status: int = 0 if response is None else response.status_code
        self.headers: Mapping[str, str] = {} if response is None else response.headers

    @property
    def is_final(self) -> bool:
        """Whether the same request would be refused again."""
        return self.status in (400, 403, 404, 405, 415, 422)

    @property
    def retry_after(self) -> float:
        """The seconds that the platform asks to wait; 0 if it names none."""
        wait = self.headers.get("Retry-After", "")
        return float(wait) if wait.isascii() and wait.isdecimal() and len(wait) < 6 else 0.0


class PlatformClient(PlatformSession):
    """One conversation with a platform, with an access token for `scope`."""

    def __init__(self, platform: Platform, scope: str, *, seconds: float) -> None:
        super().__init__(seconds)
        self.platform, self.scope = platform, scope

    def ask(self, method: str, address: str, *, kind: str, body: Any = None) -> Any:
        """The response with a status below 300; `kind` is the media type. Raises `PlatformProblem`.

        A refused token is replaced once: the platform may have ended it early.
        """
        headers = {"Accept": "*/*" if kind == SCORE_TYPE else kind, "Content-Type": kind}
        for is_again in (False, True):
            headers["Authorization"] = f"Bearer {self._token(renew=is_again)}"
            response = self._answer(method, address, headers=headers, json=body)
            if response.status_code != 401:
                break
        if not 200 <= response.status_code < 300:
            raise PlatformProblem("status", response)
        return response

    def pages(self, address: str, kind: str) -> Iterator[Any]:
        """The JSON of each page of a list. Pages after the first must have its host. Raises `PlatformProblem`."""
        first, seen = host_of(address), set[str]()
        while address:
            if len(seen) >= MAX_PAGES or address in seen or host_of(address) != first:
                raise PlatformProblem("next page")
            seen.add(address)
            response = self.ask("GET", address, kind=kind)
            yield json_of(response)
            found = response.links.get("next", {}).get("url", "")
            address = urljoin(address, found) if found else ""

    def _token(self, *, renew: bool) -> str:
        key = (self.platform.token_url, self.platform.client_id, self.scope)
        token, ends_at = _tokens.get(key, ("", 0.0))
        if renew or time.monotonic() >= ends_at:
            token, seconds = self._new_token()
            _tokens[key] = token, time.monotonic() + seconds - 60
        return token

    def _new_token(self) -> tuple[str, float]:
        now, platform = int(time.time()), self.platform
        assertion = {
            "iss": platform.client_id,
            "sub": platform.client_id,
            "aud": platform.audience or platform.token_url,
            "iat": now - 5,
            "exp": now + ASSERTION_SECONDS,
            "jti": secrets.token_urlsafe(16),
        }
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": sign(assertion),
            "scope": self.scope,
        }
        response = self._answer("POST", platform.token_url, data=form)
        if response.status_code != 200:
            raise PlatformProblem("token", response)
        found = object_of(json_of(response))
        token, seconds = found.get("access_token"), found.get("expires_in")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise PlatformProblem("token")
        return token, float(seconds) if isinstance(seconds, int | float) and 0 < seconds < 1e6 else 120.0

    def _answer(self, method: str, address: str, **given: Any) -> Any:
        try:
            return self.request(method, address, **given)
        except (NoAnswer, ValueError) as error:
            raise PlatformProblem(str(error)[:40] or "no answer") from None


# (address, client, scopes) → token and its end by the monotonic clock, in the memory of this process only.
_tokens: dict[tuple[str, str, str], tuple[str, float]] = {}


def json_of(response: Any) -> Any:
    """The JSON of a response. Raises `PlatformProblem`."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        raise PlatformProblem("no JSON", response) from None


# --- the RSA key of this site, in the file `lti_key` next to `secret_key` -----------------------------------------


def sign(claims: dict[str, Any]) -> str:
    """The claims as a JWT, signed with RS256."""
    key = _load_key()
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": _key_id(key)})


def public_keys() -> dict[str, Any]:
    """The JWK set with the public key."""
    key = _load_key()
    public: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {"keys": [{**public, "kid": _key_id(key), "alg": "RS256", "use": "sig"}]}


def _key_id(key: rsa.RSAPrivateKey) -> str:
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    return sha256(key.public_key().public_bytes(serialization.Encoding.DER, public)).hexdigest()[:32]


def _load_key() -> rsa.RSAPrivateKey:
    return _read_key(made_once(settings.VAR_DIR / "lti_key", _new_key))


@lru_cache(maxsize=1)
def _read_key(text: str) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(text.encode(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey), "the file lti_key holds an RSA key"
    return key


def _new_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, *form).decode()
