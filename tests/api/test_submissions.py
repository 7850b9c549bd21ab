"""Handing in and reading back with a program."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

import metrics
from leaderboard.accounts.models import User
from leaderboard.classroom import joining, teams
from leaderboard.competitions.models import Competition, Membership, Submission
from leaderboard.submissions import score, submitting
from tests.conftest import answers, enter, submit

from .conftest import Program


@pytest.fixture
def bos_program(pets: Competition, bo: User) -> Program:
    enter(pets, bo)
    return Program(bo)


def test_bo_hands_in_a_file_and_reads_its_score(
    bos_program: Program, pets: Competition, work: Callable[[], int]
) -> None:
    status, output = bos_program.submit(answers(public=1), note="  from the shell ")
    assert (status, output["status"], output["public_score"]) == (201, "pending", None)
    assert work() == 1
    status, output = bos_program.get(f"submissions/{output['id']}")
    assert status == 200
    assert (output["status"], output["public_score"], output["private_score"]) == ("scored", 5 / 6, None)
    assert (output["note"], output["team"], output["uploaded_by"]) == ("from the shell", "bo", "bo")
    assert (output["competition"], output["ground_truth"], output["errors"]) == ("pets", 1, [])


def test_scores_keep_all_their_digits(bos_program: Program, pets: Competition, bo: User) -> None:
    submit(pets, bo, answers(public=1))
    body = bos_program.client.get("/api/v1/competitions/pets/leaderboard", headers=bos_program.headers).content
    assert b"0.8333333333333334" in body


def test_a_gzipped_file_is_taken(bos_program: Program, work: Callable[[], int]) -> None:
    _, output = bos_program.submit(gzip.compress(answers()), name="mine.csv.gz")
    work()
    assert bos_program.get(f"submissions/{output['id']}")[1]["public_score"] == 1.0


def test_a_bad_file_is_invalid_with_all_its_problems_and_uses_no_attempt(
    bos_program: Program, work: Callable[[], int]
) -> None:
    bad = answers().replace(b"\n3,", b"\n2,").replace(b"\n5,", b"\n99,")
    _, output = bos_program.submit(bad)
    work()
    _, output = bos_program.get(f"submissions/{output['id']}")
    assert output["status"] == "invalid"
    assert len(output["errors"]) >= 2
    assert all(problem["code"] and problem["message"] for problem in output["errors"])
    assert bos_program.get("competitions/pets")[1]["attempts_left"] == 5


def test_bos_program_hears_what_a_conversion_would_change_and_asks_for_it(
    bos_program: Program, work: Callable[[], int]
) -> None:
    semicolons = answers(public=1).replace(b",", b";")
    status, told = bos_program.submit(semicolons)
    assert (status, told["status"], len(told["conversion"]["changes"])) == (201, "invalid", 1)
    assert (told["conversion"]["before"][1], told["conversion"]["after"][1]) == ("1;bird", "1,bird")
    status, made = bos_program.post(f"submissions/{told['id']}/convert")
    assert (status, made["status"], made["conversion"]) == (201, "pending", None)
    assert bos_program.post(f"submissions/{told['id']}/convert")[1]["id"] == made["id"]
    work()
    assert bos_program.get(f"submissions/{made['id']}")[1]["public_score"] == 5 / 6


def test_bos_program_may_ask_for_the_conversion_at_once(bos_program: Program) -> None:
    status, made = bos_program.submit(answers().replace(b",", b";"), convert="true")
    assert (status, made["status"]) == (201, "pending")
    status, kept = bos_program.submit(answers(public=2), convert="true")
    assert (status, kept["status"]) == (201, "pending")


def test_a_strangers_file_is_not_converted(bos_program: Program, pets: Competition, cy: User) -> None:
    _, told = bos_program.submit(answers().replace(b",", b";"))
    enter(pets, cy)
    assert Program(cy).post(f"submissions/{told['id']}/convert")[0] == 404


def test_a_failure_of_ours_is_told_in_neutral_words(
    bos_program: Program, work: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, output = bos_program.submit(answers())

    def broken(*args: object, **options: object) -> None:
        raise RuntimeError("the truth is cat, dog, cat")

    monkeypatch.setattr(metrics.Truth, "evaluate", broken)
    work()
    _, output = bos_program.get(f"submissions/{output['id']}")
    assert output["status"] == "failed"
    assert "cat" not in str(output["errors"])
    assert output["errors"][0]["code"] == "failed"


def test_the_same_key_with_another_file_is_refused(bos_program: Program) -> None:
    bos_program.submit(answers(), key="run-17")
    status, output = bos_program.submit(answers(public=1), key="run-17")
    assert status == 409
    assert "Idempotency-Key" in output["detail"]
    assert Submission.objects.count() == 1


def test_a_key_used_for_a_team_that_was_left_gives_nothing_of_that_team(
    bos_program: Program, pets: Competition, bo: User, cy: User
) -> None:
    bos_program.submit(answers(), key="k1")
    score.score_one(Submission.objects.get().pk)
    enter(pets, cy)
    joining.join_by_invitation(user=cy, invitation=Membership.objects.get(user=bo).team.invitation)
    teams.leave_team(membership=Membership.objects.select_related("team", "competition", "user").get(user=bo))
    status, output = bos_program.submit(answers(), key="k1")
    assert status == 409
    assert "a team that you have left" in output["detail"]


def test_two_people_may_use_the_same_key(bos_program: Program, pets: Competition, cy: User) -> None:
    enter(pets, cy)
    _, his = bos_program.submit(answers(), key="1")
    _, hers = Program(cy).submit(answers(), key="1")
    assert his["id"] != hers["id"]


def test_when_the_attempts_are_used_the_program_hears_when_to_come_back(bos_program: Program) -> None:
    for _ in range(5):
        assert bos_program.submit(answers())[0] == 201
    response = bos_program.client.post(
        "/api/v1/competitions/pets/submissions",
        {"file": SimpleUploadedFile("mine.csv", answers())},
        headers=bos_program.headers,
    )
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 86_401
    assert response.json()["errors"][0]["code"] == "attempts"


def test_without_the_rules_no_file_is_taken(pets: Competition, bo: User) -> None:
    joining.enter_competition(user=bo, competition=pets)
    status, output = Program(bo).submit(answers())
    assert (status, output["errors"][0]["code"]) == (403, "rules")


@pytest.mark.parametrize(("key", "note"), [("k" * 41, ""), ("", "n" * 301)])
def test_too_long_words_are_refused_by_name(bos_program: Program, key: str, note: str) -> None:
    status, output = bos_program.submit(answers(), key=key, note=note)
    assert status == 422
    assert output["errors"][0]["column"] in ("Idempotency-Key", "note")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{}", "application/json"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
        (b"x", "multipart/form-data; boundary=" + "é" * 3),
        (b"id,label", "text/csv"),
    ],
)
def test_a_body_that_is_no_form_gets_a_sentence(bos_program: Program, body: bytes, kind: str) -> None:
    response = bos_program.client.post(
        "/api/v1/competitions/pets/submissions", data=body, content_type=kind, headers=bos_program.headers
    )
    assert response.status_code in (400, 422)
    assert response.json().keys() == {"detail", "errors"}


def test_a_bug_of_ours_is_logged_and_told_without_details(
    bos_program: Program, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**fields: Any) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(submitting, "submit_file", broken)
    status, output = bos_program.submit(answers())
    assert (status, output["errors"]) == (500, [])
    assert "secret" not in output["detail"]
    assert "secret" in caplog.text
