"""Who gets what from the API: every operation × everybody, before and after the reveal."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards import reveal
from leaderboard.competitions.models import Admission, Competition, Submission
from tests.conftest import answers, close, make_competition, submit
from tests.pages import signed_in

from .conftest import Program

PEOPLE = ("nobody", "dee", "otto", "cy", "mate", "bo", "ada", "olga")
MATRIX = {
    "competitions": (401, 200, 200, 200, 200, 200, 200, 200),
    "competitions/pets": (401, 404, 404, 200, 200, 200, 200, 200),
    "competitions/pets/leaderboard": (401, 404, 404, 200, 200, 200, 200, 200),
    "competitions/pets/leaderboard?board=private": (401, 404, 404, 403, 403, 403, 200, 200),
    "competitions/pets/submissions": (401, 404, 404, 200, 200, 200, 200, 200),
    "submissions/{bos}": (401, 404, 404, 404, 200, 200, 200, 200),
}


@pytest.mark.parametrize("path", MATRIX)
def test_everybody_gets_what_is_theirs(programs: dict[str, Program], bos: Submission, path: str) -> None:
    for who, status in zip(PEOPLE, MATRIX[path], strict=True):
        got, output = programs[who].get(path.format(bos=bos.pk))
        assert got == status, (who, output)
        if status >= 400:
            assert output.keys() == {"detail", "errors"}
            assert output["detail"]


@pytest.mark.parametrize(
    ("who", "status"),
    list(zip(PEOPLE, (401, 404, 404, 201, 201, 201, 403, 403), strict=True)),
)
def test_only_members_hand_in(programs: dict[str, Program], who: str, status: int) -> None:
    got, output = programs[who].submit(answers())
    assert got == status, output


def test_the_private_board_opens_to_members_with_the_reveal_and_to_strangers_never(
    programs: dict[str, Program], pets: Competition, bos: Submission
) -> None:
    close(pets)
    for who in ("bo", "cy", "mate"):
        assert programs[who].get("competitions/pets/leaderboard?board=private")[0] == 403
        assert programs["bo"].get(f"submissions/{bos.pk}")[1]["private_score"] is None
    reveal.reveal_private_board(pets, timezone.now())
    for who in ("bo", "cy", "mate"):
        status, board = programs[who].get("competitions/pets/leaderboard?board=private")
        assert status == 200
        assert [(row["rank"], row["team"], row["score"]) for row in board["items"]] == [(1, "bo", 4 / 6)]
    assert programs["mate"].get(f"submissions/{bos.pk}")[1]["private_score"] == 4 / 6
    assert programs["dee"].get("competitions/pets/leaderboard?board=private")[0] == 404


def test_a_private_score_is_in_no_answer_to_a_student_before_the_reveal(
    pets: Competition, programs: dict[str, Program], bos: Submission
) -> None:
    canary = "0.123456789"
    bos.scores.filter(split="private").update(value=float(canary))
    paths = [path.format(bos=bos.pk) for path in MATRIX]
    for who in ("nobody", "dee", "otto", "cy", "mate", "bo"):
        for path in paths:
            assert canary not in str(programs[who].get(path)[1])
    assert canary in str(programs["ada"].get(f"submissions/{bos.pk}")[1])
    assert canary in str(programs["ada"].get("competitions/pets/submissions")[1])


def test_cy_lists_only_the_files_of_her_own_team(programs: dict[str, Program], pets: Competition, cy: User) -> None:
    assert programs["cy"].get("competitions/pets/submissions")[1]["items"] == []
    hers = submit(pets, cy, answers())
    items = programs["cy"].get("competitions/pets/submissions")[1]["items"]
    assert [item["id"] for item in items] == [str(hers.pk)]
    assert programs["ada"].get("competitions/pets/submissions")[1]["total"] == 2


def test_a_host_does_not_see_the_competitions_of_another_host(
    programs: dict[str, Program], otto: User, pets: Competition
) -> None:
    make_competition(otto, slug="birds", title="Birds")
    assert [item["slug"] for item in programs["otto"].get("competitions")[1]["items"]] == ["birds"]
    assert [item["slug"] for item in programs["ada"].get("competitions")[1]["items"]] == ["pets"]


def test_a_draft_is_for_its_hosts_alone(programs: dict[str, Program], otto: User) -> None:
    make_competition(otto, slug="draft", title="Draft", launched=False, is_listed=True)
    status, output = programs["otto"].get("competitions/draft")
    assert (status, output["state"]) == (200, "draft")
    assert programs["dee"].get("competitions/draft")[0] == 404
    assert programs["otto"].submit(answers(), "draft")[0] == 409


def test_dee_reads_a_listed_competition_and_its_board_but_no_submissions(
    programs: dict[str, Program], pets: Competition
) -> None:
    Admission.objects.update(is_listed=True)
    assert programs["dee"].get("competitions/pets")[0] == 200
    assert programs["dee"].get("competitions/pets/leaderboard")[0] == 200
    assert programs["dee"].get("competitions/pets/submissions")[0] == 404
    status, output = programs["dee"].submit(answers())
    assert (status, output["errors"][0]["code"]) == (403, "not_joined")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer lb_wrong",
        "Basic YWRhOmNvcnJlY3Q=",
        "Token x",
        "Bearer é",
        "bearer " + "x" * 5000,
    ],
)
def test_a_broken_token_opens_nothing(pets: Competition, header: str) -> None:
    response = Client().get("/api/v1/competitions", headers={"Authorization": header})
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response.json()["errors"] == []


def test_a_session_is_not_a_token(bo: User, pets: Competition) -> None:
    client = signed_in(bo)
    assert client.get("/api/v1/competitions").status_code == 401


def test_a_revoked_token_and_a_closed_account_open_nothing(bo: User, pets: Competition) -> None:
    program = Program(bo)
    assert program.get("competitions")[0] == 200
    User.objects.filter(pk=bo.pk).update(is_active=False)
    assert program.get("competitions")[0] == 401
    User.objects.filter(pk=bo.pk).update(is_active=True)
    ApiToken.objects.all().delete()
    assert program.get("competitions")[0] == 401


def test_answers_are_kept_by_no_cache_on_the_way(bo: User, pets: Competition) -> None:
    program = Program(bo)
    response = program.client.get("/api/v1/competitions", headers=program.headers)
    assert response["Cache-Control"] == "private, no-store"
    assert "Authorization" in response["Vary"]


@pytest.mark.parametrize("path", ["nothing", "competitions/a%0Ab/leaderboard", "competitions/pets%0A"])
def test_an_address_that_leads_nowhere_says_so_in_json(client: Client, db: None, path: str) -> None:
    response = client.get(f"/api/v1/{path}")
    assert response.status_code == 404
    assert response["Content-Type"].startswith("application/json")
    assert response.json()
