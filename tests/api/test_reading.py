"""Competitions, boards, pages, and the document that describes them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal, standings
from leaderboard.boards import services as boards
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Score, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.submissions import score
from tests.conftest import answers, close, enter, submit

from .conftest import Program


def test_bo_reads_what_the_competition_asks(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    status, output = Program(bo).get("competitions/pets")
    assert status == 200
    assert (output["title"], output["state"], output["metric"]) == ("Cats or dogs", "live", "accuracy")
    assert output["scored_by"]["direction"] == "maximize"
    assert output["submission_columns"] == ["id", "label"]
    assert (output["public_share"], output["teams"], output["is_member"], output["is_host"]) == (0.5, 1, True, False)
    assert (output["daily_attempts"], output["attempts_left"]) == (5, 5)


def test_no_answer_names_the_join_code_or_a_file_of_the_house(pets: Competition, bo: User, ada: User) -> None:
    enter(pets, bo)
    bos = submit(pets, bo, answers())
    program = Program(bo)
    for path in ("competitions", "competitions/pets", f"submissions/{bos.pk}", "competitions/pets/leaderboard"):
        output = str(program.get(path)[1])
        assert pets.admission.join_code not in output
        assert bos.file_key not in output
        assert "Public" not in output


def test_the_board_holds_teams_in_order_and_baselines_between_them(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    for user, wrong in ((bo, 0), (cy, 3)):
        enter(pets, user)
        submit(pets, user, answers(public=wrong))
    baseline = boards.add_baseline(
        competition=pets, user=ada, name="one wrong", file_name="b.csv", chunks=[answers(public=1)]
    )
    score.score_one(baseline.pk)
    _, board = Program(bo).get("competitions/pets/leaderboard")
    assert [(row["rank"], row["team"], row["is_baseline"]) for row in board["items"]] == [
        (1, "bo", False),
        (None, "one wrong", True),
        (2, "cy", False),
    ]
    assert (board["total"], board["page"], board["pages"], board["ground_truth"]) == (2, 1, 1, 1)


def test_a_board_comes_in_pages_of_a_hundred(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    fill(pets, 120)
    program = Program(bo)
    _, first = program.get("competitions/pets/leaderboard")
    _, second = program.get("competitions/pets/leaderboard", page=2)
    assert (len(first["items"]), len(second["items"]), first["pages"]) == (100, 20, 2)
    assert second["items"][0]["rank"] == 101
    status, output = program.get("competitions/pets/leaderboard", page=3)
    assert (status, output["detail"]) == (404, "This board has 2 page(s).")


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "99999999999999999999", ""])
@pytest.mark.parametrize("path", ["competitions", "competitions/pets/leaderboard", "competitions/pets/submissions"])
def test_a_page_that_cannot_be_is_refused_by_name(pets: Competition, ada: User, path: str, number: str) -> None:
    status, output = Program(ada).get(path, page=number)
    assert status == 422
    assert output["errors"][0]["column"] == "page"


@pytest.mark.parametrize("board", ["", "both", "score__private", "PRIVATE"])
def test_there_are_two_boards(pets: Competition, ada: User, board: str) -> None:
    assert Program(ada).get("competitions/pets/leaderboard", board=board)[0] == 422


def test_unknown_parameters_change_nothing(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    plain = Program(bo).get("competitions/pets/leaderboard")
    odd = Program(bo).get("competitions/pets/leaderboard", ordering="-score__private", fields="*", format="csv")
    assert plain == odd


def test_a_competition_without_a_ground_truth_has_no_board(ada: User) -> None:
    now = timezone.now()
    competitions.create_competition(
        user=ada, slug="bare", title="Bare", opens_at=now, closes_at=now + timedelta(days=1)
    )
    assert Program(ada).get("competitions/bare/leaderboard")[0] == 409
    assert Program(ada).get("competitions/bare")[1]["scored_by"] is None


def test_after_the_reveal_the_private_board_says_who_moved(pets: Competition, bo: User, cy: User) -> None:
    for user, wrong in ((bo, {"private": 3}), (cy, {"public": 1})):
        enter(pets, user)
        submit(pets, user, answers(**wrong))
    close(pets)
    reveal.reveal_private_board(pets, timezone.now())
    _, board = Program(bo).get("competitions/pets/leaderboard", board="private")
    assert [(row["team"], row["movement"]) for row in board["items"]] == [("cy", 1), ("bo", -1)]


@pytest.mark.parametrize("path", ["", "x", "competitions/", "competitions/a b", "submissions/7", "submissions/x/y"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_unknown_address_answers_in_the_same_shape(db: None, path: str, method: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)(f"/api/v1/{path}")
    assert response.status_code == 404
    assert response.json().keys() == {"detail", "errors"}


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "head", "trace"])
def test_a_method_that_is_not_allowed_answers_in_the_same_shape(db: None, method: str) -> None:
    response = getattr(Client(), method)("/api/v1/competitions")
    assert response.status_code == 405
    assert set(response["Allow"].split(", ")) == {"GET", "POST"}
    if method != "head":
        assert response.json()["errors"] == []


def test_the_page_for_people_names_every_operation(client: Client, db: None) -> None:
    document = client.get("/api/v1/openapi.json").json()
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    text = page.content.decode()
    for path, methods in document["paths"].items():
        assert path in text
        for details in methods.values():
            assert f'id="{details["operationId"]}"' in text
    assert "http" not in "".join(part.split(">")[0] for part in text.split("<script")[1:])


def test_every_operation_declares_who_is_turned_away(client: Client, db: None) -> None:
    document = client.get("/api/v1/openapi.json").json()
    operations = [details for methods in document["paths"].values() for details in methods.values()]
    assert len(operations) >= 10
    for details in operations:
        assert details["security"] == [{"Token": []}]
        assert {"401", "500"} <= details["responses"].keys()


def test_a_page_of_the_board_asks_a_fixed_number_of_questions(
    pets: Competition, bo: User, django_assert_max_num_queries: object
) -> None:
    enter(pets, bo)
    fill(pets, 110)
    program = Program(bo)
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        assert len(program.get("competitions/pets/leaderboard")[1]["items"]) == 100
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        program.get("competitions")


def test_a_list_of_submissions_asks_a_fixed_number_of_questions(
    pets: Competition, ada: User, django_assert_max_num_queries: object
) -> None:
    fill(pets, 110)
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert len(Program(ada).get("competitions/pets/submissions")[1]["items"]) == 100


def fill(competition: Competition, number: int) -> None:
    """Teams with one score each."""
    ground_truth = competition.ground_truth
    assert ground_truth is not None
    now = timezone.now()
    for index in range(number):
        team = Team.objects.create(competition=competition, name=f"team {index:03}")
        submission = Submission.objects.create(
            competition=competition,
            team=team,
            file_name="x.csv",
            file_key="x",
            sha256="0" * 64,
            size=1,
            received_at=now + timedelta(microseconds=index),
            finished_at=now,
            status="scored",
            upload_key=str(index),
        )
        for split in Split:
            Score.objects.create(submission=submission, ground_truth=ground_truth, split=split, value=1 / (index + 1))
    standings.rebuild_standings(ground_truth)
