"""The box for a code, and the door behind it."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Limits, Membership
from tests.conftest import answers, close, enter, make_competition, submit
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


DEE = {"full_name": "Dee  van Dyck", "username": "dee", "password1": "purple otter 44", "accepted": "on"}


def test_who_has_a_code_and_no_account_makes_one_and_joins_by_one_form(pets: Competition, client: Client) -> None:
    page = client.get(f"/join/{pets.admission.join_code}/").content.decode()
    assert "Join “Cats or dogs”" in page
    assert "Be fair." in page
    assert f"/accounts/login/?next=%2Fjoin%2F{pets.admission.join_code}%2F" in page
    response = client.post(f"/join/{pets.admission.join_code}/", DEE)
    assert (response.status_code, response["Location"]) == (302, "/c/pets/")
    member = Membership.objects.get()
    assert (member.user.username, member.user.get_full_name()) == ("dee", "Dee van Dyck")
    assert member.has_accepted_rules()
    assert client.get("/c/pets/submit/").status_code == 200


@pytest.mark.parametrize("uses_pseudonyms", [False, True])
def test_what_a_username_may_have_is_said_before_one_is_refused(
    ada: User, pets: Competition, client: Client, uses_pseudonyms: bool
) -> None:
    competitions.change_competition(competition=pets, user=ada, uses_pseudonyms=uses_pseudonyms)
    address = f"/join/{pets.admission.join_code}/"
    assert "no spaces" in client.get(address).content.decode()
    assert 'class="errors"' in client.post(address, {**DEE, "username": "dee v"}).content.decode()
    assert client.post(address, {**DEE, "username": "dée@._+-"}).status_code == 302


@pytest.mark.parametrize("missing", DEE)
def test_without_a_part_of_the_form_nothing_is_made(pets: Competition, client: Client, missing: str) -> None:
    given = {name: text for name, text in DEE.items() if name != missing}
    assert 'class="errors"' in client.post(f"/join/{pets.admission.join_code}/", given).content.decode()
    assert not User.objects.filter(username="dee").exists()
    assert not Membership.objects.exists()


def test_where_institutions_alone_sign_in_the_page_still_names_the_host(
    pets: Competition, client: Client, settings: LazySettings
) -> None:
    settings.LOCAL_PASSWORDS = False
    page = client.get(f"/join/{pets.admission.join_code}/").content.decode()
    assert "Host" in page.partition("<main")[2]
    assert "password1" not in page


def test_the_real_name_is_for_hosts_alone(pets: Competition, ada: User, bo: User, client: Client) -> None:
    client.post(f"/join/{pets.admission.join_code}/", DEE)
    enter(pets, bo)
    dee = User.objects.get(username="dee")
    submit(pets, dee, answers())
    for reader in (signed_in(bo), Client()):
        for page in ("", "leaderboard/", "leaderboard.csv"):
            assert "van Dyck" not in reader.get(f"/c/pets/{page}", follow=True).content.decode()
    assert "van Dyck" in signed_in(ada).get("/host/pets/people/").content.decode()


def test_who_may_not_join_has_an_account_and_reads_why(pets: Competition, client: Client) -> None:
    competitions.change_competition(competition=pets, admission="roster")
    response = client.post(f"/join/{pets.admission.join_code}/", DEE, follow=True)
    assert response.redirect_chain == [(f"/join/{pets.admission.join_code}/", 302)]
    assert "Only people on the roster can join" in response.content.decode()
    assert not Membership.objects.exists()


def test_an_invitation_leads_a_newcomer_into_the_team_by_one_form(pets: Competition, bo: User, client: Client) -> None:
    Limits.objects.update(team_size=2)
    team = enter(pets, bo).team
    response = client.post(f"/invitation/{team.invitation}/", DEE, follow=True)
    assert response.redirect_chain == [("/c/pets/", 302)]
    assert "Your team is “bo”" in response.content.decode()
    assert {member.user.username for member in team.memberships.all()} == {"bo", "dee"}


def test_where_addresses_are_confirmed_dee_is_a_member_who_signs_in_afterwards(
    pets: Competition, client: Client, settings: LazySettings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
    code = f"/join/{pets.admission.join_code}/"
    assert 'class="errors"' in client.post(code, DEE).content.decode()  # an address is asked for
    sent = client.post(code, DEE | {"email": "dee@example.org"})
    assert sent["Location"].startswith("/accounts/confirm-email/")
    assert Membership.objects.get().user.username == "dee"
    assert client.get("/c/pets/submit/")["Location"].startswith("/accounts/login/")


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
