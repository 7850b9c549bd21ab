"""A provider that lies, answers slowly or not at all: one clear page, no account, no secret in the log."""

from __future__ import annotations

import hmac
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives import serialization
from django.conf import LazySettings
from django.http import HttpResponse, HttpResponseBase
from django.test import Client

from leaderboard.accounts.institution import sessions
from leaderboard.accounts.models import User
from tests.institutions import (
    CLIENT_ID,
    CLIENT_SECRET,
    LOGIN,
    PATIENCE,
    HostileProvider,
    come_back,
    encoded,
    hostile_provider,
    institution_at,
    public_key,
    signing_key,
    unsigned,
    way_to_provider,
)
from tests.site import patience, until

Claims = dict[str, Any]
NOW = int(time.time())


@pytest.fixture
def provider(settings: LazySettings, db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileProvider]:
    for name, seconds in PATIENCE.items():
        monkeypatch.setattr(sessions, name, seconds)
    with hostile_provider() as provider:
        settings.INSTITUTIONS = (institution_at(provider.issuer),)
        yield provider


def sign_in(provider: HostileProvider, client: Client | None = None) -> HttpResponse:
    client = client or Client()
    return come_back(client, provider.sign_in(way_to_provider(client)))


def assert_refused(page: HttpResponseBase, status: int = 401) -> None:
    """One page in the site's frame that leads back to the sign-in, and nothing stored."""
    assert page.status_code == status
    text = page.content.decode()  # type: ignore[attr-defined]
    assert "site-header" in text
    assert 'class="error-page"' in text
    assert "/accounts/login/" in text
    assert "canary" not in text
    assert page["Cache-Control"] == "private, no-store"
    assert not User.objects.exists()
    assert not SocialAccount.objects.exists()


def test_an_honest_token_is_taken(provider: HostileProvider) -> None:
    """The tests below would also pass on a site that takes none."""
    assert sign_in(provider).status_code == 302
    assert User.objects.get().username == "bo"
    assert User.objects.get().email == "bo@uni.example"


@pytest.mark.parametrize("algorithm", ["PS256", "RS512"])
def test_an_honest_token_with_another_algorithm_is_taken(provider: HostileProvider, algorithm: str) -> None:
    provider.keys = [public_key("own", alg=algorithm)]
    provider.token = lambda claims: jwt.encode(claims, signing_key("own"), algorithm, headers={"kid": "own"})
    assert sign_in(provider).status_code == 302


def test_a_provider_with_one_key_need_not_name_it(provider: HostileProvider) -> None:
    provider.token = lambda claims: jwt.encode(claims, signing_key("own"), "RS256")
    assert sign_in(provider).status_code == 302


@pytest.mark.attack("a forged or stolen token of an institution")
@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-site"},
        {"aud": ["another-site"]},
        {"aud": [CLIENT_ID, "another-site"]},
        {"aud": [CLIENT_ID, "another-site"], "azp": "another-site"},
        {"azp": "another-site"},
        {"aud": None},
        {"aud": 7},
        {"nonce": "of-another-sign-in"},
        {"nonce": None},
        {"nonce": ["x"]},
        {"exp": NOW - 3600},
        {"exp": None},
        {"exp": "soon"},
        {"iat": NOW + 3600},
        {"iat": None},
        {"nbf": NOW + 3600},
        {"sub": None},
        {"sub": ""},
        {"sub": "  "},
        {"sub": 7},
        {"sub": "x" * 300},
        {"sub": {"a": 1}},
    ],
)
def test_a_token_with_wrong_claims_is_refused(provider: HostileProvider, claims: Claims) -> None:
    provider.claims = claims
    assert_refused(sign_in(provider))


def pem(name: str) -> bytes:
    shape = serialization.PublicFormat.SubjectPublicKeyInfo
    return signing_key(name).public_key().public_bytes(serialization.Encoding.PEM, shape)


