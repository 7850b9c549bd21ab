"""Scores over time: what the board showed of the first ten and of mine, and no more."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal, standings, team_ranks
from leaderboard.boards import services as boards_service
from leaderboard.boards.team_ranks import MAX_STEPS
from leaderboard.competitions.models import BoardSettings, Competition, GroundTruth, Team
from leaderboard.submissions import score
from tests.boards.test_ranking import scored
from tests.conftest import answers, enter, make_competition, person, submit
from tests.pages import drawing_of, signed_in

BOARD = "/c/pets/leaderboard/"
TIME = f"{BOARD}?view=time"
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


def test_where_lower_is_better_steps_and_their_drawing_go_down(ada: User, bo: User, cy: User) -> None:
    times = make_competition(ada, slug="times", metric="error_rate")
    play(enter(times, bo).team, 0.9, 0.5, 0.7, 0.2)
    play(enter(times, cy).team, 0.8, 0.6)
    assert steps(times) == {"bo": [0.9, 0.5, 0.2], "cy": [0.8, 0.6]}
    drawn = signed_in(bo).get("/c/times/leaderboard/?view=time").content.decode()
    heights = [float(y) for y in re.findall(r"V([\d.]+)", drawn[drawn.index("step mine") :].partition("</path>")[0])]
    assert len(heights) == 3
    assert heights == sorted(heights)


def test_a_hidden_board_has_no_steps(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, 0.52, 0.58, 0.66, 0.71)
    assert steps(pets)
    BoardSettings.objects.update(hides_scores=True)
    assert steps(pets) == {}
    assert 'class="chart' not in signed_in(bo).get(TIME).content.decode()


def test_a_long_climb_keeps_its_first_and_newest_steps(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, *(number / 100 for number in range(60)))
    found = steps(pets)["bo"]
    assert len(found) == MAX_STEPS
    assert (found[0], found[1], found[-1]) == (0.0, 0.41, 0.59)


def test_my_line_is_there_behind_ten_others_for_me_alone(pets: Competition, bo: User, cy: User) -> None:
    for number in range(11):
        play(Team.objects.create(competition=pets, name=f"better {number}"), 0.8, 0.9 + number / 1000)
    play(enter(pets, bo).team, 0.3, 0.4)
    enter(pets, cy)
    mine, hers = (signed_in(who).get(TIME).content.decode() for who in (bo, cy))
    assert drawing_of(mine, "race").count('class="step mine"') == 1
    assert "step mine" not in hers
    assert drawing_of(hers, "race").count('class="step') == 10
    assert "better 10" in hers
    assert "better 0<" not in hers
    assert "0.777" not in mine + hers


def test_the_table_stands_alone_and_each_chart_is_a_view(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, 0.5, 0.6, 0.55, 0.9)
    his = signed_in(bo)
    found = {
        view: his.get(f"{BOARD}?view={view}").content.decode() for view in ("", "time", "distribution", "nonsense")
    }
    assert ['id="board"' in found[view] for view in found] == [True, False, False, True]
    assert ['id="over-time"' in found[view] for view in found] == [False, True, False, False]
    assert ['id="distribution"' in found[view] for view in found] == [False, False, True, False]


def test_the_table_has_every_step_of_the_drawing(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, 0.5, 0.6, 0.55, 0.9)
    text = signed_in(bo).get(TIME).content.decode()
    table = text[text.index("<tbody>") : text.index("</tbody>")]
    assert [table.count(f"0.{digit}00") for digit in (5, 6, 9)] == [1, 1, 1]
    assert "0.550" not in table


def test_early_slips_do_not_flatten_the_field(pets: Competition, bo: User, cy: User) -> None:
    play(enter(pets, bo).team, 0.01, 0.9)
    play(enter(pets, cy).team, 0.8, 0.88)
    drawn = drawing_of(signed_in(bo).get(TIME).content.decode(), "race")
    assert ">0.84<" in drawn
    assert ">0.10<" not in drawn


def test_the_private_board_has_no_course(pets: Competition, bo: User) -> None:
    play(enter(pets, bo).team, 0.5, 0.6)
    reveal.reveal_private_board(pets, timezone.now())
    for board in ("private", "public"):
        assert "0.777" not in signed_in(bo).get(f"{TIME}&board={board}").content.decode()


@pytest.mark.parametrize("view", ["time", "distribution"])
def test_no_chart_tells_private_scores_before_the_reveal(pets: Competition, bo: User, view: str) -> None:
    play(enter(pets, bo).team, 0.5, 0.6)
    text = signed_in(bo).get(f"{BOARD}?board=private&view={view}").content.decode()
    assert "0.777" not in text
    assert 'class="chart' not in text


def test_the_distribution_marks_my_bar_and_the_baselines(pets: Competition, ada: User, bo: User, cy: User) -> None:
    for number, user in enumerate((bo, cy, *(person(f"friend{n}") for n in range(3)))):
        enter(pets, user)
        submit(pets, user, answers(public=number % 3 + 1))
    file = boards_service.add_baseline(
        competition=pets, user=ada, name="Guess <b>", file_name="g.csv", chunks=[answers(public=2)]
    )
    score.score_one(file.pk)
    text = signed_in(bo).get(f"{BOARD}?view=distribution").content.decode()
    drawn = drawing_of(text, "histogram")
    assert drawn.count("bar mine") == 1
    assert "Guess &lt;b&gt;" in drawn
    assert "bar mine" not in signed_in(ada).get(f"{BOARD}?view=distribution").content.decode()


def test_a_hidden_board_has_no_distribution(pets: Competition, bo: User) -> None:
    BoardSettings.objects.update(hides_scores=True)
    play(enter(pets, bo).team, 0.523)
    text = signed_in(bo).get(f"{BOARD}?view=distribution").content.decode()
    assert "0.523" not in text
    assert 'class="chart' not in text


@pytest.mark.parametrize("view", ["time", "distribution"])
def test_the_charts_are_cheap(pets: Competition, bo: User, view: str) -> None:
    for number in range(12):
        play(Team.objects.create(competition=pets, name=f"team {number}"), 0.8, 0.9)
    enter(pets, bo)
    his = signed_in(bo)
    his.get(BOARD)
    with CaptureQueriesContext(connection) as queries:
        his.get(f"{BOARD}?view={view}")
    assert len(queries) <= 12
