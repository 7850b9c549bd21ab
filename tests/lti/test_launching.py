"""Launches from a learning platform: who gets in and where, and thirty hostile ones that nobody gets in by."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from django.contrib.sessions.models import Session
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.lti import launching
from leaderboard.lti.launching import CLAIM, GRADES_CLAIM, ROLE, ROSTER_CLAIM
from leaderboard.lti.models import LoginTry, LtiLink, LtiPerson, Platform
from tests.lti.platforms import INSTRUCTOR, FakePlatform, hidden_fields, jwk_of, new_key, platform_key

LAUNCH = "/lti/launch/"


@pytest.fixture
def moodle(db: None) -> FakePlatform:
    fake = FakePlatform()
    fake.approve(teachers_may_host=True)
    return fake


def unsigned(claims: dict[str, Any], **header: Any) -> str:
    parts = [{"alg": "none", "typ": "JWT", **header}, claims]
    encoded = [urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in parts]
    return ".".join([*encoded, ""])


def with_public_key(claims: dict[str, Any], kid: str) -> str:
    """Signed by HS256 with the platform's public key as secret."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    secret = platform_key().public_key().public_bytes(serialization.Encoding.PEM, form)
    start = unsigned(claims, alg="HS256", kid=kid).rstrip(".")
    signature = hmac.new(secret, start.encode(), hashlib.sha256).digest()
    return f"{start}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def altered(token: str) -> str:
    header, claims, signature = token.split(".")
    changed = claims[:-4] + ("AAAA" if not claims.endswith("AAAA") else "BBBB")
    return ".".join([header, changed, signature])


Case = Callable[[FakePlatform, Client, dict[str, str]], Any]


def sends(**changes: Any) -> Case:
    """A token of the platform with other claims; None removes one."""

    def send(fake: FakePlatform, client: Client, asked: dict[str, str]) -> Any:
        claims = {**fake.claims("bo", nonce=asked["nonce"]), **changes}
        token = fake.token({name: value for name, value in claims.items() if value is not None})
        return post(client, token, asked["state"])

    return send


def post(client: Client, token: str, state: str) -> Any:
    return client.post(LAUNCH, {"id_token": token, "state": state})


def of_token(make: Callable[[FakePlatform, dict[str, Any]], str]) -> Case:
    def send(fake: FakePlatform, client: Client, asked: dict[str, str]) -> Any:
        return post(client, make(fake, fake.claims("bo", nonce=asked["nonce"])), asked["state"])

    return send


def other_platform(fake: FakePlatform, claims: dict[str, Any]) -> str:
    other = FakePlatform(address="https://canvas.example", kid="k2")
    other.approve()
    return other.token({**claims, "iss": other.address})


def old_token_new_state(fake: FakePlatform, client: Client, asked: dict[str, str]) -> Any:
    again = fake.begin(client)
    return post(client, fake.token(fake.claims("bo", nonce=asked["nonce"])), again["state"])


def of_attacker(fake: FakePlatform, client: Client, asked: dict[str, str]) -> Any:
    attacker = Client()
    theirs = fake.begin(attacker)
    return post(client, fake.token(fake.claims("dee", nonce=theirs["nonce"])), theirs["state"])


