"""The box for a code, and the door behind it."""

from __future__ import annotations

from django.conf import LazySettings
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Membership
from tests.conftest import close, enter, make_competition
from tests.pages import signed_in


def test_a_code_typed_in_leads_to_its_door(pets: Competition, bo: User) -> None:
    response = signed_in(bo).post(
        "/join/", {"code": f" {pets.admission.join_code[:4]} {pets.admission.join_code[4:]} "}
    )
    assert (response.status_code, response["Location"]) == (303, f"/join/{pets.admission.join_code}/")


def test_an_empty_code_is_asked_for_again(bo: User) -> None:
    client = signed_in(bo)
    assert client.post("/join/", {"code": "  "}).status_code == 422
    assert client.post("/join/", {"code": "/.."}).status_code == 422


def test_who_has_a_code_and_no_account_is_asked_to_make_one_and_comes_back(pets: Competition, client: Client) -> None:
    page = client.get(f"/join/{pets.admission.join_code}/").content.decode()
    assert "Create account" in page
    assert f"next=%2Fjoin%2F{pets.admission.join_code}%2F" in page
    assert "Join “Cats or dogs”" in page


def test_a_stranger_is_offered_an_account_only_where_one_can_be_had(
    client: Client, db: None, settings: LazySettings
) -> None:
    header = client.get("/").content.decode().partition("</header>")[0]
    assert '<a class="button optional" href="/join/">Have a join code?</a>' in header
    assert "Create account" not in header
    settings.OPEN_SIGN_UP = True
    header = client.get("/").content.decode().partition("</header>")[0]
    assert "Create account" in header
    assert "join code" not in header


def test_bo_sees_what_others_will_see_and_the_rules_before_joining(pets: Competition, bo: User) -> None:
    page = signed_in(bo).get(f"/join/{pets.admission.join_code.lower()}/").content.decode()
    assert "What others will see" in page
    assert "Be fair." in page
    assert not Membership.objects.exists()


def test_bo_accepts_the_rules_and_is_in(pets: Competition, bo: User) -> None:
    response = signed_in(bo).post(f"/join/{pets.admission.join_code}/", {"accepted": "on"})
    assert (response.status_code, response["Location"]) == (303, "/c/pets/")
    assert Membership.objects.get(user=bo).has_accepted_rules()


def test_nobody_joins_without_accepting_the_rules(pets: Competition, bo: User) -> None:
    response = signed_in(bo).post(f"/join/{pets.admission.join_code}/", {})
    assert response.status_code == 422
    assert not Membership.objects.exists()


def test_joining_twice_says_so(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    client = signed_in(bo)
    response = client.get(f"/join/{pets.admission.join_code}/", follow=True)
    assert response.redirect_chain == [("/c/pets/", 302)]
    assert "already" in response.content.decode()


def test_after_the_deadline_the_door_is_shut(pets: Competition, bo: User) -> None:
    close(pets)
    client = signed_in(bo)
    assert (
        "deadline of this competition has passed" in client.get(f"/join/{pets.admission.join_code}/").content.decode()
    )
    assert client.post(f"/join/{pets.admission.join_code}/", {"accepted": "on"}).status_code == 409
    assert not Membership.objects.exists()


def test_a_draft_has_no_door(ada: User, bo: User) -> None:
    draft = make_competition(ada, launched=False)
    assert signed_in(bo).post(f"/join/{draft.admission.join_code}/", {"accepted": "on"}).status_code == 404
    assert not Membership.objects.exists()


def test_a_code_that_was_handed_out_early_says_for_what_it_is(ada: User, bo: User, client: Client) -> None:
    draft = make_competition(ada, launched=False)
    for reader in (client, signed_in(bo)):
        page = reader.get(f"/join/{draft.admission.join_code.lower()}/").content.decode()
        assert "“Cats or dogs”" in page
        assert "Create account" not in page.partition("<main")[2]
        assert not any(word in page for word in ("Which is it?", "Be fair.", "/c/pets/"))


def test_a_right_code_that_is_early_is_no_guess(ada: User, bo: User) -> None:
    draft, client = make_competition(ada, launched=False), signed_in(bo)
    assert {client.get(f"/join/{draft.admission.join_code}/").status_code for _ in range(12)} == {404}


def test_dee_joins_an_open_competition_without_a_code(ada: User, dee: User) -> None:
    pets = make_competition(ada, is_listed=True, needs_code=False)
    client = signed_in(dee)
    assert client.get("/join/?competition=pets")["Location"] == "/c/pets/join/"
    assert "Be fair." in client.get("/c/pets/join/").content.decode()
    assert client.post("/c/pets/join/", {"accepted": "on"}).status_code == 303
    assert Membership.objects.get(user=dee).competition == pets


def test_a_listed_competition_with_a_code_asks_for_it(ada: User, dee: User) -> None:
    make_competition(ada, is_listed=True)
    client = signed_in(dee)
    assert client.post("/c/pets/join/", {"accepted": "on"})["Location"] == "/join/"
    assert not Membership.objects.exists()


def test_an_unlisted_competition_has_no_open_door(ada: User, dee: User) -> None:
    make_competition(ada, needs_code=False)
    assert signed_in(dee).post("/c/pets/join/", {"accepted": "on"}).status_code == 404


def test_an_open_competition_asks_visitors_to_sign_in(ada: User, client: Client) -> None:
    make_competition(ada, is_listed=True, needs_code=False)
    assert "Sign in first" in client.get("/c/pets/join/").content.decode()
