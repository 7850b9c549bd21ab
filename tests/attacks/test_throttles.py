"""Limits that a hostile person could turn against others: at sign-in, at join codes."""

from __future__ import annotations

import threading
import time

import pytest
from allauth.core.internal.ratelimit import get_ip
from django.test import Client, RequestFactory

from leaderboard.accounts.adapter import PAIRS, STRANGERS
from leaderboard.accounts.models import User
from leaderboard.accounts.slow_sign_in import MOST_WAITING, SlowLane
from leaderboard.classroom.views.join import CODES
from leaderboard.common.responses import client_address_of
from leaderboard.competitions.models import Competition
from tests.accounts.test_signing_in import sign_in
from tests.site import until

CLASS, ELSEWHERE = "10.0.0.1", "10.0.0.2"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    for lane in (STRANGERS, PAIRS, CODES):
        monkeypatch.setattr(lane, "pause", 0.0)


def wrong_tries(lane: SlowLane, sender: str, number: int) -> None:
    """As so many wrong tries over HTTP would leave it."""
    for _ in range(number):
        lane.count_wrong(sender)


def device_of(name: str, address: str = CLASS, password: str = "correct horse") -> Client:
    """A browser on which somebody has signed in, and out again."""
    client = Client(REMOTE_ADDR=address)
    assert client.post("/accounts/login/", {"login": name, "password": password}).status_code == 302
    client.post("/accounts/logout/")
    return client


def tries(client: Client, name: str, password: str = "correct horse") -> bool:
    """Whether somebody gets in, and out again."""
    is_in = client.post("/accounts/login/", {"login": name, "password": password}).status_code == 302
    client.post("/accounts/logout/")
    return is_in


def guessed_from_everywhere(name: str) -> None:
    """By strangers of so many addresses that the account is shut for unknown devices."""
    for number in range(22):
        sign_in(name, f"guess {number}", f"10.1.0.{number}")


# --- sign-in ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [5, 12])
@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_bo_gets_in_on_a_known_device_whatever_a_rival_sends(bo: User, wrong: int) -> None:
    laptop = device_of("bo")
    for number in range(wrong):
        sign_in("bo", f"guess {number}", CLASS)
    assert tries(laptop, "bo")
    assert tries(laptop, "bo@example.org")
    assert sign_in("bo", "correct horse", ELSEWHERE) == 302, "one address does not use up what others have"
    assert sign_in("bo", "correct horse", CLASS) == 302, "the address of a class is shut for nobody"


