"""Scores over time: what the board showed of the first ten and of mine, and no more."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import BoardSettings, Competition, GroundTruth, Team
from leaderboard.competitions.ranking import boards, reveal, standings, team_ranks
from leaderboard.competitions.ranking.team_ranks import MOST_STEPS
from leaderboard.competitions.views.charts import BOARD_HEIGHT, FAR, board_chart
from tests.competitions.test_ranking import scored
from tests.conftest import enter, make_competition
from tests.pages import signed_in, tidy

BOARD = "/c/pets/leaderboard/"
START = datetime.fromisoformat("2026-03-01T00:00:00+00:00")


def play(team: Team, *values: float) -> Team:
    """A file an hour with these public scores."""
    for hour, value in enumerate(values):
        scored(team, value, private=0.777, at=START + timedelta(hours=hour))
    standings.rebuild_standings(GroundTruth.objects.select_related("competition").get())
    return team


def steps(competition: Competition) -> dict[str, list[float]]:
    ground_truth = GroundTruth.objects.select_related("competition").get(competition=competition)
    return {
        course.team.name: [score for _, score in course.steps] for course in team_ranks.score_histories(ground_truth)
    }


def test_only_what_became_better_is_a_step(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, 0.5, 0.4, 0.5, 0.6, 0.55, 0.9)
    assert steps(pets) == {"bo": [0.5, 0.6, 0.9]}


def test_where_lower_is_better_steps_go_down_and_the_drawing_up(ada: User, bo: User, cy: User) -> None:
    times = make_competition(ada, slug="times", metric="error_rate")
    play(enter(times, bo).team, 0.9, 0.5, 0.7, 0.2)
    play(enter(times, cy).team, 0.8, 0.6)
    assert steps(times) == {"bo": [0.9, 0.5, 0.2], "cy": [0.8, 0.6]}
    chart = board_chart(Competition.objects.select_related("ground_truth").get(), None)
    assert chart
    heights = [float(y) for y in re.findall(r"[,V]([\d.]+)", re.findall(r' d="([^"]+)"', chart.drawing)[0])]
    assert heights == sorted(heights, reverse=True)
    assert (chart.top, chart.bottom) == ("0.20000", "0.90000")


def test_a_steady_board_has_no_more_steps_than_it_showed_and_a_hidden_one_none(pets: Competition, bo: User) -> None:
    BoardSettings.objects.update(mode="steady", step=0.1)
    play(enter(pets, bo).team, 0.52, 0.58, 0.66, 0.71)
    assert steps(pets) == {"bo": [0.5, 0.6, 0.7]}
    BoardSettings.objects.update(mode="hidden")
    assert steps(pets) == {}
    assert "over-time" not in signed_in(bo).get(BOARD).content.decode()


def test_a_long_climb_keeps_its_first_and_newest_steps(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, *(number / 100 for number in range(60)))
    found = steps(pets)["bo"]
    assert len(found) == MOST_STEPS
    assert (found[0], found[1], found[-1]) == (0.0, 0.41, 0.59)


def test_my_line_is_there_behind_ten_others_for_me_alone(pets: Competition, bo: User, cy: User) -> None:
    for number in range(11):
        play(Team.objects.create(competition=pets, name=f"better {number}"), 0.8, 0.9 + number / 1000)
    play(enter(pets, bo).team, 0.3, 0.4)
    enter(pets, cy)
    mine, hers = (signed_in(who).get(BOARD).content.decode() for who in (bo, cy))
    assert mine.count('class="line-11 line-mine"') == 2
    assert "line-mine" not in hers
    assert "line-11" not in hers
    legend = tidy(hers[hers.index('class="legend"') : hers.index("The same as a table")])
    assert "better 10" in legend
    assert "better 0<" not in legend
    assert "0.77700" not in mine + hers


def test_it_stands_under_the_first_page_alone(pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Further pages are read for their rows, and page 99 is the last one."""
    monkeypatch.setattr(boards, "PAGE_SIZE", 2)
    for name in "abc":
        play(Team.objects.create(competition=pets, name=name), 0.8, 0.9)
    enter(pets, bo)
    his = signed_in(bo)
    found = {page: his.get(f"{BOARD}?page={page}").content.decode() for page in (1, 2, 99)}
    assert ["over-time" in found[page] for page in found] == [True, False, False]
    assert "Page 2 of 2" in found[99]


def test_the_table_has_every_step_of_the_drawing(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, 0.5, 0.6, 0.55, 0.9)
    text = signed_in(bo).get(BOARD).content.decode()
    table = text[text.index("The same as a table") :]
    assert [table.count(f"0.{digit}0000") for digit in (5, 6, 9)] == [1, 1, 1]
    assert "0.55000" not in table


@pytest.mark.parametrize("values", [(0.5,), (-1e308, 1e308), (0.5, 0.5), (0.1, 0.2)])
def test_drawings_stay_finite(pets: Competition, bo: User, values: tuple[float, ...]) -> None:
    play(enter(pets, bo).team, *values)
    chart = board_chart(Competition.objects.select_related("ground_truth").get(), None)
    drawing = chart.drawing if chart else ""
    assert "nan" not in drawing
    assert "inf" not in drawing


def test_an_early_slip_does_not_flatten_the_field(pets: Competition, bo: User, cy: User) -> None:
    play(enter(pets, bo).team, 0.01, 0.9)
    play(enter(pets, cy).team, 0.8, 0.88)
    chart = board_chart(Competition.objects.select_related("ground_truth").get(), None)
    assert chart
    assert chart.bottom == "0.85000"
    heights = [float(y) for y in re.findall(r"[,V]([\d.]+)", chart.drawing)]
    assert BOARD_HEIGHT < max(heights) <= FAR * BOARD_HEIGHT


def test_the_private_board_has_no_chart(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, 0.5, 0.6)
    reveal.reveal_private_board(pets, timezone.now())
    assert "over-time" not in signed_in(bo).get(BOARD + "?board=private").content.decode()
    assert "over-time" in signed_in(bo).get(BOARD + "?board=public").content.decode()
