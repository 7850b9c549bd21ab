"""Passwords, sessions, resets, second factors: guessing, stealing and asking who exists."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.conf import LazySettings
from django.conf import settings as configured
from django.contrib.auth import hashers
from django.contrib.sessions.models import Session
from django.core import mail, signing
from django.test import Client
from django.utils.module_loading import import_string

from leaderboard import settings as settings_module
from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions.models import Admission, Competition
from tests.accounts.test_signing_in import sign_in
from tests.conftest import enter

NEW = {"password1": "long enough 7", "password2": "long enough 7"}


def signed_in(user: User) -> Client:
    client = Client()
    assert client.post("/accounts/login/", {"login": user.username, "password": "correct horse"}).status_code == 302
    return client


def neutral(page: Any) -> str:
    return re.sub(r'value="[^"]*"|<time.*?</time>', "", page.content.decode(), flags=re.S)


# --- guessing -----------------------------------------------------------------------------------------------------


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that were hashed. Counted instead of timed: all else takes a hundredth of the time of a hash."""
    found: list[str] = []
    encode = hashers.MD5PasswordHasher.encode

    def noted(self: Any, password: str, salt: str) -> str:
        found.append(password)
        return str(encode(self, password, salt))

    monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", noted)
    return found


@pytest.mark.parametrize("names", [("bo", "nobody"), ("bo@example.org", "nobody@example.org")])
@pytest.mark.attack("asking who has an account, by words or by time")
def test_an_unknown_name_costs_as_many_password_hashes_as_a_known_one(
    bo: User, hashed: list[str], names: tuple[str, str]
) -> None:
    costs = []
    for name in names:
        hashed.clear()
        sign_in(name, "wrong horse")
        costs.append(len(hashed))
    assert costs[0] == costs[1] > 0


@pytest.mark.attack("asking who has an account, by words or by time")
def test_sign_in_and_reset_say_the_same_of_people_who_exist_and_who_do_not(bo: User) -> None:
    known = Client().post("/accounts/login/", {"login": "bo", "password": "wrong"})
    unknown = Client().post("/accounts/login/", {"login": "no", "password": "wrong"})
    assert known.status_code == unknown.status_code == 200
    assert neutral(known) == neutral(unknown)
    answers = [
        Client().post("/accounts/password/reset/", {"email": f"{name}@example.org"}, follow=True)
        for name in ("bo", "no")
    ]
    assert neutral(answers[0]) == neutral(answers[1])


@pytest.mark.attack("asking who has an account, by words or by time")
def test_sign_up_does_not_say_whose_address_is_known_where_addresses_are_confirmed(
    bo: User, settings: LazySettings
) -> None:
    settings.OPEN_SIGN_UP, settings.ACCOUNT_EMAIL_VERIFICATION = True, "mandatory"
    given = [{"username": f"new{name}", "email": f"{name}@example.org", **NEW} for name in ("bo", "no")]
    answers = [Client().post("/accounts/signup/", fields) for fields in given]
    assert [(a.status_code, a["Location"]) for a in answers] == [(302, "/accounts/confirm-email/")] * 2
    assert not User.objects.filter(username="newbo").exists()


@pytest.mark.attack("many password hashes at once")
def test_passwords_are_kept_by_argon2_with_owasps_parameters_and_others_are_renewed() -> None:
    hasher = import_string(settings_module.PASSWORD_HASHERS[0])()
    kept = hasher.encode("correct horse", hasher.salt())
    assert kept.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert not hasher.must_update(kept)
    older = hashers.Argon2PasswordHasher().encode("correct horse", hasher.salt())
    assert hasher.verify("correct horse", older)
    assert hasher.must_update(older)


# --- making accounts ----------------------------------------------------------------------------------------------


@pytest.mark.attack("accounts by the thousand")
def test_a_thousand_sign_ups_without_a_code_make_no_account(db: None) -> None:
    for number in range(20):  # closed before anything is counted or hashed, so the twentieth says as much
        given = {"username": f"bot{number}", "email": f"bot{number}@example.org", **NEW}
        assert "You need a join code" in Client().post("/accounts/signup/", given).content.decode()
    assert not User.objects.exists()


def test_a_code_lets_in_as_long_as_it_is_valid(pets: Competition, settings: LazySettings) -> None:
    client = Client()
    client.get("/join/WRONGONE/")
    assert "You need a join code" in client.get("/accounts/signup/").content.decode()
    client.get(f"/join/{pets.admission.join_code}/")
    assert "Create an account" in client.get("/accounts/signup/").content.decode()
    Admission.objects.update(join_code="ANOTHER2")
    assert "You need a join code" in client.get("/accounts/signup/").content.decode()
    settings.OPEN_SIGN_UP = True
    assert "Create an account" in client.get("/accounts/signup/").content.decode()