def with_hmac(claims: Claims, secret: bytes, algorithm: str = "HS256") -> str:
    """Made by hand: the library refuses to use a public key as a secret."""
    head = encoded(json.dumps({"alg": algorithm, "kid": "own"}).encode())
    body = f"{head}.{encoded(json.dumps(claims).encode())}"
    return f"{body}.{encoded(hmac.digest(secret, body.encode(), 'sha256'))}"


def tampered(claims: Claims) -> str:
    """Signed for somebody else."""
    token = jwt.encode({**claims, "sub": "other"}, signing_key("own"), "RS256", headers={"kid": "own"})
    head, _body, signature = token.split(".")
    return f"{head}.{encoded(json.dumps(claims).encode())}.{signature}"


TOKENS: dict[str, Callable[[Claims], Any]] = {
    "not signed": unsigned,
    "not signed, in capitals": lambda claims: unsigned(claims).replace(
        encoded(b'{"alg": "none", "kid": "own"}'), encoded(b'{"alg": "NONE", "kid": "own"}')
    ),
    "signed with the client secret": lambda claims: with_hmac(claims, CLIENT_SECRET.encode()),
    "signed with the public key": lambda claims: with_hmac(claims, pem("own")),
    "signed with the published key": lambda claims: with_hmac(claims, json.dumps(public_key("own")).encode()),
    "signed by somebody else": lambda claims: jwt.encode(claims, signing_key("evil"), "RS256", headers={"kid": "own"}),
    "with an unknown key": lambda claims: jwt.encode(claims, signing_key("evil"), "RS256", headers={"kid": "evil"}),
    "with a key that it brings along": lambda claims: jwt.encode(
        claims, signing_key("evil"), "RS256", headers={"kid": "evil", "jwk": public_key("evil")}
    ),
    "with another algorithm than the key's": lambda claims: jwt.encode(
        claims, signing_key("own"), "RS512", headers={"kid": "own"}
    ),
    "for somebody else": tampered,
    "cut off": lambda claims: jwt.encode(claims, signing_key("own"), "RS256", headers={"kid": "own"})[:-20],
    "of one part": lambda claims: "canary",
    "no text": lambda claims: {"canary": 1},
    "empty": lambda claims: "",
}


@pytest.mark.attack("a forged or stolen token of an institution")
@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_that_the_provider_did_not_sign_is_refused(provider: HostileProvider, kind: str) -> None:
    provider.token = TOKENS[kind]
    assert_refused(sign_in(provider))


@pytest.mark.attack("a forged or stolen token of an institution")
@pytest.mark.parametrize(
    "keys",
    [
        [],
        [{"kty": "oct", "k": encoded(b"x" * 32), "kid": "own"}],
        [{"kid": "own"}],
        ["canary"],
        [public_key("own", use="enc")],
        [public_key("own"), public_key("evil", kid="own")],
    ],
    ids=["none", "a shared secret", "no kind", "no object", "for encryption", "two of one name"],
)
def test_keys_that_are_none_are_refused(provider: HostileProvider, keys: list[Any]) -> None:
    provider.keys = keys
    assert_refused(sign_in(provider))


@pytest.mark.attack("a forged or stolen token of an institution")
def test_an_answer_works_once(provider: HostileProvider) -> None:
    client = Client()
    address = provider.sign_in(way_to_provider(client))
    assert come_back(client, address).status_code == 302
    User.objects.all().delete()
    client.logout()
    assert_refused(come_back(client, address))


@pytest.mark.attack("a forged or stolen token of an institution")
def test_a_code_works_once_with_a_state_of_its_own_too(provider: HostileProvider) -> None:
    first, second = Client(), Client()
    code = provider.sign_in(way_to_provider(first)).partition("code=")[2].partition("&")[0]
    assert first.get(f"{LOGIN}callback/?code={code}&state=wrong").status_code == 401
    state = way_to_provider(second).partition("state=")[2].partition("&")[0]
    # Somebody else's code in this browser: what it was issued for (PKCE) is another sign-in.
    assert_refused(second.get(f"{LOGIN}callback/?code={code}&state={state}"))


