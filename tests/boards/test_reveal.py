"""After the reveal everybody reads who rose and who fell, and each team what it should have picked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.boards import services as boards
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from tests.conftest import answers, close, enter, make_competition, person, submit
from tests.pages import drawing_of, signed_in

BOARD = "/c/pets/leaderboard/"


@pytest.fixture
def ended(ada: User, bo: User, cy: User) -> Competition:
    """Cy leads the public board, Bo the private one, and the deadline has passed."""
    pets = make_competition(ada, is_listed=True)
    for who, public, private in ((bo, 1, 0), (cy, 0, 2)):
        enter(pets, who)
        submit(pets, who, answers(public=public, private=private))
    close(pets)
    return pets


def moves(client: Client, query: str = "") -> str:
    """The drawing of who rose and who fell; "" where there is none."""
    page = client.get(BOARD + query).content.decode()
    return drawing_of(page, "slopes") if 'class="chart slopes"' in page else ""


def test_below_the_final_board_a_stranger_reads_who_rose_and_who_fell(client: Client, ended: Competition) -> None:
    assert moves(client) == ""
    boards.reveal_competition(competition=ended)
    drawn = moves(client)
    assert "bo: 2 → 1" in drawn
    assert "cy: 1 → 2" in drawn
    assert "mine" not in drawn
    assert moves(client, "?board=public") == moves(client, "?q=bo") == ""


def test_bo_finds_himself(ended: Competition, bo: User) -> None:
    boards.reveal_competition(competition=ended)
    assert 'class="slope mine"' in moves(signed_in(bo))


def test_under_pseudonyms_the_drawing_names_nobody(client: Client, ended: Competition, ada: User) -> None:
    competitions.change_competition(competition=ended, uses_pseudonyms=True)
    boards.reveal_competition(competition=ended)
    for reader in (client, signed_in(ada)):
        assert f"{ended.teams.get(name='bo').pseudonym}: 2 → 1" in moves(reader)
        assert ">bo<" not in moves(reader)


def test_of_a_large_class_the_first_and_oneself_are_drawn(client: Client, ada: User) -> None:
    pets = make_competition(ada, is_listed=True)
    for number in range(25):
        enter(pets, user := person(f"p{number}"))
        submit(pets, user, answers(public=number % 5, private=number // 5))
    close(pets)
    boards.reveal_competition(competition=pets)
    assert moves(client).count('class="slope ') == 20
    assert moves(signed_in(user)).count('class="slope ') == 21


def test_missed_final_says_what_bo_should_have_picked(
    pets: Competition, bo: User, cy: User, work: Callable[[], int]
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    better = submit(pets, bo, answers(public=3, private=0))
    for public in (1, 2):
        submit(pets, bo, answers(public=public, private=3))
    submit(pets, cy, answers(public=0, private=1))
    assert pets.ground_truth
    pets.ground_truth.competition = pets
    assert reveal.best_possible_final(team, pets.ground_truth) is None
    close(pets)
    boards.reveal_competition(competition=pets)
    found = reveal.best_possible_final(team, pets.ground_truth)
    assert found is not None
    assert (found.best.submission_id, found.best.value, found.rank) == (better.pk, 1.0, 1)
    assert found.decided.value == 0.5
    assert not found.picked_the_best
    other = reveal.best_possible_final(cy.memberships.get().team, pets.ground_truth)
    assert other is not None
    assert other.picked_the_best
