"""Data files and checks for programs, and what a token may do."""

from __future__ import annotations

import hashlib

import pytest

from leaderboard.accounts.models import ApiToken, User
from leaderboard.classroom import joining
from leaderboard.competitions.models import Admission, Competition, DataFile
from leaderboard.ground_truths.services import data_files
from tests.conftest import answers, enter, make_competition

from .conftest import ROOT, Program

TRAIN = b"id,x\n100,1\n101,2\n"


@pytest.fixture
def train(pets: Competition) -> DataFile:
    return data_files.add_data_file(
        competition=pets, file_name="train é.csv", chunks=[TRAIN], description="To learn from"
    )


@pytest.fixture
def bos_program(pets: Competition, bo: User) -> Program:
    enter(pets, bo)
    return Program(bo)


def test_bo_lists_the_files_and_takes_them_byte_by_byte(bos_program: Program, train: DataFile) -> None:
    status, output = bos_program.get("competitions/pets/files")
    assert (status, [item["name"] for item in output["items"]]) == (200, ["sample_submission.csv", "train é.csv"])
    assert output["items"][1]["sha256"] == hashlib.sha256(TRAIN).hexdigest()
    response = bos_program.client.get(ROOT + "competitions/pets/files/train é.csv", headers=bos_program.headers)
    assert response.getvalue() == TRAIN
    sample = bos_program.client.get(
        ROOT + "competitions/pets/files/sample_submission.csv", headers=bos_program.headers
    ).content
    assert bos_program.submit(sample)[1]["status"] == "pending"


@pytest.mark.parametrize("name", ["truth.csv", "../truth.csv", "..%2f..%2ftruth.csv", "%00"])
def test_no_other_file_comes_out(bos_program: Program, train: DataFile, name: str) -> None:
    assert bos_program.get(f"competitions/pets/files/{name}")[0] == 404


def test_files_are_for_who_accepted_the_rules_once_it_has_opened(pets: Competition, train: DataFile, bo: User) -> None:
    Admission.objects.update(is_listed=True)
    program = Program(bo)
    assert program.get("competitions/pets/files")[1]["errors"][0]["code"] == "not_joined"
    joining.enter_competition(user=bo, competition=pets)
    for path in ("competitions/pets/files", "competitions/pets/files/train é.csv"):
        status, output = program.get(path)
        assert (status, output["errors"][0]["code"]) == (403, "rules")


def test_a_token_does_what_it_was_made_for_and_no_more(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    reads = Program(bo, ApiToken.Scope.READ)
    assert reads.get("competitions/pets")[0] == 200
    status, output = reads.post("competitions/pets/submissions", answers())
    assert (status, output["errors"][0]["code"]) == (403, "scope")
    assert "submit files" in output["detail"]
    assert Program(ada).post("competitions/pets/files", TRAIN)[1]["errors"][0]["code"] == "scope"
    status, output = Program(ada, ApiToken.Scope.HOST).post("competitions/pets/files", TRAIN, name="train.csv")
    assert (status, output["name"], output["rows"]) == (201, "train.csv", 2)


def test_another_host_gives_pets_no_files(pets: Competition, otto: User, bo: User) -> None:
    enter(pets, bo)
    make_competition(otto, slug="birds", title="Birds")
    for user in (otto, bo):
        assert Program(user, ApiToken.Scope.HOST).post("competitions/pets/files", TRAIN)[0] == 404