@pytest.mark.attack("a forged or stolen token of an institution")
@pytest.mark.parametrize(
    "query",
    ["", "code=x", "state=y", "code=x&state=y", "error=server_error", "code=x&state=%00", "code=x&state=" + "a" * 5000],
)
def test_an_answer_that_nobody_asked_for_is_refused(provider: HostileProvider, query: str) -> None:
    assert_refused(Client().get(f"{LOGIN}callback/?{query}"))
    assert provider.asked == []


@pytest.mark.attack("a forged or stolen token of an institution")
def test_an_answer_for_another_browser_is_refused(provider: HostileProvider) -> None:
    address = provider.sign_in(way_to_provider(Client()))
    assert_refused(come_back(Client(), address))


@pytest.mark.attack("a forged or stolen token of an institution")
def test_a_token_of_an_earlier_sign_in_is_refused(provider: HostileProvider) -> None:
    tokens: list[str] = []

    def first_one(claims: Claims) -> str:
        tokens.append(jwt.encode(claims, signing_key("own"), "RS256", headers={"kid": "own"}))
        return tokens[0]

    provider.token = first_one
    assert sign_in(provider).status_code == 302
    User.objects.all().delete()
    assert_refused(sign_in(provider))


@pytest.mark.attack("a forged or stolen token of an institution")
@pytest.mark.parametrize("info", [{"sub": "somebody-else", "email": "ada@uni.example"}, {"email": "ada@uni.example"}])
def test_user_info_of_somebody_else_is_refused(provider: HostileProvider, info: Claims) -> None:
    provider.user_info = info
    assert_refused(sign_in(provider))


def test_what_is_signed_counts_more_than_the_user_info(provider: HostileProvider) -> None:
    provider.user_info = {"sub": "subject-1", "email": "ada@uni.example", "given_name": "Bo"}
    assert sign_in(provider).status_code == 302
    assert (User.objects.get().email, User.objects.get().first_name) == ("bo@uni.example", "Bo")


@pytest.mark.attack("a forged or stolen token of an institution")
def test_the_address_of_a_page_adds_nothing_to_what_is_asked(provider: HostileProvider) -> None:
    given = "scope=admin&auth_params=redirect_uri%3Dhttps%3A%2F%2Fevil.example%26nonce%3Dx&action=x"
    address = way_to_provider(Client(), at=f"{LOGIN}?{given}")
    assert "evil.example" not in address
    assert "admin" not in address
    assert provider.sign_in(address).startswith("http://testserver/")


# --- the provider's pages about itself ----------------------------------------------------------------------------


@pytest.mark.attack("a forged or stolen token of an institution")
@pytest.mark.parametrize(
    "configuration",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"userinfo_endpoint": "ftp://evil.example/"},
        {"token_endpoint_auth_methods_supported": None},
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_meant_is_refused(provider: HostileProvider, configuration: Claims) -> None:
    provider.configuration = configuration
    assert_refused(Client().post(LOGIN))


def bytes_answer(handler: Any, status: int, body: bytes, **headers: str) -> bool:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    return True


CONFIGURATION, TOKEN, JWKS, USER_INFO = "/.well-known/openid-configuration", "/token", "/jwks", "/userinfo"
BROKEN: dict[str, Callable[[Any], bool]] = {
    "error": lambda handler: bytes_answer(handler, 500, b"token-canary"),
    "no JSON": lambda handler: bytes_answer(handler, 200, b"<canary>", Content_Type="application/json"),
    "a list": lambda handler: bytes_answer(handler, 200, b'["access_token"]', Content_Type="application/json"),
    "nothing": lambda handler: bytes_answer(handler, 200, b""),
    "not text": lambda handler: bytes_answer(handler, 200, b"\xff\xfe\x00", Content_Type="application/json"),
    "elsewhere": lambda handler: bytes_answer(handler, 302, b"", Location="http://127.0.0.1:1/canary"),
    "too much": lambda handler: bytes_answer(handler, 200, b" " * 2_000_000),
    "hung up": lambda handler: bool(handler.connection.shutdown(2)) or True,
}


