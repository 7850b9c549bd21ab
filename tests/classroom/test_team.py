"""A team's page, and the list of my teams."""

from __future__ import annotations

from leaderboard.accounts.models import User
from leaderboard.classroom import extensions, joining
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Membership, Team
from leaderboard.notifications.models import Notice
from tests.conftest import close, enter
from tests.pages import signed_in

TEAM = "/c/pets/team/"


def pair(pets: Competition, bo: User, cy: User) -> Team:
    team = enter(pets, bo).team
    joining.accept_rules(membership=joining.join_by_invitation(user=cy, invitation=team.invitation))
    return team


def test_bo_sees_members_and_the_whole_invitation_link(pets: Competition, bo: User, cy: User) -> None:
    team = pair(pets, bo, cy)
    page = signed_in(bo).get(TEAM).content.decode()
    assert f"http://testserver/invitation/{team.invitation}/" in page
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
    assert "” is taken or looks like another team" in response.content.decode()
    assert client.post(TEAM, {"action": "rename", "name": "\u200b"}).status_code == 422
    assert client.post(TEAM, {"action": "rename", "name": ""}).status_code == 422
    assert Membership.objects.get(user=bo).team.name == "bo"


def test_cy_leaves_and_bo_alone_cannot(pets: Competition, bo: User, cy: User) -> None:
    team = pair(pets, bo, cy)
    assert "Attempts used today stay used" in " ".join(signed_in(cy).get(TEAM).content.decode().split())
    assert signed_in(cy).post(TEAM, {"action": "leave"}).status_code == 303
    assert Membership.objects.get(user=cy).team != team
    response = signed_in(bo).post(TEAM, {"action": "leave"}, follow=True)
    assert "the only member of this team" in response.content.decode()


def test_after_the_deadline_teams_stay_as_they_are(pets: Competition, bo: User, cy: User) -> None:
    team = pair(pets, bo, cy)
    close(pets)
    client = signed_in(cy)
    page = client.get(TEAM).content.decode()
    assert "The deadline has passed, so teams" in page
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


def test_bo_reads_what_others_call_the_team_and_who_reads_its_name(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    client = signed_in(bo)
    assert "Everyone sees it on the leaderboard" in client.get(TEAM).content.decode()
    competitions.change_competition(competition=pets, user=ada, uses_pseudonyms=True)
    pseudonym = Team.objects.get().pseudonym
    page = client.get(TEAM).content.decode()
    assert f"Other teams see “<strong>{pseudonym}</strong>”" in page
    assert "Everyone sees it on the leaderboard" not in page


def said_to_user(user: User) -> str:
    return " ".join(f"{one.title}: {one.text}" for one in Notice.objects.filter(user=user))


def test_mates_read_who_joins_and_who_leaves(pets: Competition, bo: User, cy: User, dee: User) -> None:
    team = pair(pets, bo, cy)
    assert "“cy” joined “bo” with the invitation link" in said_to_user(bo)
    assert said_to_user(cy) == ""
    joining.join_by_invitation(user=cy, invitation=team.invitation)
    assert said_to_user(bo).count("New member in your team") == 1, "who opens the link again has joined already"
    joining.join_by_invitation(user=dee, invitation=team.invitation)
    signed_in(bo).post(TEAM, {"action": "leave"})
    for mate in (cy, dee):
        assert "“bo” is no longer in “bo”" in said_to_user(mate)
    assert "” is no longer in “" not in said_to_user(bo)


def test_a_disqualified_team_is_offered_nothing_that_would_be_refused_and_reads_why_once(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    """It may still be renamed: its name is on no board, and stands again with the team."""
    team = pair(pets, bo, cy)
    offered = ("Copy link", "Leave team")
    submit = 'href="/c/pets/submit/"'
    client = signed_in(bo)
    assert all(word in client.get(TEAM).content.decode() for word in (*offered, submit))
    assert submit in client.get("/c/pets/").content.decode()
    extensions.disqualify_team(team=team, user=ada, reason="Copied.")
    page = client.get(TEAM).content.decode()
    assert [word for word in (*offered, submit, team.invitation) if word in page] == []
    assert page.count("Members can&#x27;t join or leave.") == 1
    assert "Rename team" in page
    assert "Everyone sees it on the leaderboard" not in page
    assert "attempts a day" not in page
    assert submit not in client.get("/c/pets/").content.decode()
    extensions.readmit_team(team=team, user=ada)
    assert all(word in client.get(TEAM).content.decode() for word in (*offered, submit))
