"""The projector of a host: join, live leaderboard, reveal."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from tests.conftest import answers, close, enter, person, submit
from tests.pages import signed_in

ADDRESS = "/host/pets/projector/"


def screen(user: User, query: str) -> str:
    response = signed_in(user).get(ADDRESS + query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def played(pets: Competition, bo: User, cy: User, dee: User) -> Competition:
    """On the public board bo, cy, dee; on the private one dee, cy, bo."""
    for user, wrong in ((bo, 0), (cy, 1), (dee, 2)):
        enter(pets, user)
        submit(pets, user, answers(public=wrong, private=2 - wrong))
    return pets


def test_the_class_reads_how_to_join_and_who_has(pets: Competition, ada: User, bo: User, cy: User) -> None:
    code = pets.admission.join_code
    assert f"{code[:4]} {code[4:]}" in screen(ada, "?show=join")
    enter(pets, bo), enter(pets, cy)
    page = screen(ada, "?show=join")
    assert page.index(">cy</li>") < page.index(">bo</li>"), "the newest name first"
    assert 'class="qr"' in page


def test_pseudonyms_hide_names_on_the_wall(played: Competition, ada: User) -> None:
    competitions.change_competition(competition=played, user=ada, uses_pseudonyms=True)
    for show in ("join", "live"):
        page = screen(ada, f"?show={show}")
        for name in (">bo<", ">cy<", ">dee<"):
            assert name not in page, show
    pseudonym = played.teams.values_list("pseudonym", flat=True)[0]
    assert pseudonym in page
    assert pseudonym not in screen(ada, "?show=join"), "the order of joining would tell who is who"


def test_the_live_screen_has_the_ranking_and_the_latest_move(played: Competition, ada: User) -> None:
    page = screen(ada, "")
    assert page.index(">bo</span>") < page.index(">cy</span>") < page.index(">dee</span>")
    latest = page.partition('data-testid="latest"')[2].partition("</p>")[0]
    assert "<strong>dee</strong>" in latest


def test_before_the_first_file_the_class_joins(pets: Competition, ada: User) -> None:
    assert 'data-testid="code"' in screen(ada, "")
    assert 'data-testid="latest"' not in screen(ada, "?show=live")


def test_nothing_private_is_shown_before_the_reveal(played: Competition, ada: User) -> None:
    close(played)
    page = screen(ada, "?show=reveal&step=3")
    assert 'data-testid="place"' not in page
    assert "/host/pets/reveal/" in page


def test_places_are_revealed_from_the_last_to_the_first(played: Competition, ada: User) -> None:
    close(played)
    boards.reveal_competition(competition=played, user=ada)

    def place(query: str) -> str:
        page = screen(ada, f"?show=reveal{query}")
        return page.partition('data-testid="place">')[2].partition("<")[0]

    assert [place(f"&step={step}") for step in range(4)] == ["", "3", "2", "1"]
    assert place("&step=99") == "1"
    assert place("&step=-1") == place("&step=x") == place("&step=٣") == ""
    first = screen(ada, "?show=reveal&step=1")
    assert ">bo</" in first
    assert ">dee<" not in first, "who won is not on the page before its turn"
    last = screen(ada, "?show=reveal&step=3")
    assert "/c/pets/leaderboard/?board=private#slope" in last
    assert "step=4" not in last


def test_the_reveal_plays_only_where_it_is_asked_to(played: Competition, ada: User) -> None:
    close(played)
    boards.reveal_competition(competition=played, user=ada)
    assert "data-plays" not in screen(ada, "?show=reveal&step=1")
    assert "data-plays" in screen(ada, "?show=reveal&step=1&play")
    assert "data-plays" not in screen(ada, "?show=reveal&step=3&play")


@pytest.fixture
def sixty(pets: Competition, ada: User) -> Competition:
    """A class of sixty whose final ranking is open."""
    for number in range(60):
        enter(pets, user := person(f"s{number:02}"))
        submit(pets, user, answers(public=number % 7, private=number % 5))
    close(pets)
    boards.reveal_competition(competition=pets, user=ada)
    return pets


def test_a_reveal_of_sixty_takes_a_minute(sixty: Competition, ada: User) -> None:
    def pause(step: int) -> int:
        page = screen(ada, f"?show=reveal&step={step}&play")
        return int(page.partition('data-plays="')[2].partition('"')[0])

    first, last = pause(1), pause(58)
    assert last > first
    assert 50_000 <= 57 * first + 3 * last <= 70_000


def test_the_top_ten_alone_can_be_revealed(sixty: Competition, ada: User) -> None:
    begin = screen(ada, "?show=reveal")
    assert "?show=reveal&amp;top" in begin
    short = screen(ada, "?show=reveal&top")
    assert "0 of 10 revealed" in short
    assert 'href="?show=reveal&amp;top&amp;step=1"' in short
    assert "10 of 10 revealed" in screen(ada, "?show=reveal&top&step=99")


def test_a_small_class_has_no_shorter_reveal(played: Competition, ada: User) -> None:
    close(played)
    boards.reveal_competition(competition=played, user=ada)
    assert "0 of 3 revealed" in screen(ada, "?show=reveal&top")
    assert "&amp;top" not in screen(ada, "?show=reveal")


def test_the_projector_is_for_those_who_run_the_class(played: Competition, bo: User) -> None:
    assert signed_in(bo).get(ADDRESS).status_code == 404
    assert Client().get(ADDRESS).status_code == 302


def test_each_screen_asks_modestly(played: Competition, ada: User, django_assert_max_num_queries: Any) -> None:
    close(played)
    boards.reveal_competition(competition=played, user=ada)
    client = signed_in(ada)
    for show in ("join", "live", "reveal&step=2"):
        with django_assert_max_num_queries(12):
            client.get(f"{ADDRESS}?show={show}")