HOSTILE: dict[str, Case] = {
    "algorithm none": of_token(lambda fake, claims: unsigned(claims, kid=fake.kid)),
    "HS256 with the public key": of_token(lambda fake, claims: with_public_key(claims, fake.kid)),
    "unknown key id after its keys were asked for": of_token(lambda fake, claims: fake.token(claims, kid="k9")),
    "known key id, foreign key": of_token(lambda fake, claims: fake.token(claims, key=new_key())),
    "signed by another approved platform": of_token(other_platform),
    "altered": of_token(lambda fake, claims: altered(fake.token(claims))),
    "expired": sends(exp=int(time.time()) - 600, iat=int(time.time()) - 900),
    "issued long ago": sends(iat=int(time.time()) - 7200),
    "issued at a text": sends(iat=str(int(time.time()))),
    "issued before all times": sends(iat=-(10**400)),
    "issued at the end of times": sends(iat=float("inf")),
    "issued at no number": sends(iat=float("nan")),
    "expires never": sends(exp=float("inf")),
    "issued tomorrow": sends(iat=int(time.time()) + 86_400),
    "another issuer": sends(iss="https://elsewhere.example"),
    "another audience": sends(aud="somebody else"),
    "several audiences, another party": sends(aud=["leaderboard-1", "other"], azp="other"),
    "several audiences, no party": sends(aud=["leaderboard-1", "other"]),
    "unknown deployment": sends(**{CLAIM + "deployment_id": "d-2"}),
    "no nonce": sends(nonce=None),
    "a stranger's nonce": sends(nonce="nobody's"),
    "nonce with half a letter": sends(nonce="\ud800"),
    "nonce in lists": sends(nonce=[["x"]]),
    "version 1.1": sends(**{CLAIM + "version": "1.1"}),
    "unknown message": sends(**{CLAIM + "message_type": "LtiSubmissionReviewRequest"}),
    "empty subject": sends(sub=" "),
    "no subject": sends(sub=None),
    "subject of 100,000": sends(sub="x" * 100_000),
    "subject with NUL": sends(sub="bo\0"),
    "subject with half a letter": sends(sub="bo\ud800"),
    "context a list": sends(**{CLAIM + "context": ["c-1"]}),
    "no context": sends(**{CLAIM + "context": None}),
    "context of no name": sends(**{CLAIM + "context": {"id": ""}}),
    "roles a text": sends(**{CLAIM + "roles": ROLE + "Instructor"}),
    "roles of numbers": sends(**{CLAIM + "roles": [1, 2]}),
    "no resource link": sends(**{CLAIM + "resource_link": None}),
    "target on another host": sends(**{CLAIM + "target_link_uri": "https://evil.example/"}),
    "services a text": sends(**{"https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": "x"}),
    "administrator": sends(
        **{CLAIM + "roles": ["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator"]}
    ),
    "mentor": sends(**{CLAIM + "roles": [ROLE + "Mentor"]}),
    "assistant": sends(**{CLAIM + "roles": [ROLE + "Instructor#TeachingAssistant"]}),
    "no role": sends(**{CLAIM + "roles": []}),
    "student of an activity that is not connected": sends(),
    "old token, new state": old_token_new_state,
    "attacker's token and state in the victim's browser": of_attacker,
    "no state": lambda fake, client, asked: post(client, fake.token(fake.claims("bo", nonce=asked["nonce"])), ""),
    "forged state": lambda fake, client, asked: post(client, fake.token(fake.claims("bo", nonce="x")), "x:y"),
    "other browser": lambda fake, client, asked: post(
        Client(), fake.token(fake.claims("bo", nonce=asked["nonce"])), asked["state"]
    ),
    "a megabyte": of_token(lambda fake, claims: fake.token({**claims, "x": "y" * 1_000_000})),
    "no token": lambda fake, client, asked: post(client, "", asked["state"]),
    "no JSON": lambda fake, client, asked: post(client, "a.b.c", asked["state"]),
    "the platform's error": lambda fake, client, asked: client.post(
        LAUNCH, {"state": asked["state"], "error": "login_required"}
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_launch_signs_nobody_in_and_stores_nothing(name: str, moodle: FakePlatform) -> None:
    platform = moodle.platform
    platform.keys_tried_at = platform.approved_at
    platform.save()
    client = Client()
    asked = moodle.begin(client)
    before = User.objects.count(), Session.objects.count()
    answer = HOSTILE[name](moodle, client, asked)
    assert answer.status_code in (400, 403), answer.content.decode()
    assert (User.objects.count(), Session.objects.count()) == before
    assert not LtiPerson.objects.exists()
    assert not LtiLink.objects.exists()
    assert client.get("/account/").status_code == 302


def test_claims_about_a_person_that_are_no_texts_are_left_out(moodle: FakePlatform) -> None:
    odd: dict[str, Any] = {
        "name": ["Ada"],
        "given_name": "A\ud800da\0",
        "family_name": 5,
        "email": "\ud800@uni.example",
    }
    odd |= {CLAIM + "context": {"id": "c-1", "title": "\ud800\0", "label": {}}, GRADES_CLAIM: {"lineitems": ["x"]}}
    odd |= {ROSTER_CLAIM: {"context_memberships_url": "https://moodle.example/\0"}}
    assert moodle.launch(Client(), "ada", roles=INSTRUCTOR, **odd).status_code == 303
    ada, link = User.objects.get(), LtiLink.objects.get()
    assert (ada.get_full_name(), ada.email) == ("Ada", "")
    assert (link.context_title, link.memberships_url, link.lineitems_url) == ("", "", "")


def test_another_registration_of_a_platform_that_waits_or_is_off_changes_no_launch(moodle: FakePlatform) -> None:
    for client_id, off_at in (("waits", None), ("off", moodle.platform.approved_at)):
        Platform.objects.create(issuer=moodle.address, client_id=client_id, approved_at=off_at, off_at=off_at)
    assert moodle.launch(Client(), "ada", roles=INSTRUCTOR).status_code == 303


def test_strangers_with_unknown_keys_wake_a_worker_once(moodle: FakePlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    woken = list[Any]()
    monkeypatch.setattr(launching, "wake_workers", lambda *message: woken.append(message))
    for _ in range(3):
        client = Client()
        asked = moodle.begin(client)
        post(client, moodle.token(moodle.claims("bo"), kid="k9"), asked["state"])
    assert len(woken) == 1


LOGINS: dict[str, dict[str, str]] = {
    "foreign target": {"target_link_uri": "https://evil.example/lti/launch/"},
    "target that only looks like this site": {"target_link_uri": "http://testserver@evil.example/"},
    "target with a backslash": {"target_link_uri": "http://testserver\\@evil.example/"},
    "long target": {"target_link_uri": "http://testserver/" + "x" * 500},
    "unknown issuer": {"iss": "https://elsewhere.example"},
    "unknown client": {"client_id": "another"},
    "no hint": {"login_hint": ""},
    "NUL in the issuer": {"iss": "https://moodle.example\0"},
    "NUL in the target": {"target_link_uri": "http://testserver/\0"},
}


@pytest.mark.parametrize("name", LOGINS)
def test_a_hostile_login_leads_nowhere(name: str, moodle: FakePlatform) -> None:
    asked = {
        "iss": moodle.address,
        "login_hint": "7",
        "target_link_uri": "http://testserver/lti/launch/",
        **LOGINS[name],
    }
    answer = Client().post("/lti/login/", asked)
    assert answer.status_code == 400
    assert not LoginTry.objects.exists()


def test_a_launch_works_once(moodle: FakePlatform) -> None:
    client = Client()
    asked = moodle.begin(client)
    token = moodle.token(moodle.claims("ada", roles=INSTRUCTOR, nonce=asked["nonce"]))
    assert post(client, token, asked["state"]).status_code == 303
    assert post(client, token, asked["state"]).status_code == 400


def test_a_refused_launch_leaves_the_session_that_was_there(moodle: FakePlatform) -> None:
    client = Client()
    client.force_login(User.objects.create(username="cy"))
    asked = moodle.begin(client)
    token = moodle.token(moodle.claims("bo", nonce=asked["nonce"]), key=new_key())
    assert post(client, token, asked["state"]).status_code == 400
    assert client.get("/account/").status_code == 200


def test_a_launch_with_new_keys_goes_on_when_a_worker_has_fetched_them(moodle: FakePlatform) -> None:
    client = Client()
    moodle.kid = "k2"
    asked = moodle.begin(client)
    answer = post(client, moodle.token(moodle.claims("ada", roles=INSTRUCTOR, nonce=asked["nonce"])), asked["state"])
    form = hidden_fields(answer.content.decode())
    Platform.objects.filter(pk=moodle.platform.pk).update(keys={"keys": [jwk_of(platform_key(), "k2")]})
    assert client.post(LAUNCH, form).status_code == 303
