"""Which neighbours of a board chance alone may have put in their order."""

from __future__ import annotations

import numpy as np
import pytest
from django.utils import timezone

from leaderboard.competitions.models import (
    BoardSettings,
    Competition,
    GroundTruth,
    Score,
    Submission,
    Team,
    Uncertainty,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards, standings
from tests.competitions.test_ranking import scored, teams

NOISE = np.random.default_rng(11).normal(size=(400, 200))


def with_uncertainties(submission: Submission, seed: int, error: float = 0.01, split: Split = Split.PUBLIC) -> None:
    """Give a score the uncertainty of resamples of its own, with this standard error."""
    score = Score.objects.get(submission=submission, split=split)
    drawn = (NOISE[seed] - NOISE[seed].mean()) / NOISE[seed].std(ddof=1) * error
    Uncertainty.objects.create(
        score=score,
        standard_error=error,
        low=score.value - 2 * error,
        high=score.value + 2 * error,
        replicates=(score.value + drawn).astype("<f8").tobytes(),
    )


def standing(competition: Competition, values: list[float], *, without: tuple[int, ...] = ()) -> list[Team]:
    made = teams(competition, *(f"t{number}" for number in range(len(values))))
    for number, (team, value) in enumerate(zip(made, values, strict=True)):
        submission = scored(team, value)
        if number not in without:
            with_uncertainties(submission, number)
    competition.refresh_from_db()
    standings.rebuild_standings(GroundTruth.objects.get())
    return made


def ties(competition: Competition, page: int = 1) -> list[tuple[str, int | None]]:
    found = boards.board_page(competition, Split.PUBLIC, page=page, at=timezone.now())
    return [(row.name, row.uncertainty.tied_from if row.uncertainty else None) for row in found.rows]


def test_who_is_a_hair_behind_is_not_distinguishable_and_who_is_far_behind_is(pets: Competition) -> None:
    standing(pets, [0.9, 0.895, 0.7, 0.699])
    assert ties(pets) == [("t0", None), ("t1", 1), ("t2", None), ("t3", 3)]


def test_the_run_upwards_ends_at_the_first_who_is_clearly_better(pets: Competition) -> None:
    """0.90 against 0.86 is clear at standard errors of 0.01, each step of 0.02 between them is not."""
    standing(pets, [0.90, 0.88, 0.86, 0.84])
    assert ties(pets) == [("t0", None), ("t1", 1), ("t2", 2), ("t3", 3)]


def test_nothing_is_said_of_a_score_without_an_uncertainty_nor_through_it(pets: Competition) -> None:
    standing(pets, [0.9, 0.899, 0.898], without=(1,))
    assert ties(pets) == [("t0", None), ("t1", None), ("t2", None)]


def test_a_hidden_board_says_nothing_that_follows_from_scores(pets: Competition) -> None:
    BoardSettings.objects.update(hides_scores=True)
    standing(pets, [0.9, 0.899])
    assert [tied for _, tied in ties(pets)] == [None, None]
    found = boards.board_page(pets, Split.PUBLIC, at=timezone.now())
    assert [row.uncertainty for row in found.rows] == [None, None]


def test_a_tie_goes_on_from_the_page_before(pets: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "PAGE_SIZE", 2)
    standing(pets, [0.9, 0.895, 0.894, 0.7])
    assert ties(pets, page=2) == [("t2", 1), ("t3", None)]


def test_a_private_uncertainty_is_no_part_of_the_public_board(pets: Competition) -> None:
    first, second = teams(pets, "a", "b")
    for number, team in enumerate((first, second)):
        with_uncertainties(scored(team, 0.9 - number / 1000), number, split=Split.PRIVATE)
    pets.refresh_from_db()
    standings.rebuild_standings(GroundTruth.objects.get())
    assert [row.uncertainty for row in boards.board_page(pets, Split.PUBLIC, at=timezone.now()).rows] == [None, None]
