"""Medal zones: off by default, by share of the teams, said in letters and not by colour alone."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard import hosting, ranking
from leaderboard.models import AuditEntry, Competition, User
from leaderboard.ranking import Medal, MedalZones
from tests.conftest import answers, close, enter, hand_in, make_competition, person
from tests.web.test_host import signed_in

HOST, BOARD = "/host/pets/board/", "/c/pets/leaderboard/"


def medals_on(page: str) -> list[tuple[str, str]]:
    """Rank and medal in letters, of each row that has one."""
    return re.findall(r"</span>(\d+)<span class=\"medal-word\"> (\w+)</span>", page)


@pytest.fixture
def ranked(ada: User) -> Competition:
    """Six teams, the last two with the same score and another receipt."""
    pets = make_competition(ada, is_listed=True)
    for place, name in enumerate(("bo", "cy", "dee", "eve", "fay", "gil")):
        user = person(name)
        enter(pets, user)
        hand_in(pets, user, answers(public=min(place, 4)))
    return pets


@pytest.mark.parametrize(
    ("teams", "zones"),
    [
        (0, (0, 0, 0)),
        (1, (1, 1, 1)),
        (2, (1, 1, 1)),
        (10, (1, 2, 4)),
        (25, (3, 5, 10)),
        (99, (10, 20, 40)),
        (100, (10, 20, 40)),
        (249, (10, 50, 100)),
        (250, (10, 50, 100)),
        (999, (11, 50, 100)),
        (1000, (12, 50, 100)),
        (2000, (14, 100, 200)),
    ],
)
def test_zones_follow_from_the_number_of_teams(teams: int, zones: tuple[int, int, int]) -> None:
    assert MedalZones.of(teams) == MedalZones(*zones)


def test_more_teams_never_take_a_medal_away_and_better_ranks_never_have_a_lesser_one() -> None:
    before = MedalZones.of(0)
    for teams in range(1, 3000):
        now = MedalZones.of(teams)
        assert now.gold >= before.gold
        assert now.silver >= before.silver
        assert now.bronze >= before.bronze
        assert 1 <= now.gold <= now.silver <= now.bronze <= teams
        before = now
    won = [MedalZones.of(50).medal_of(rank) for rank in (None, 1, 5, 6, 10, 11, 20, 21)]
    gold, silver, bronze = Medal.GOLD, Medal.SILVER, Medal.BRONZE
    assert won == [None, gold, gold, silver, silver, bronze, bronze, None]


def test_a_board_has_no_zones_until_its_host_wants_them(client: Client, ada: User, ranked: Competition) -> None:
    page = client.get(BOARD).content.decode()
    assert "Medal zones" not in page
    assert medals_on(page) == []
    hers = signed_in(ada)
    assert hers.post(HOST, {"has_medal_zones": "on", "embed_sites": "", "teams_close_at": ""}).status_code == 303
    assert 'name="has_medal_zones"' in hers.get(HOST).content.decode()
    assert ("has medal zones", False, True) in AuditEntry.objects.order_by("-number")[0].changes
    page = client.get(BOARD).content.decode()
    assert medals_on(page) == [("1", "gold"), ("2", "silver"), ("3", "bronze")]
    assert "Medal zones: gold to rank 1, silver to rank 2, bronze to rank 3." in page
    assert "Medals are won on the private board alone." in page


def test_who_is_searched_for_keeps_the_medal_of_the_whole_board(client: Client, ranked: Competition) -> None:
    hosting.change(competition=ranked, has_medal_zones=True)
    assert medals_on(client.get(f"{BOARD}?q=dee").content.decode()) == [("3", "bronze")]
    assert medals_on(client.get(f"{BOARD}?q=gil").content.decode()) == []


def test_the_private_board_and_a_board_on_other_sites_have_them_too(client: Client, ranked: Competition) -> None:
    hosting.change(competition=ranked, has_medal_zones=True, embed_sites="*")
    close(ranked)
    ranking.reveal(ranked, timezone.now())
    for page in (f"{BOARD}?board=private", "/c/pets/embed/"):
        text = client.get(page).content.decode()
        assert [medal for _rank, medal in medals_on(text)] == ["gold", "silver", "bronze"]
        assert "won on the private board" not in text


def test_a_hidden_board_has_no_zones(client: Client, ranked: Competition) -> None:
    hosting.change(competition=ranked, has_medal_zones=True, board_mode="hidden")
    page = client.get(BOARD).content.decode()
    assert "Medal zones" not in page
    assert medals_on(page) == []
