"""The link into a team."""

from __future__ import annotations

import re

from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.classroom import joining
from leaderboard.competitions.models import Competition, Course, Limits, Membership
from tests.conftest import answers, close, enter, submit
from tests.pages import signed_in, text_of


def test_cy_sees_the_team_and_joins_it(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    client = signed_in(cy)
    page = client.get(f"/invitation/{team.invitation}/").content.decode()
    assert "Join team “bo”" in page
    assert not Membership.objects.filter(user=cy).exists()
    assert client.post(f"/invitation/{team.invitation}/", {"accepted": "on"}).status_code == 303
    membership = Membership.objects.get(user=cy)
    assert membership.team == team
    assert membership.has_accepted_rules()


def test_without_an_account_the_link_says_what_for_and_whose_team_it_is_and_names_no_member(
    pets: Competition, bo: User, client: Client
) -> None:
    team = enter(pets, bo).team
    team.name = "Night Owls"
    team.save()
    Competition.objects.update(contact="Ada Hale, room 3")
    Course.objects.update(title="BIO 101")
    page = text_of(client.get(f"/invitation/{team.invitation}/"))
    for words in ("Join team “Night Owls”", "“Cats or dogs”", "BIO 101", "Host Ada Hale, room 3"):
        assert words in page
    assert not re.search(r"\bbo\b", page)
    for nothing in (f"/invitation/{team.invitation[:-1]}/", f"/invitation/{team.invitation}x/"):
        missing = client.get(nothing)
        assert missing.status_code == 404
        assert not any(words in text_of(missing) for words in ("Cats or dogs", "BIO 101", "Ada Hale", "Night Owls"))


def test_who_comes_after_the_deadline_reads_it_before_making_an_account(
    pets: Competition, bo: User, client: Client
) -> None:
    team = enter(pets, bo).team
    close(pets)
    for way in (f"/invitation/{team.invitation}/", f"/join/{pets.admission.join_code}/"):
        page = text_of(client.get(way))
        assert "The deadline of this competition has passed." in page
        assert "Create an account" not in page


def test_an_invitation_that_does_not_exist_says_what_to_do(cy: User) -> None:
    response = signed_in(cy).get("/invitation/old-link/")
    assert response.status_code == 404
    assert "Ask your team for the current link" in response.content.decode()


def test_a_full_team_takes_nobody(pets: Competition, bo: User, cy: User) -> None:
    Limits.objects.update(team_size=1)
    team = enter(pets, bo).team
    client = signed_in(cy)
    assert "is full" in client.get(f"/invitation/{team.invitation}/").content.decode()
    assert client.post(f"/invitation/{team.invitation}/", {"accepted": "on"}).status_code == 409
    assert not Membership.objects.filter(user=cy).exists()


def test_cy_who_handed_in_already_stays_where_they_are(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    own = enter(pets, cy).team
    submit(pets, cy, answers())
    client = signed_in(cy)
    page = client.get(f"/invitation/{team.invitation}/").content.decode()
    assert "already has submissions" in page
    assert "A host can move you." in page
    assert 'href="/c/pets/team/">Your team</a>' in page
    assert "Enter another code" not in page
    assert client.post(f"/invitation/{team.invitation}/", {"accepted": "on"}).status_code == 409
    assert Membership.objects.get(user=cy).team == own


def test_cy_is_told_that_the_own_team_is_given_up(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    assert "You'll leave your own team, “" in signed_in(cy).get(f"/invitation/{team.invitation}/").content.decode()


def test_a_member_is_led_to_the_team(pets: Competition, bo: User) -> None:
    team = enter(pets, bo).team
    assert signed_in(bo).get(f"/invitation/{team.invitation}/")["Location"] == "/c/pets/team/"


def test_after_the_deadline_nobody_changes_team(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    close(pets)
    response = signed_in(cy).post(f"/invitation/{team.invitation}/", {"accepted": "on"})
    assert response.status_code == 409
    assert not Membership.objects.filter(user=cy).exists()


def test_an_invitation_asks_for_the_rules_too(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    assert signed_in(cy).post(f"/invitation/{team.invitation}/").status_code == 422
    assert joining.move_refusal(team, None) == ""
