"""The link into a team."""

from __future__ import annotations

from leaderboard import joining
from leaderboard.models import Competition, Membership, User
from tests.conftest import answers, close, enter, hand_in
from tests.web.test_join import signed_in


def test_cy_sees_the_team_and_joins_it(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    client = signed_in(cy)
    page = client.get(f"/invitation/{team.invitation}/").content.decode()
    assert "Join the team “bo”" in page
    assert not Membership.objects.filter(user=cy).exists()
    assert client.post(f"/invitation/{team.invitation}/", {"accepted": "on"}).status_code == 303
    membership = Membership.objects.get(user=cy)
    assert membership.team == team
    assert membership.has_accepted_rules()


def test_without_an_account_the_link_shows_no_names(pets: Competition, bo: User) -> None:
    from django.test import Client

    page = Client().get(f"/invitation/{enter(pets, bo).team.invitation}/").content.decode()
    assert "You are invited to a team" in page
    assert pets.title not in page


def test_an_invitation_that_does_not_exist_says_what_to_do(cy: User) -> None:
    response = signed_in(cy).get("/invitation/old-link/")
    assert response.status_code == 404
    assert "Ask your team for its present link" in response.content.decode()


def test_a_full_team_takes_nobody(pets: Competition, bo: User, cy: User) -> None:
    Competition.objects.update(team_size=1)
    team = enter(pets, bo).team
    client = signed_in(cy)
    assert "is full" in client.get(f"/invitation/{team.invitation}/").content.decode()
    assert client.post(f"/invitation/{team.invitation}/", {"accepted": "on"}).status_code == 409
    assert not Membership.objects.filter(user=cy).exists()


def test_cy_who_handed_in_already_stays_where_they_are(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    own = enter(pets, cy).team
    hand_in(pets, cy, answers())
    client = signed_in(cy)
    assert "has submissions already" in client.get(f"/invitation/{team.invitation}/").content.decode()
    assert client.post(f"/invitation/{team.invitation}/", {"accepted": "on"}).status_code == 409
    assert Membership.objects.get(user=cy).team == own


def test_cy_is_told_that_the_own_team_is_given_up(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    assert "You give up your own team" in signed_in(cy).get(f"/invitation/{team.invitation}/").content.decode()


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
    assert joining.obstacle_to(team, None) == ""
