"""Limits that a hostile person could turn against others: at sign-in, at join codes. Wrong tries are slowed down, right
ones always pass."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.core.internal.ratelimit import get_ip
from django.conf import LazySettings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory

from leaderboard.accounts.models import User
from leaderboard.common.responses import client_address_of
from leaderboard.common.web_pools import DELAY
from leaderboard.competitions.models import Competition
from tests.attacks.test_signing_in import reset_form
from tests.pages import signed_in, text_of

CLASS, ELSEWHERE = "10.0.0.1", "10.0.0.2"


def delay_of(response: Any) -> float:
    """For how many seconds the event loop keeps an answer back."""
    return float(response.wsgi_request.META.get(DELAY, 0))


def try_password(name: str, password: str, address: str = CLASS) -> Any:
    return Client(REMOTE_ADDR=address).post("/accounts/login/", {"login": name, "password": password})


def is_let_in(name: str, address: str) -> bool:
    answer = try_password(name, "correct horse", address)
    return answer.status_code == 302 and not delay_of(answer)


# --- sign-in ------------------------------------------------------------------------------------------------------


@pytest.mark.attack("guessing passwords")
def test_after_ten_wrong_passwords_for_an_account_each_answer_waits_longer(bo: User) -> None:
    delays = [delay_of(try_password("bo", f"guess {number}")) for number in range(17)]
    assert delays == [0] * 10 + [2, 4, 8, 16, 30, 30, 30]
    assert delay_of(try_password("bo@example.org", "another guess")) == 30, "the same account by its address"
    assert delay_of(try_password("bo", "a guess", ELSEWHERE)) == 0


@pytest.mark.parametrize("login", ["cy@example.org", "bo@example.org", "cy@uni.example"])
@pytest.mark.attack("entering a rival's address or user name as one's own address, so that the rival is kept out")
def test_an_address_that_a_rival_enters_too_still_signs_its_owner_in(cy: User, bo: User, login: str) -> None:
    """Also where the rival's account is the older one, and where the user name is an address."""
    owner = User.objects.filter(email=login).first() or User.objects.create_user(login, "", "correct horse")
    for rival in User.objects.exclude(pk=owner.pk):
        EmailAddress.objects.create(user=rival, email=login)
    assert is_let_in(login, CLASS)
    assert Session.objects.get().get_decoded()[SESSION_KEY] == str(owner.pk)


@pytest.mark.attack("entering a rival's address or user name as one's own address, so that the rival is kept out")
def test_without_a_mail_server_nobody_enters_the_address_of_another_account(
    bo: User, cy: User, settings: LazySettings
) -> None:
    for kind, number in (("none", 0), ("mandatory", 1)):  # where addresses are confirmed the page would tell who exists
        settings.ACCOUNT_EMAIL_VERIFICATION = kind
        signed_in(bo).post("/accounts/email/", {"action_add": "", "email": "CY@example.org"})
        assert EmailAddress.objects.filter(user=bo, email="cy@example.org").count() == number


@pytest.mark.parametrize("kind", ["none", "mandatory"])
@pytest.mark.attack("entering a rival's address or user name as one's own address, so that the rival is kept out")
def test_the_main_address_of_another_account_becomes_nobody_elses(
    bo: User, cy: User, settings: LazySettings, kind: str
) -> None:
    """Also where it is the only one that is left, or has been confirmed."""
    settings.ACCOUNT_EMAIL_VERIFICATION = kind
    taken = EmailAddress.objects.create(user=bo, email="cy@example.org")
    link = f"/accounts/confirm-email/{EmailConfirmationHMAC(taken).key}/"
    other = EmailAddress.objects.create(user=bo, email="bo@example.org")
    page, main = "/accounts/email/", {"action_primary": "", "email": "cy@example.org"}
    for address, fields in ((page, main), (page, {"action_remove": "", "email": "bo@example.org"}), (link, {})):
        answer = signed_in(bo).post(address, fields, follow=True)
        assert "account" in text_of(answer)
        bo.refresh_from_db()
        taken.refresh_from_db()
        assert (bo.email, taken.primary, taken.verified) == ("bo@example.org", False, False)
        assert EmailAddress.objects.filter(pk=other.pk).exists()


@pytest.mark.parametrize("wrong", [5, 60])
@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_bo_gets_in_whatever_a_rival_sends_from_the_same_address(bo: User, wrong: int) -> None:
    for number in range(wrong):
        try_password("bo", f"guess {number}")
    assert is_let_in("bo", CLASS)
    assert is_let_in("bo", ELSEWHERE)