@pytest.mark.attack("guessing passwords")
def test_guesses_of_a_password_from_one_address_are_slowed_down(bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        sign_in("bo", f"guess {number}", CLASS)
    monkeypatch.setattr(PAIRS, "pause", 0.05)
    begun = time.monotonic()
    for number in range(4):
        assert sign_in("bo", f"another {number}", CLASS) != 302
    assert time.monotonic() - begun >= 4 * 0.05
    assert sign_in("bo", "correct horse", CLASS) == 302


@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_guesses_that_come_at_once_do_not_get_round_the_pause(bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        sign_in("bo", f"guess {number}", CLASS)
    monkeypatch.setattr("leaderboard.accounts.slow_sign_in.MOST_WAITING", 0)
    assert sign_in("bo", "correct horse", CLASS) != 302
    assert sign_in("bo", "correct horse", ELSEWHERE) == 302


@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_bo_gets_in_on_a_known_device_while_strangers_of_many_addresses_guess(bo: User) -> None:
    laptop = device_of("bo")
    guessed_from_everywhere("bo")
    assert sign_in("bo", "correct horse", ELSEWHERE) != 302
    assert tries(laptop, "bo")


@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_a_class_signs_in_behind_the_address_of_sixty_wrong_sign_ins(bo: User) -> None:
    wrong_tries(STRANGERS, CLASS, 60)
    for number in range(5):
        sign_in(f"nobody{number}", "wrong", CLASS)
    assert sign_in("bo", "correct horse", CLASS) == 302


def test_wrong_sign_ins_of_an_address_with_many_are_slowed_down(bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_tries(STRANGERS, CLASS, 59)
    sign_in("nobody", "wrong", CLASS)
    monkeypatch.setattr(STRANGERS, "pause", 0.05)
    begun = time.monotonic()
    for number in range(4):
        sign_in(f"somebody{number}", "wrong", CLASS)
    assert time.monotonic() - begun >= 4 * 0.05


@pytest.mark.attack("guessing passwords")
def test_a_known_device_does_not_guess_at_full_speed(bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    laptop = device_of("bo")
    assert [tries(laptop, "bo", f"guess {number}") for number in range(5)] == [False] * 5
    monkeypatch.setattr(PAIRS, "pause", 0.05)
    begun = time.monotonic()
    assert not tries(laptop, "bo", "guess 6")
    assert time.monotonic() - begun >= 0.05
    assert tries(laptop, "bo")


@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_what_ada_signed_in_on_is_no_known_device_of_bo(ada: User, bo: User) -> None:
    rival = device_of("ada")
    guessed_from_everywhere("bo")
    assert not tries(rival, "bo")
    assert tries(rival, "ada")


def test_one_device_is_known_to_several_people(ada: User, bo: User) -> None:
    shared = device_of("ada")
    assert tries(shared, "bo")
    for name in ("ada", "bo"):
        guessed_from_everywhere(name)
        assert tries(shared, name)


@pytest.mark.parametrize("made_up", ["", "x", "{}", "e30:1x:y"])
def test_a_made_up_device_is_a_stranger(bo: User, made_up: str) -> None:
    client = Client(REMOTE_ADDR=CLASS)
    guessed_from_everywhere("bo")
    client.cookies["device"] = made_up
    assert not tries(client, "bo")


@pytest.mark.attack("wrong passwords that keep a rival out, or a class behind one address")
def test_a_new_password_ends_all_known_devices_but_the_one_it_was_chosen_on(bo: User) -> None:
    old, here = device_of("bo"), Client(REMOTE_ADDR=CLASS)
    here.post("/accounts/login/", {"login": "bo", "password": "correct horse"})
    given = {"oldpassword": "correct horse", "password1": "battery staple", "password2": "battery staple"}
    assert here.post("/accounts/password/change/", given).status_code == 302
    here.post("/accounts/logout/")
    guessed_from_everywhere("bo")
    assert tries(here, "bo", "battery staple")
    assert not tries(old, "bo", "battery staple")


def test_the_cookie_of_a_device_is_for_the_server_alone_and_opens_nothing(bo: User) -> None:
    laptop = device_of("bo")
    cookie = laptop.cookies["device"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    thief = Client()
    thief.cookies["device"] = cookie.value
    assert thief.get("/account/").status_code == 302


@pytest.mark.attack("a limit per address got round by the many addresses of one IPv6 customer")
def test_the_addresses_of_one_ipv6_customer_are_one_for_every_limit(
    bo: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        assert sign_in("bo", f"guess {number}", f"2001:db8:1:2::{number}") != 302
    monkeypatch.setattr("leaderboard.accounts.slow_sign_in.MOST_WAITING", 0)
    assert sign_in("bo", "correct horse", "2001:db8:1:2:ffff::7") != 302
    assert sign_in("bo", "correct horse", "2001:db8:1:3::7") == 302
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
    wrong_tries(CODES, "127.0.0.1", 99)
    for number in range(3):
        assert client.get(f"/join/WRONG{number}/").status_code == 404
    assert client.get(f"/join/{pets.admission.join_code}/").status_code == 200


@pytest.mark.attack("wrong join codes that stop a class from joining")
def test_a_right_code_opens_for_bo_who_typed_many_wrong_ones(pets: Competition, bo: User) -> None:
    client = Client()
    client.force_login(bo)
    for number in range(12):
        assert client.get(f"/join/WRONG{number}/").status_code == 404
    assert client.get(f"/join/{pets.admission.join_code}/").status_code == 200


@pytest.mark.parametrize("path", ["/join/WRONG/", "/slip/WRONG/", "/invitation/nothing/"])
@pytest.mark.attack("accounts by the thousand")
def test_wrong_codes_and_links_are_slowed_down(bo: User, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    client.force_login(bo)
    for _ in range(10):
        assert client.get(path).status_code == 404
    monkeypatch.setattr(CODES, "pause", 0.05)
    begun = time.monotonic()
    for _ in range(4):
        assert client.get(path).status_code == 404
    assert time.monotonic() - begun >= 4 * 0.05


# --- the slow lane itself -----------------------------------------------------------------------------------------


def test_only_so_many_tries_of_one_sender_wait_and_all_others_pass() -> None:
    lane, done = SlowLane("test", seconds=60, pause=0.0), threading.Event()
    lane.count_wrong("dee")

    def hold() -> None:
        with lane.wait_for_turn("dee", free_tries=1):
            assert done.wait(10)

    threads = [threading.Thread(target=hold) for _ in range(MOST_WAITING)]
    for thread in threads:
        thread.start()
    until(lambda: lane._waiting.get("dee") == MOST_WAITING)
    with lane.wait_for_turn("dee", free_tries=1):
        pass
    with lane.wait_for_turn("bo", free_tries=1):
        pass
    done.set()
    for thread in threads:
        thread.join(10)
    assert not lane._waiting