@pytest.mark.parametrize("path", [CONFIGURATION, TOKEN, JWKS, USER_INFO])
@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_broken_answer_gives_one_page(
    provider: HostileProvider, caplog: pytest.LogCaptureFixture, path: str, kind: str
) -> None:
    provider.answer = lambda asked, handler: asked == path and BROKEN[kind](handler)
    client = Client()
    page = client.post(LOGIN) if path == CONFIGURATION else sign_in(provider, client)
    assert_refused(page, page.status_code)
    assert page.status_code in (401, 503)
    assert "canary" not in caplog.text


def drop_by_drop(handler: Any) -> bool:
    """A head that goes on for ever."""
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n")
    try:
        while True:
            handler.wfile.write(b"X: y\r\n")
            time.sleep(0.05)
    except OSError:
        return True


@pytest.mark.parametrize("path", [CONFIGURATION, JWKS])
def test_a_provider_that_answers_drop_by_drop_is_left(
    provider: HostileProvider, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(sessions, "SECONDS", 0.5)
    provider.answer = lambda asked, handler: asked == path and drop_by_drop(handler)
    client, begun = Client(), time.monotonic()
    page = client.post(LOGIN) if path == CONFIGURATION else sign_in(provider, client)
    assert_refused(page, 503)
    assert time.monotonic() - begun < 5 * patience()


def test_the_limit_is_below_ten_seconds() -> None:
    assert sessions.SECONDS < 10


@pytest.fixture
def nothing_under_way(provider: HostileProvider) -> None:
    """Requests of tests before this one may go on for some seconds."""
    until(lambda: not sessions.PLACES.taken(), what="the end of earlier requests")


@pytest.mark.usefixtures("nothing_under_way")
def test_no_crowd_takes_all_threads(provider: HostileProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_AT_ONCE", 0)
    assert_refused(Client().post(LOGIN), 503)
    monkeypatch.setattr(sessions, "MOST_AT_ONCE", 1)
    assert Client().post(LOGIN).status_code == 200


@pytest.mark.usefixtures("nothing_under_way")
def test_one_address_does_not_keep_the_others_out(provider: HostileProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request keeps its place until it has ended, and not only until its page is answered."""
    monkeypatch.setattr(sessions, "SECONDS", 0.2)
    monkeypatch.setattr(sessions, "MOST_OF_ONE_ADDRESS", 1)
    is_held, ended = [True], threading.Event()
    provider.answer = lambda asked, handler: asked == CONFIGURATION and is_held[0] and ended.wait(30)
    dee, bo = Client(REMOTE_ADDR="192.0.2.1"), Client(REMOTE_ADDR="192.0.2.2")
    assert_refused(dee.post(LOGIN), 503)
    is_held.clear()
    is_held.append(False)
    assert_refused(dee.post(LOGIN), 503)
    assert bo.post(LOGIN).status_code == 200
    ended.set()
    until(lambda: not sessions.PLACES.taken(), what="the end of the request")
    assert dee.post(LOGIN).status_code == 200


def test_a_provider_that_is_down_gives_one_page(settings: LazySettings, db: None) -> None:
    settings.INSTITUTIONS = (institution_at("http://127.0.0.1:1"),)
    assert_refused(Client().post(LOGIN), 503)


@pytest.mark.attack("forged lines and secrets in logs")
def test_no_token_code_or_claim_is_logged(provider: HostileProvider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider.claims = {"sub": "subject-canary", "email": "canary@uni.example", "preferred_username": "canary"}
    assert sign_in(provider).status_code == 302
    provider.claims["aud"] = "audience-canary"
    sign_in(provider)
    site = [record for record in caplog.records if not record.name.startswith("django.db")]
    text = "\n".join(f"{record.getMessage()} {getattr(record, 'code', '')}" for record in site)
    assert "refused" in text
    for secret in ("canary", CLIENT_SECRET, *provider.codes):
        assert secret not in text
