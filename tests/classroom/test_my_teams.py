"""All teams of one student."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import extensions, joining, roles
from leaderboard.classroom.models import HostingRole
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import boards, competitions
from tests.conftest import answers, close, enter, hand_in, make_competition
from tests.pages import signed_in


def page(user: User) -> str:
    response = signed_in(user).get("/teams/")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_bo_sees_every_team_with_its_mates_rank_and_attempts(pets: Competition, bo: User, cy: User, dee: User) -> None:
    team = enter(pets, bo).team
    joining.join_by_invitation(user=cy, invitation=team.invitation)
    enter(pets, dee)
    hand_in(pets, dee, answers())
    hand_in(pets, bo, answers(public=1))
    text = page(bo)
    for words in ("Cats or dogs", "with cy", "2 of 2", "4 of 5", "closes in"):
        assert words in text
    assert "with" not in page(dee).split("<tbody>")[1]


def test_what_runs_stands_above_what_is_over(ada: User, bo: User) -> None:
    now = timezone.now()
    over = make_competition(ada, slug="over", title="Over and out")
    soon = make_competition(ada, slug="soon", title="Soon", opens_at=now + timedelta(hours=1))
    for competition in (over, soon):
        enter(competition, bo)
    close(over)
    text = page(bo)
    assert text.index("Running") < text.index("Soon") < text.index(">Over<") < text.index("Over and out")
    assert "opens in" in text


def test_after_the_reveal_the_private_rank_is_shown_and_not_before(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    hand_in(pets, bo, answers(private=3))
    hand_in(pets, cy, answers(public=3))
    close(pets)
    assert "1 of 2" in page(bo)
    boards.reveal_competition(competition=pets)
    assert "2 of 2" in page(bo)


def test_who_has_not_accepted_the_rules_is_asked_to(pets: Competition, bo: User) -> None:
    joining.enter_competition(user=bo, competition=pets)
    assert 'href="/c/pets/rules/">Accept the rules' in page(bo)


def test_nobody_is_shown_another_ones_teams(pets: Competition, bo: User, dee: User) -> None:
    enter(pets, bo)
    assert "Cats or dogs" not in page(dee)
    assert "You are in no competition yet" in page(dee)


def test_the_page_asks_modestly_however_many_teams_there_are(
    ada: User, bo: User, django_assert_max_num_queries: Any
) -> None:
    for slug in ("one", "two", "three", "four"):
        competition = make_competition(ada, slug=slug)
        enter(competition, bo)
        hand_in(competition, bo, answers())
    client = signed_in(bo)
    with django_assert_max_num_queries(8):
        assert client.get("/teams/").content.decode().count("1 of 1") == 4


def test_bo_sees_on_every_page_that_the_team_is_out_or_the_competition_paused(
    pets: Competition, ada: User, bo: User
) -> None:
    team = enter(pets, bo).team
    competitions.pause_competition(competition=pets, user=ada, reason="The data had a mistake.")
    client = signed_in(bo)
    assert "Paused</span>" in client.get("/teams/").content.decode()
    competitions.resume_competition(competition=pets, user=ada)
    extensions.disqualify_team(team=team, user=ada, reason="Two accounts.")
    assert "Disqualified</span>" in client.get("/teams/").content.decode()
    assert "5 of 5" not in client.get("/teams/").content.decode(), "nothing can be handed in"
    for page in ("", "leaderboard/", "team/", "submissions/", "submit/"):
        text = client.get(f"/c/pets/{page}").content.decode()
        assert text.count("Two accounts.") == 1, page
        assert "Submit predictions" not in text, page
    extensions.readmit_team(team=team, user=ada)
    assert "5 of 5" in client.get("/teams/").content.decode()
    assert "Two accounts." not in client.get("/c/pets/").content.decode()
    assert "Submit predictions" in client.get("/c/pets/").content.decode()


def test_who_runs_it_is_not_sent_to_a_door_that_is_shut(pets: Competition, ada: User, cy: User) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    for who, has_baselines in ((ada, True), (cy, False)):
        text = signed_in(who).get("/c/pets/submit/").content.decode()
        assert "does not compete in it" in text
        assert f"/join/{pets.admission.join_code}/" not in text
        assert ("/host/pets/baselines/" in text) == has_baselines
