"""The decimals of scores: as many as a class needs, the same on every page, never fewer again."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import standings
from leaderboard.competitions.models import Competition, Submission, Team
from tests.boards.test_ranking import scored
from tests.conftest import answers, enter, submit
from tests.pages import signed_in

PAGES_OF_BO = ("leaderboard/", "leaderboard/?view=time", "submissions/", "submit/")
PAGES_OF_ADA = ("", "submissions/", "report/", "grades/", "teams/", "projector/", "pulse/")


def play(team: Team, value: float) -> Submission:
    submission: Submission = scored(team, value, at=timezone.now() - timedelta(minutes=1))
    assert team.competition.ground_truth is not None
    standings.rebuild_standings(team.competition.ground_truth)
    team.competition.refresh_from_db()
    return submission


def test_a_close_race_adds_decimals_and_its_end_takes_none_away(pets: Competition, bo: User, cy: User) -> None:
    assert pets.score_decimals == 3
    play(enter(pets, bo).team, 0.81234)
    play(enter(pets, cy).team, 0.81236)
    pets.refresh_from_db()
    assert pets.score_decimals == 4
    play(enter(pets, cy).team, 0.9)
    pets.refresh_from_db()
    assert pets.score_decimals == 4


def test_a_worker_adds_them_with_the_score(pets: Competition, bo: User, cy: User) -> None:
    play(enter(pets, bo).team, 1 - 1e-5)
    before = pets.board_version
    enter(pets, cy)
    submit(pets, cy, answers())
    pets.refresh_from_db()
    assert (pets.score_decimals, pets.board_version > before) == (5, True)


@pytest.mark.parametrize(
    ("value", "spelling"),
    [(0.8765432, "0.877"), (2950784403.98, "2,950,784,403.980"), (-0.8765432, "-0.877"), (3.7654321e-7, "3.765e-07")],
)
def test_a_score_reads_the_same_on_every_page(
    pets: Competition, ada: User, bo: User, value: float, spelling: str
) -> None:
    submission = play(enter(pets, bo).team, value)
    play(enter(pets, bo).team, value)
    pets.score_decimals = 3
    pets.save()
    pages: list[tuple[Any, str]] = [(bo, f"/c/pets/{page}") for page in PAGES_OF_BO]
    pages += [(bo, f"/c/pets/submissions/{submission.pk}/"), (bo, f"/c/pets/submit/?submission={submission.pk}")]
    pages += [(ada, f"/host/pets/{page}") for page in PAGES_OF_ADA]
    seen = 0
    for user, url in pages:
        response = signed_in(user).get(url, follow=True)
        assert response.status_code == 200, url
        text = re.sub(r"<[^>]*>", " ", response.content.decode())
        seen += spelling in text
        in_full = {repr(value)} if str(submission.pk) in url else set()
        for other in re.findall(r"(?<![\w.,])-?\d[\d,]*\.\d+(?:e[-+]\d+)?", text):
            is_score = abs(float(other.replace(",", "")) - value) <= 1e-3 * abs(value)
            assert not is_score or other in {spelling, *in_full}, (url, other)
    assert seen >= 6
