"""Where a competition has pseudonyms, no byte for others holds a team's name or its members': every page is walked."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.boards import services as boards
from leaderboard.boards import standings
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Membership, Team
from leaderboard.competitions.team_names import FIRST, SECOND, draw_pseudonym
from tests.conftest import close

from .scene import Scene, addresses, ask, filled, text_of

pytestmark = pytest.mark.thorough

NAME = "Namecanary Nine"
MEMBER = "membercanary"


@pytest.fixture
def masked(scene: Scene) -> Scene:
    """Bo's and Cy's team has a name that tells, Cy an account name that does; the board shows pseudonyms."""
    membership = Membership.objects.select_related("team", "user").get(user__username="cy")
    Team.objects.filter(pk=membership.team_id).update(name=NAME)
    membership.user.username = MEMBER
    membership.user.save()
    competitions.change_competition(competition=scene.competition, uses_pseudonyms=True)
    scene.competition.refresh_from_db()
    return scene


def everything(scene: Scene, role: str, query: str = "") -> dict[str, str]:
    paths = [
        filled(address.route, scene.arguments) for address in addresses() if not address.route.startswith("admin/")
    ]
    return {path: text_of(ask(scene, role, "GET", path + query)) for path in paths}


def tellers(scene: Scene, role: str, *queries: str) -> list[str]:
    seen = [page for query in queries for page in everything(scene, role, query).items()]
    return [path for path, text in seen if NAME in text or MEMBER in text]


@pytest.mark.parametrize(
    "role", ["eve", *(pytest.param(role, marks=pytest.mark.long) for role in ("anonymous", "dee", "otto"))]
)
@pytest.mark.attack("finding out who is behind a pseudonym")
def test_no_address_tells_others_who_is_behind_a_pseudonym(masked: Scene, role: str) -> None:
    assert tellers(masked, role, "") == []


@pytest.mark.long
def test_nor_does_any_to_those_who_ask_in_other_ways(masked: Scene) -> None:
    assert tellers(masked, "eve", "?q=Namecanary", "?board=private&page=1") == []


@pytest.mark.long
@pytest.mark.parametrize("role", ["anonymous", "eve"])
def test_nor_does_any_after_the_reveal(masked: Scene, role: str) -> None:
    close(masked.competition)
    boards.reveal_competition(competition=masked.competition)
    assert tellers(masked, role, "", "?board=private") == []


def test_no_board_numbers_its_teams_in_the_order_in_which_they_came(masked: Scene) -> None:
    """Who joined after whom is known in a classroom."""
    numbers = "|".join(str(pk) for pk in masked.competition.teams.values_list("pk", flat=True))
    page = text_of(ask(masked, "eve", "GET", "/c/secret/leaderboard/"))
    assert 'id="team-' in page
    assert not re.search(rf"(team-|you )({numbers})\b", page)


def test_hosts_and_assistants_read_both_names_and_the_team_its_own(masked: Scene) -> None:
    pseudonym = Team.objects.get(name=NAME).pseudonym
    for role in ("ada", "ivy", "bo"):
        board = text_of(ask(masked, role, "GET", "/c/secret/leaderboard/"))
        assert NAME in board, role
        assert pseudonym in board, role
    assert NAME in text_of(ask(masked, "bo", "GET", "/c/secret/leaderboard.csv"))
    assert NAME in text_of(ask(masked, "bo", "GET", "/api/v1/competitions/secret/leaderboard"))
    both = text_of(ask(masked, "ivy", "GET", "/host/secret/board.csv"))
    assert NAME in both
    assert pseudonym in both


def test_the_podium_tells_the_winners_names_to_those_who_run_it_alone(masked: Scene) -> None:
    close(masked.competition)
    boards.reveal_competition(competition=masked.competition)
    for role, reads in (("ada", True), ("eve", False), ("anonymous", False)):
        page = ask(masked, role, "GET", "/c/secret/leaderboard/").content.decode()
        podium = page.partition('<ol class="podium">')[2].partition("</ol>")[0]
        assert podium, role
        assert (NAME in podium) == reads, role
        assert reads or NAME not in text_of(ask(masked, role, "GET", "/c/secret/")), role


def test_the_crawl_can_fail(masked: Scene) -> None:
    competitions.change_competition(competition=masked.competition, uses_pseudonyms=False)
    found = tellers(masked, "eve", "")
    assert "/c/secret/leaderboard/" in found
    assert "/c/secret/leaderboard.csv" in found
    assert "/api/v1/competitions/secret/leaderboard" in found


def test_a_team_keeps_its_pseudonym_and_no_two_share_one(masked: Scene) -> None:
    before = dict(Team.objects.values_list("pk", "pseudonym"))
    competitions.change_competition(competition=masked.competition, uses_pseudonyms=False)
    competitions.change_competition(competition=masked.competition, uses_pseudonyms=True)
    after = dict(masked.competition.teams.values_list("pk", "pseudonym"))
    assert after.items() <= before.items()
    assert len(set(after.values())) == len(after) == 2
    assert all(re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", name) for name in after.values())


def test_who_joins_a_masked_competition_has_a_pseudonym_at_once(masked: Scene) -> None:
    ask(masked, "dee", "POST", "/c/secret/join/", {"accepted": "on"})
    client: Client = masked.clients["dee"]
    client.post(f"/join/{masked.competition.admission.join_code}/", {"accepted": "on"})
    team = Membership.objects.select_related("team__competition").get(user__username="dee").team
    assert team.shown_name == team.pseudonym != ""


def test_names_never_run_out() -> None:
    taken = {f"{first} {second}" for first in FIRST for second in SECOND}
    assert len(taken) > 20_000
    name = draw_pseudonym(taken)
    assert name not in taken
    assert re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+ \d{3}", name)


@pytest.mark.parametrize("name", [NAME, NAME.upper(), "Namесanary Nine"])
@pytest.mark.attack("finding out who is behind a pseudonym")
def test_renaming_a_team_does_not_tell_who_takes_part(masked: Scene, name: str) -> None:
    """Eve reads the same of a name that another team has and of one that nobody has."""
    pages = []
    for wanted in ("Nobody At All", name):
        answer = ask(masked, "eve", "POST", "/c/secret/team/", {"action": "rename", "name": wanted})
        is_called_so = Team.objects.get(memberships__user__username="eve").name == wanted
        shown = text_of(ask(masked, "eve", "GET", "/c/secret/team/")).count(wanted)
        pages.append((answer.status_code, is_called_so, shown))
    assert pages[0] == pages[1]
    assert pages[0][:2] == (303, True)


@pytest.mark.attack("finding out who is behind a pseudonym")
def test_joining_under_the_name_of_a_team_does_not_tell_of_it_either(masked: Scene) -> None:
    Team.objects.filter(name=NAME).update(name="dee")
    masked.clients["dee"].post(f"/join/{masked.competition.admission.join_code}/", {"accepted": "on"})
    assert Membership.objects.select_related("team").get(user__username="dee").team.name == "dee"


def test_teams_of_one_name_get_numbers_where_names_are_shown_again(masked: Scene) -> None:
    ask(masked, "eve", "POST", "/c/secret/team/", {"action": "rename", "name": NAME})
    assert list(Team.objects.filter(competition=masked.competition).values_list("name", flat=True)) == [NAME, NAME]
    competitions.change_competition(competition=masked.competition, uses_pseudonyms=False)
    assert sorted(masked.competition.teams.values_list("name", flat=True)) == [NAME, f"{NAME} 2"]


@pytest.mark.attack("finding out who is behind a pseudonym")
def test_others_read_moments_to_the_minute_alone(masked: Scene) -> None:
    """Whoever saw somebody upload would otherwise find the pseudonym by the exact moment."""
    at = timezone.now().replace(second=7, microsecond=654_321) - timedelta(minutes=67)
    Team.objects.get(name=NAME).submissions.update(received_at=at)
    assert masked.competition.ground_truth is not None
    standings.rebuild_standings(masked.competition.ground_truth)
    for path in ("/c/secret/leaderboard/", "/c/secret/leaderboard.csv", "/api/v1/competitions/secret/leaderboard"):
        page = text_of(ask(masked, "eve", "GET", path))
        # Just after midnight the page has it in its table alone, where minutes end with Z.
        assert any(f"{at:%Y-%m-%dT%H:%M}{end}" in page for end in (":00", "Z")), path
        assert f"{at:%H:%M:%S}" not in page, path
    assert at.isoformat() in text_of(ask(masked, "ivy", "GET", "/host/secret/board.csv"))
