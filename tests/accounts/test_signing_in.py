"""Signing in and up: a whole class behind one address gets in, guessing one account's password does not."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.common.web_pools import DELAY
from leaderboard.competitions.models import Competition


def sign_in(name: str, password: str, address: str = "10.0.0.1") -> int:
    given = {"login": name, "password": password}
    return Client(REMOTE_ADDR=address).post("/accounts/login/", given).status_code


def test_the_rules_of_a_password_are_one_line(pets: Competition, client: Client) -> None:
    client.get(f"/join/{pets.admission.join_code}/")
    page = client.get("/accounts/signup/").content.decode()
    assert page.count("At least eight characters") == 1
    assert "<ul>" not in page.partition('id="id_password1_helptext"')[2].partition("</div>")[0]


def test_a_class_of_sixty_signs_up_within_a_minute_from_one_address(pets: Competition) -> None:
    for number in range(60):
        student = Client(REMOTE_ADDR="10.0.0.1")
        student.get(f"/join/{pets.admission.join_code}/")
        given = {"username": f"s{number}", "email": f"s{number}@example.org"}
        given |= {"password1": "long enough 7", "password2": "long enough 7"}
        assert student.post("/accounts/signup/", given).status_code == 302
    assert User.objects.count() == 61


def test_nobody_gets_another_address_by_saying_so(bo: User) -> None:
    given = {"login": "bo", "password": "wrong"}
    answers = [
        Client(REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=f"10.9.9.{number}").post("/accounts/login/", given)
        for number in range(11)
    ]
    assert answers[-1].wsgi_request.META[DELAY] > 0


@pytest.mark.parametrize("password", ["nele1234", "Novak-1999", "nn42nn42!", "nele@example"])
def test_a_password_like_the_persons_names_is_refused(pets: Competition, client: Client, password: str) -> None:
    given = {"full_name": "Nele Novak", "username": "nn42nn42", "email": "nele@example.org", "password1": password}
    page = client.post(f"/join/{pets.admission.join_code}/", {**given, "accepted": "on"})
    assert "too similar" in page.content.decode()
    assert not User.objects.filter(username="nn42nn42").exists()


def test_several_words_with_a_digit_are_no_name(pets: Competition, client: Client) -> None:
    given = {"full_name": "Lars Berg", "username": "lars_berg", "email": "lars.berg@uni.example", "accepted": "on"}
    client.post(f"/join/{pets.admission.join_code}/", {**given, "password1": "green walrus 71"})
    assert User.objects.filter(username="lars_berg").exists()


def test_a_changed_password_is_compared_with_the_name_too(bo: User, client: Client) -> None:
    bo.last_name = "Berg"
    bo.set_password("seven wet trains")
    bo.save()
    client.force_login(bo)
    given = {"oldpassword": "seven wet trains", "password1": "berg12345"}
    assert "too similar" in client.post("/accounts/password/change/", given).content.decode()
    bo.refresh_from_db()
    assert bo.check_password("seven wet trains")