@pytest.mark.attack("sessions by the thousand, from opening a code again and again")
def test_opening_a_code_a_thousand_times_leaves_no_row(pets: Competition, bo: User) -> None:
    team = enter(pets, bo).team
    for path in (f"/join/{pets.admission.join_code}/", f"/invitation/{team.invitation}/"):
        answer = Client().get(path)
        assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store")
    assert not Session.objects.exists()


@pytest.mark.attack("a way in that somebody made up")
def test_a_way_in_that_somebody_made_up_is_none(pets: Competition) -> None:
    stranger = Client()
    for made_up in (
        f'{{"code":"{pets.admission.join_code}"}}',
        signing.dumps({"code": pets.admission.join_code}),
        "",
        "x:y:z",
    ):
        stranger.cookies["way_in"] = made_up
        stranger.post("/accounts/signup/", {"username": "dee", "email": "dee@example.org", **NEW})
    assert not User.objects.filter(username="dee").exists()


@pytest.mark.attack("accounts by the thousand")
def test_accounts_are_counted_for_the_code_that_lets_them_in(
    pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.accounts.adapter.MAX_ACCOUNTS_OF_A_CODE", 3)
    for number in range(5):
        client = Client(REMOTE_ADDR=f"10.0.0.{number}")
        client.get(f"/join/{pets.admission.join_code}/")
        client.post("/accounts/signup/", {"username": "", **NEW})
        client.post("/accounts/signup/", {"username": f"bot{number}", "email": f"bot{number}@example.org", **NEW})
    assert User.objects.filter(username__startswith="bot").count() == 3


@pytest.mark.parametrize("name", ["bo ", "BO", "ｂｏ", "b\u200bo", "bо", "Ьο", "\u202ebo"])
@pytest.mark.attack("taking a name or address that looks like another's")
def test_nobody_takes_a_name_that_looks_like_bos(bo: User, settings: LazySettings, name: str) -> None:
    settings.OPEN_SIGN_UP = True
    Client().post("/accounts/signup/", {"username": name, "email": "m@example.org", **NEW})
    assert list(User.objects.values_list("username", flat=True)) == ["bo"]


@pytest.mark.parametrize("address", ["bo@example.org ", "BO@EXAMPLE.ORG", "ｂｏ@example.org"])
@pytest.mark.attack("taking a name or address that looks like another's")
def test_nobody_takes_bos_address(bo: User, settings: LazySettings, address: str) -> None:
    settings.OPEN_SIGN_UP = True
    Client().post("/accounts/signup/", {"username": "mallory", "email": address, **NEW})
    assert User.objects.count() == 1


# --- sessions -----------------------------------------------------------------------------------------------------


@pytest.mark.attack("stolen and planted sessions")
def test_the_session_gets_another_key_at_sign_in(bo: User) -> None:
    client = Client()
    planted = client.session.session_key
    assert client.cookies["sessionid"].value == planted
    client.post("/accounts/login/", {"login": "bo", "password": "correct horse"})
    assert client.cookies["sessionid"].value != planted
    thief = Client()
    thief.cookies["sessionid"] = str(planted)
    assert thief.get("/account/").status_code == 302


@pytest.mark.attack("stolen and planted sessions")
def test_a_new_password_ends_all_other_sessions(bo: User) -> None:
    here, there = signed_in(bo), signed_in(bo)
    given = {"oldpassword": "correct horse", "password1": "battery staple"}
    assert here.post("/accounts/password/change/", given)["Location"] == "/account/"
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


def test_bo_signs_out_everywhere_else(bo: User) -> None:
    here, there = signed_in(bo), signed_in(bo)
    assert "this browser" in here.get("/accounts/sessions/").content.decode()
    assert here.post("/accounts/sessions/").status_code == 302
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


@pytest.mark.attack("a reset link used twice")
def test_a_reset_link_works_once_and_ends_sessions(bo: User, settings: LazySettings) -> None:
    there, forgetful = signed_in(bo), Client()
    forgetful.post("/accounts/password/reset/", {"email": "bo@example.org"})
    link = re.search(r"http://[^/]+(/accounts/password/reset/key/\S+)", str(mail.outbox[0].body))
    assert link
    given = {"password1": "battery staple", "password2": "battery staple"}
    form = forgetful.get(link[1], follow=True).redirect_chain[-1][0]
    assert forgetful.post(form, given).status_code == 302
    assert there.get("/account/").status_code == 302
    bo.refresh_from_db()
    assert bo.check_password("battery staple")
    again = Client()
    again.post(
        again.get(link[1], follow=True).request["PATH_INFO"], {"password1": "third one 77", "password2": "third one 77"}
    )
    bo.refresh_from_db()
    assert bo.check_password("battery staple")
    assert configured.PASSWORD_RESET_TIMEOUT == 3600


@pytest.mark.parametrize("is_wanted", [False, True])
@pytest.mark.parametrize("is_reset", [False, True], ids=["change", "reset"])
@pytest.mark.attack("a token that goes on after its owner's password was stolen")
def test_a_new_password_ends_tokens_where_bo_wants_it(bo: User, is_reset: bool, is_wanted: bool) -> None:
    secret = ApiToken.issue(bo, "laptop")[1]
    given = {"password1": "battery staple", "password2": "battery staple"} | ({"end_tokens": "on"} if is_wanted else {})
    client = Client() if is_reset else signed_in(bo)
    if is_reset:
        address = reset_form(client)
        assert "Also revoke my API tokens" in client.get(address).content.decode()
    else:
        address, given = "/accounts/password/change/", {**given, "oldpassword": "correct horse"}
    assert client.post(address, given).status_code == 302
    bo.refresh_from_db()
    assert bo.check_password("battery staple")
    answer = Client().get("/api/v1/competitions", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == (401 if is_wanted else 200)


def reset_form(client: Client) -> str:
    """Where the link of an e-mail to Bo leads."""
    client.post("/accounts/password/reset/", {"email": "bo@example.org"})
    link = re.search(r"http://[^/]+(/accounts/password/reset/key/\S+)", str(mail.outbox[-1].body))
    assert link
    return str(client.get(link[1], follow=True).redirect_chain[-1][0])


# --- second factors -----------------------------------------------------------------------------------------------


def with_app(user: User) -> str:
    """Give somebody an authenticator app and recovery codes; the app's secret."""
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return str(secret)


def code_of(secret: str) -> str:
    _, current, _ = totp.yield_hotp_counters_from_time()
    return str(totp.format_hotp_value(totp.hotp_value(secret, current)))


@pytest.mark.attack("a host's stolen password")
def test_a_password_alone_does_not_sign_in_who_has_a_second_factor(ada: User) -> None:
    secret = with_app(ada)
    client = Client()
    step = client.post("/accounts/login/", {"login": "ada", "password": "correct horse"})
    assert step["Location"] == "/accounts/2fa/authenticate/"
    assert client.get("/account/").status_code == 302
    assert client.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code == 200
    code = code_of(secret)
    client.post("/accounts/2fa/authenticate/", {"code": code})
    assert client.get("/account/").status_code == 200
    second = Client()
    second.post("/accounts/login/", {"login": "ada", "password": "correct horse"})
    assert second.post("/accounts/2fa/authenticate/", {"code": code}).status_code == 200, "a code worked twice"


@pytest.mark.attack("a second factor got round by a reset")
def test_a_reset_takes_no_second_factor_away(bo: User) -> None:
    with_app(bo)
    client = Client()
    client.post(reset_form(client), {"password1": "battery staple", "password2": "battery staple"})
    assert client.get("/account/").status_code == 302
    step = client.post("/accounts/login/", {"login": "bo", "password": "battery staple"})
    assert step["Location"] == "/accounts/2fa/authenticate/"
    assert client.get("/account/").status_code == 302


def test_a_recovery_code_works_once(ada: User) -> None:
    with_app(ada)
    code = Authenticator.objects.get(user=ada, type=Authenticator.Type.RECOVERY_CODES).wrap().get_unused_codes()[0]
    for status in (200, 302):
        client = Client()
        client.post("/accounts/login/", {"login": "ada", "password": "correct horse"})
        client.post("/accounts/2fa/authenticate/", {"code": code})
        assert client.get("/account/").status_code == status


def test_codes_are_not_guessed(ada: User) -> None:
    with_app(ada)
    client = Client()
    client.post("/accounts/login/", {"login": "ada", "password": "correct horse"})
    pages = [client.post("/accounts/2fa/authenticate/", {"code": f"{n:06}"}).content.decode() for n in range(12)]
    assert "Too many" in pages[-1]


@pytest.mark.parametrize(
    ("wanted", "stopped"),
    [("", []), ("operators", ["olga"]), ("hosts", ["ada", "olga"])],
    ids=["nobody", "op", "hosts"],
)
@pytest.mark.attack("a host's stolen password")
def test_an_operator_can_ask_for_second_factors(
    settings: LazySettings, ada: User, bo: User, olga: User, wanted: str, stopped: list[str]
) -> None:
    settings.SECOND_FACTOR_FOR = wanted
    found = []
    for person in (ada, bo, olga):
        client = Client()
        client.force_login(person)
        found += [person.username] * (client.get("/").headers.get("Location") == "/accounts/2fa/")
        assert client.get("/accounts/2fa/").status_code == 200
    assert found == stopped
    admin = Client()
    admin.force_login(olga)
    assert (admin.get("/admin/").headers.get("Location") == "/accounts/2fa/") is ("olga" in stopped)
    with_app(olga)
    assert admin.get("/admin/").status_code == 200


def test_the_operator_takes_a_lost_factor_away_and_reads_no_secret(ada: User, olga: User) -> None:
    secret = with_app(ada)
    admin = Client()
    admin.force_login(olga)
    assert secret not in admin.get(f"/admin/accounts/user/{ada.pk}/change/").content.decode()
    assert admin.get("/admin/mfa/authenticator/").status_code == 404
    admin.post("/admin/accounts/user/", {"action": "drop_second_factor", "_selected_action": ada.pk})
    assert not Authenticator.objects.filter(user=ada).exists()
