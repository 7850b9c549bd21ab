"""A team's page, and the list of my teams."""

from __future__ import annotations

from leaderboard import joining
from leaderboard.models import Competition, Membership, Team, User
from tests.conftest import answers, close, enter, hand_in, make_competition
from tests.web.test_join import signed_in

TEAM = "/c/pets/team/"


def pair(pets: Competition, bo: User, cy: User) -> Team:
    team = enter(pets, bo).team
    joining.accept_rules(membership=joining.by_invitation(user=cy, invitation=team.invitation))
    return team


def test_bo_sees_members_and_the_whole_invitation_link(pets: Competition, bo: User, cy: User) -> None:
    team = pair(pets, bo, cy)
    page = signed_in(bo).get(TEAM).content.decode()
    assert f"http://testserver/invitation/{team.invitation}/" in page
    assert "Captain" in page
    assert "cy" in page


def test_bo_renames_the_team(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    assert signed_in(bo).post(TEAM, {"action": "rename", "name": "Overfit & Chill"}).status_code == 303
    assert Team.objects.get().name == "Overfit & Chill"


def test_a_name_that_is_taken_or_invisible_is_refused(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    client = signed_in(bo)
    response = client.post(TEAM, {"action": "rename", "name": "CY"})
    assert response.status_code == 422
    assert "Another team is called" in response.content.decode()
    assert client.post(TEAM, {"action": "rename", "name": "\u200b"}).status_code == 422
    assert client.post(TEAM, {"action": "rename", "name": ""}).status_code == 422
    assert Membership.objects.get(user=bo).team.name == "bo"


def test_a_new_link_replaces_the_old_one(pets: Competition, bo: User) -> None:
    old = enter(pets, bo).team.invitation
    signed_in(bo).post(TEAM, {"action": "renew"})
    assert Team.objects.get().invitation != old


def test_cy_leaves_and_bo_alone_cannot(pets: Competition, bo: User, cy: User) -> None:
    team = pair(pets, bo, cy)
    assert signed_in(cy).post(TEAM, {"action": "leave"}).status_code == 303
    assert Membership.objects.get(user=cy).team != team
    response = signed_in(bo).post(TEAM, {"action": "leave"}, follow=True)
    assert "You are the only member" in response.content.decode()


def test_after_the_deadline_teams_stay_as_they_are(pets: Competition, bo: User, cy: User) -> None:
    team = pair(pets, bo, cy)
    close(pets)
    client = signed_in(cy)
    page = client.get(TEAM).content.decode()
    assert "teams stay as they are" in page
    assert team.invitation not in page
    client.post(TEAM, {"action": "leave"})
    client.post(TEAM, {"action": "rename", "name": "Winners"})
    assert Membership.objects.get(user=cy).team == team
    team.refresh_from_db()
    assert team.name == "bo"


def test_an_unknown_button_changes_nothing(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    assert signed_in(bo).post(TEAM, {"action": "explode"}).status_code == 200


def test_a_host_without_a_team_is_sent_to_the_overview(pets: Competition, ada: User) -> None:
    assert signed_in(ada).get(TEAM)["Location"] == "/c/pets/"


def test_my_teams_shows_rank_and_attempts(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    hand_in(pets, bo, answers())
    page = signed_in(bo).get("/teams/").content.decode()
    assert "1 of 1" in page
    assert "4 of 5" in page


def test_my_teams_are_mine_alone(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo)
    make_competition(ada, slug="birds", title="Birds")
    assert "You are in no competition yet" in signed_in(cy).get("/teams/").content.decode()
    assert "Birds" not in signed_in(bo).get("/teams/").content.decode()
