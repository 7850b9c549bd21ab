"""A provider that lies, answers slowly or not at all: one clear page, no account, no secret in the log."""

from __future__ import annotations

import hmac
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import jwt
import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives import serialization
from django.conf import LazySettings
from django.http import HttpResponse, HttpResponseBase
from django.test import Client
from django.utils import timezone

from leaderboard.accounts import tasks as accounts_tasks
from leaderboard.accounts.institution import sessions
from leaderboard.accounts.models import ProviderMetadata, User
from leaderboard.celery import PAGES_QUEUE, app
from leaderboard.competitions import tasks, wake_ups
from tests.institutions import (
    CLIENT_ID,
    CLIENT_SECRET,
    LOGIN,
    PATIENCE,
    HostileProvider,
    come_back,
    encoded,
    fetch_all_metadata,
    hostile_provider,
    institution_at,
    public_key,
    signing_key,
    unsigned,
    way_to_provider,
)
from tests.mail_servers import silent_server
from tests.running_site import patience, until

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
    assert not fetch_all_metadata()
    assert_refused(Client().post(LOGIN), 503)


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
    if path in (CONFIGURATION, JWKS):
        assert not fetch_all_metadata()
        assert_refused(client.post(LOGIN), 503)
    else:
        page = sign_in(provider, client)
        assert_refused(page, page.status_code)
        assert page.status_code in (401, 503)
    assert "canary" not in caplog.text


def drop_by_drop(handler: Any, is_over: threading.Event | None = None) -> bool:
    """A head that goes on until the client has gone, or it is over."""
    handler.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
    try:
        while not (is_over and is_over.is_set()):
            handler.wfile.write(b"y")
            time.sleep(0.05)
    except OSError:
        pass
    return True


@pytest.mark.parametrize("path", [TOKEN, USER_INFO])
def test_a_provider_that_answers_drop_by_drop_is_left(
    provider: HostileProvider, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(sessions, "MAX_PAGE_SECONDS", 0.5)
    provider.answer = lambda asked, handler: asked == path and drop_by_drop(handler)
    begun = time.monotonic()
    assert_refused(sign_in(provider), 503)
    assert time.monotonic() - begun < 5 * patience()


def test_a_provider_that_says_nothing_gives_a_clear_page_within_four_seconds(
    provider: HostileProvider, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    client = Client()
    address = provider.sign_in(way_to_provider(client))
    with silent_server() as port:
        ProviderMetadata.objects.update(
            configuration={
                **ProviderMetadata.objects.get().configuration,
                "token_endpoint": f"http://127.0.0.1:{port}/",
            }
        )
        begun = time.monotonic()
        page = come_back(client, address)
        assert time.monotonic() - begun < 4 * patience()
    assert_refused(page, 503)
    assert "Wait a minute, then try again." in page.content.decode()


def test_no_sign_in_asks_a_provider_about_itself(provider: HostileProvider) -> None:
    assert_refused(Client().post(LOGIN), 503)
    assert provider.asked == []
    assert sign_in(provider).status_code == 302
    User.objects.all().delete()
    provider.asked.clear()
    client = Client()
    assert come_back(client, provider.sign_in(way_on(client))).status_code == 302
    assert provider.asked == [TOKEN, USER_INFO]


def way_on(client: Client) -> str:
    """The way to a provider whose metadata was fetched before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.institutions.fetch_all_metadata", lambda: True)
        return way_to_provider(client)


def test_the_sweep_has_metadata_fetched_at_the_start_and_each_hour(
    provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []

    def wake_workers(task: Any, *_: object, **__: object) -> bool:
        woken.append(task)
        return True

    monkeypatch.setattr(wake_ups, "wake_workers", wake_workers)
    tasks.sweep()
    assert woken == ["leaderboard.accounts.tasks.fetch_provider_metadata"]
    accounts_tasks.fetch_provider_metadata()
    tasks.sweep()
    assert len(woken) == 1
    assert provider.asked == [CONFIGURATION, JWKS]
    long_ago = timezone.now() - timedelta(hours=2)
    ProviderMetadata.objects.update(fetched_at=long_ago, tried_at=long_ago)
    tasks.sweep()
    assert len(woken) == 2


def test_no_file_waits_for_a_provider() -> None:
    name = accounts_tasks.fetch_provider_metadata.name
    assert app.amqp.router.route({}, name)["queue"].name == PAGES_QUEUE


def test_a_provider_that_is_down_is_asked_again_after_a_minute_and_its_last_copy_stays(
    provider: HostileProvider,
) -> None:
    assert fetch_all_metadata()
    long_ago = timezone.now() - timedelta(hours=2)
    ProviderMetadata.objects.update(fetched_at=long_ago, tried_at=long_ago)
    provider.answer = lambda asked, handler: BROKEN["error"](handler)
    accounts_tasks.fetch_provider_metadata()
    provider.asked.clear()
    accounts_tasks.fetch_provider_metadata()
    assert provider.asked == [], "within a minute"
    provider.answer = None
    client = Client()
    assert come_back(client, provider.sign_in(way_on(client))).status_code == 302


def test_new_keys_are_fetched_once_a_token_is_signed_with_one(provider: HostileProvider) -> None:
    assert fetch_all_metadata()
    provider.keys = [public_key("new")]
    provider.token = lambda claims: jwt.encode(claims, signing_key("new"), "RS256", headers={"kid": "new"})
    client = Client()
    assert_refused(come_back(client, provider.sign_in(way_on(client))))
    ProviderMetadata.objects.update(tried_at=timezone.now() - timedelta(minutes=2))
    accounts_tasks.fetch_provider_metadata()
    assert come_back(client, provider.sign_in(way_on(client))).status_code == 302


def test_requests_that_go_on_without_a_reader_have_an_end(
    provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_at_once", threading.BoundedSemaphore(1))
    monkeypatch.setattr(sessions, "MAX_PAGE_SECONDS", 0.2)
    client, dee = Client(), Client()
    addresses = [provider.sign_in(way_to_provider(one)) for one in (client, dee)]
    goes_on = threading.Event()
    provider.answer = lambda asked, handler: asked == TOKEN and drop_by_drop(handler, goes_on)
    assert_refused(come_back(client, addresses[0]), 503)
    asked = len(provider.asked)
    assert_refused(come_back(dee, addresses[1]), 503)
    assert len(provider.asked) == asked, "no further request begins"
    goes_on.set()
    until(lambda: sessions._at_once.acquire(blocking=False), what="the end of the first one")


def test_a_provider_that_is_down_gives_one_page(settings: LazySettings, db: None) -> None:
    settings.INSTITUTIONS = (institution_at("http://127.0.0.1:1"),)
    assert not fetch_all_metadata()
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
