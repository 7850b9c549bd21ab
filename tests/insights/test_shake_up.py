"""After the reveal everybody reads who rose, who fell and why; before it nobody reads anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards as boards_module
from leaderboard.competitions.ranking import shake_up
from leaderboard.competitions.ranking.shake_up import _reason
from leaderboard.competitions.services import boards, competitions
from leaderboard.insights import report
from tests.conftest import answers, close, enter, hand_in, make_competition, person
from tests.pages import drawing_of, signed_in, text_of

PAGE = "/c/pets/shake-up/"


@pytest.fixture
def ended(ada: User, bo: User, cy: User) -> Competition:
    """Cy leads the public board, Bo the private one, and the deadline has passed."""
    pets = make_competition(ada, is_listed=True)
    for who, public, private in ((bo, 1, 0), (cy, 0, 2)):
        enter(pets, who)
        hand_in(pets, who, answers(public=public, private=private))
    close(pets)
    return pets


def test_the_shake_up_and_the_report_count_files_as_the_board_does(
    ended: Competition, ada: User, bo: User, cy: User
) -> None:
    """Bo's second file is hidden and Cy's came late: neither could have been chosen for its public score."""
    ended = competitions.change_competition(
        competition=ended, user=ada, closes_at=timezone.now() + timedelta(hours=1), allows_late=True
    )
    competitions.hide_submission(submission=hand_in(ended, bo, answers(public=2)), user=ada, reason="Made by hand")
    hand_in(ended, bo, b"nonsense")
    close(ended)
    assert hand_in(ended, cy, answers()).is_late
    boards.reveal_competition(competition=ended)
    board = boards_module.board_page(ended, Split.PRIVATE, page=1, at=timezone.now())
    found = shake_up.shake_up_of(ended)
    assert found is not None
    assert board is not None
    on_the_board = {row.team_id: row.submission_count for row in board.rows}
    assert {one.team_id: one.files for one in found.teams} == on_the_board
    assert set(on_the_board.values()) == {1}
    assert {one.name: (one.files, one.scored, one.invalid) for one in report.class_report(ended).teams} == {
        "bo": (3, 1, 1),
        "cy": (2, 1, 0),
    }


def plain(part: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", part).split())


def moved_most(client: Client) -> tuple[str, str]:
    """Whom the page names for the biggest climb and the biggest fall."""
    page = client.get(PAGE).content.decode()
    climb, fall = re.findall(r'data-testid="biggest-\w+">.*?</dt>(.*?)</div>', page, re.DOTALL)
    return plain(climb), plain(fall)


@pytest.mark.parametrize("is_host", [True, False])
def test_before_the_reveal_the_page_leads_to_the_board(ended: Competition, ada: User, bo: User, is_host: bool) -> None:
    response = signed_in(ada if is_host else bo).get(PAGE)
    assert (response.status_code, response["Location"]) == (302, "/c/pets/leaderboard/")


def test_after_the_reveal_a_stranger_reads_who_rose_and_who_fell(client: Client, ended: Competition) -> None:
    boards.reveal_competition(competition=ended)
    text = text_of(client.get(PAGE))
    assert moved_most(client) == ("▲1 up 1 rank bo", "▼1 down 1 rank cy")
    assert "2 of 2 teams" in text
    assert "0.66667" in text  # Cy's private score
    page = client.get(PAGE).content.decode()
    assert "cy: 1 → 2" in page
    assert 'class="you"' not in page


def test_with_pseudonyms_ada_reads_whose_they_are_and_nobody_else_does(
    client: Client, ended: Competition, ada: User, cy: User
) -> None:
    boards.reveal_competition(competition=ended)
    competitions.change_competition(competition=ended, uses_pseudonyms=True)
    shown = ended.teams.get(name="bo").pseudonym
    assert moved_most(signed_in(ada))[0] == f"▲1 up 1 rank {shown} (bo)"
    for reader in (client, signed_in(cy)):
        assert moved_most(reader)[0] == f"▲1 up 1 rank {shown}"


def test_bo_finds_himself(ended: Competition, bo: User) -> None:
    boards.reveal_competition(competition=ended)
    page = signed_in(bo).get(PAGE).content.decode()
    assert '<tr class="mine">' in page
    assert 'class="slope mine"' in page


def test_the_board_and_the_overview_lead_there_after_the_reveal_alone(client: Client, ended: Competition) -> None:
    for path in ("/c/pets/", "/c/pets/leaderboard/"):
        assert PAGE not in client.get(path).content.decode()
    boards.reveal_competition(competition=ended)
    for path in ("/c/pets/", "/c/pets/leaderboard/"):
        assert PAGE in client.get(path).content.decode()


def test_nobody_on_the_boards_is_no_shake_up(client: Client, ada: User) -> None:
    pets = make_competition(ada, is_listed=True)
    close(pets)
    boards.reveal_competition(competition=pets)
    assert client.get(PAGE).status_code == 302


def test_an_order_that_stays_is_said(client: Client, ended: Competition) -> None:
    Submission.objects.filter(user__username="cy").delete()
    boards.reveal_competition(competition=ended)
    assert "0 of 1 teams" in text_of(client.get(PAGE))


def test_a_large_class_costs_no_more_queries(client: Client, ada: User) -> None:
    pets = make_competition(ada, is_listed=True)
    for number in range(25):
        enter(pets, user := person(f"p{number}"))
        hand_in(pets, user, answers(public=number % 5, private=number % 4))
    close(pets)
    boards.reveal_competition(competition=pets)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(PAGE).content.decode()
    assert len(queries) <= 12
    assert drawing_of(page, "slopes").count('class="slope ') == page.count('<th scope="row" class="break">') == 20


@pytest.mark.parametrize(
    ("beyond", "noise", "has_many", "reason"),
    [
        (0.05, 0.03, True, "chance"),
        (-0.05, 0.03, False, "chance"),
        (0.07, 0.03, True, "many_files"),
        (0.07, 0.03, False, "fitted"),
        (-0.07, 0.03, True, "held"),
        (0.07, None, True, "unknown"),
    ],
)
def test_what_a_fall_is_put_down_to(beyond: float, noise: float | None, has_many: bool, reason: str) -> None:
    assert _reason(beyond, noise, has_many=has_many) == reason


def test_both_splits_uncertainties_make_the_noise(ended: Competition) -> None:
    Score.objects.filter(split="public").update(standard_error=0.03)
    Score.objects.filter(split="private").update(standard_error=0.04)
    boards.reveal_competition(competition=ended)
    found = shake_up.shake_up_of(ended)
    assert found is not None
    assert [team.noise for team in found.teams] == pytest.approx([0.05, 0.05])
    assert [team.beyond for team in found.teams] == pytest.approx([-0.25, 0.25])
    assert [team.reason for team in found.teams] == ["held", "fitted"]
    assert found.beyond_chance == 2


def test_missed_final_says_what_bo_should_have_picked(
    pets: Competition, bo: User, cy: User, work: Callable[[], int]
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    better = hand_in(pets, bo, answers(public=3, private=0))
    for public in (1, 2):
        hand_in(pets, bo, answers(public=public, private=3))
    hand_in(pets, cy, answers(public=0, private=1))
    assert pets.ground_truth
    pets.ground_truth.competition = pets
    assert shake_up.missed_final(team, pets.ground_truth) is None
    close(pets)
    boards.reveal_competition(competition=pets)
    found = shake_up.missed_final(team, pets.ground_truth)
    assert found is not None
    assert (found.best.submission_id, found.best.value, found.rank) == (better.pk, 1.0, 1)
    assert found.decided.value == 0.5
    assert not found.picked_the_best
    other = shake_up.missed_final(cy.memberships.get().team, pets.ground_truth)
    assert other is not None
    assert other.picked_the_best