@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_bo_gets_in_while_strangers_of_many_addresses_guess(bo: User) -> None:
    for number in range(40):
        try_password("bo", f"guess {number}", f"10.1.0.{number}")
    assert is_let_in("bo", ELSEWHERE)


@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_a_class_signs_in_behind_the_address_of_sixty_wrong_sign_ins(bo: User) -> None:
    for number in range(60):
        try_password(f"nobody{number}", "wrong")
    assert delay_of(try_password("somebody", "wrong")) == 0, "what was wrong for others is no fault of this one"
    assert is_let_in("bo", CLASS)


@pytest.mark.attack("a limit per address got round by the many addresses of one IPv6 customer")
def test_the_addresses_of_one_ipv6_customer_are_one_for_every_limit(bo: User) -> None:
    for number in range(10):
        try_password("bo", f"guess {number}", f"2001:db8:1:2::{number}")
    assert delay_of(try_password("bo", "one more", "2001:db8:1:2:ffff::7")) > 0
    assert delay_of(try_password("bo", "one more", "2001:db8:1:3::7")) == 0
    requests = [RequestFactory().get("/", REMOTE_ADDR=f"2001:db8:1:2::{number}") for number in range(2)]
    assert {client_address_of(request) for request in requests} == {"2001:db8:1:2::/64"}
    assert {get_ip(request) for request in requests} == {"2001:db8:1:2::"}
    # A socket for both families writes IPv4 in the form of IPv6; these are different people.
    mapped = [RequestFactory().get("/", REMOTE_ADDR=f"::ffff:10.0.0.{number}") for number in (1, 2)]
    assert [client_address_of(request) for request in mapped] == ["10.0.0.1", "10.0.0.2"]
    assert [get_ip(request) for request in mapped] == ["10.0.0.1", "10.0.0.2"]


# --- join codes ---------------------------------------------------------------------------------------------------


@pytest.mark.attack("wrong join codes that stop a class from joining")
def test_a_right_code_opens_after_a_hundred_and_one_wrong_ones_from_its_address(
    pets: Competition, client: Client
) -> None:
    answers = [client.get(f"/join/WRONG{number}/") for number in range(103)]
    assert {answer.status_code for answer in answers} == {404}
    assert [delay_of(answer) for answer in answers][99:] == [0, 2, 4, 8]
    right = client.get(f"/join/{pets.admission.join_code}/")
    assert (right.status_code, delay_of(right)) == (200, 0)


@pytest.mark.attack("wrong join codes that stop a class from joining")
def test_a_right_code_opens_for_bo_who_typed_many_wrong_ones(pets: Competition, bo: User) -> None:
    client = signed_in(bo)
    for number in range(12):
        assert client.get(f"/join/WRONG{number}/").status_code == 404
    right = client.get(f"/join/{pets.admission.join_code}/")
    assert (right.status_code, delay_of(right)) == (200, 0)


@pytest.mark.parametrize("path", ["/join/WRONG/", "/slip/WRONG/", "/invitation/nothing/"])
@pytest.mark.attack("accounts by the thousand")
def test_wrong_codes_and_links_are_slowed_down(bo: User, path: str) -> None:
    client = signed_in(bo)
    answers = [client.get(path) for _ in range(12)]
    assert {answer.status_code for answer in answers} == {404}
    assert [delay_of(answer) for answer in answers] == [0] * 10 + [2, 4]


@pytest.mark.attack("wrong join codes that stop a class from joining")
def test_sixty_wrong_links_for_a_new_password_shut_out_no_right_one(bo: User, client: Client) -> None:
    for number in range(70):
        assert client.get(f"/accounts/password/reset/key/x{number}-set-wrong/").status_code == 200
    assert 'name="password1"' in client.get(reset_form(client)).content.decode()


@pytest.mark.attack("empty forms that use up what a class may do")
def test_empty_sign_up_forms_keep_nobody_from_making_an_account(pets: Competition) -> None:
    for _ in range(60):
        Client(REMOTE_ADDR=CLASS).post("/accounts/signup/", {})
    client = Client(REMOTE_ADDR=CLASS)
    client.get(f"/join/{pets.admission.join_code}/")
    given = {
        "username": "cleo",
        "email": "cleo@example.org",
        "password1": "long enough 7",
        "password2": "long enough 7",
    }
    assert client.post("/accounts/signup/", given).status_code == 302
    assert User.objects.filter(username="cleo").exists()
