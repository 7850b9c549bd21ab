"""What a careless or hostile file may cost the machine that a whole class works on."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile

import pytest

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.file_formats import safe_cell
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DailyAttempts, Submission
from leaderboard.ground_truths import leaks
from leaderboard.ground_truths.services import data_files

from ..conftest import TRUTH, answers, enter, submit

BARE = "".join(line.rsplit(",", 1)[0] + "\n" for line in TRUTH.splitlines())


@pytest.mark.attack("archives that unpack to anything")
def test_a_file_that_unpacks_to_far_more_than_its_truth_is_refused_before_it_is_read(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    monkeypatch.setattr("metrics.core.truth.SMALL", 1000)
    padded = b"id,label\n" + b"".join(b"%d,%s\n" % (i, b"cat" * 800) for i in range(1, 13))
    submission = submit(pets, bo, gzip.compress(padded), file_name="a.csv.gz")
    assert submission.status == Submission.Status.INVALID
    assert [problem["code"] for problem in submission.problems] == ["too_large"]


def test_how_large_a_submission_may_be_follows_from_its_rows_and_columns_and_not_from_the_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("metrics.core.truth.SMALL", 100)
    truth = metrics.prepare("accuracy", TRUTH.encode())
    longer = metrics.prepare("accuracy", TRUTH.replace("cat", "cat" * 100).encode())
    more = "".join(f"{number},cat,Public\n" for number in range(13, 25))
    twice = metrics.prepare("accuracy", (TRUTH + more).encode())
    assert len(answers()) < truth.largest_submission == longer.largest_submission
    assert truth.largest_submission < twice.largest_submission
    assert truth.evaluate(answers()).overall == 1


@pytest.mark.fault(26)
def test_a_file_that_needs_too_much_memory_is_the_files_fault_and_uses_no_attempt(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    monkeypatch.setattr(metrics.Truth, "evaluate", lambda *_, **__: bytearray(1 << 60))
    submission = submit(pets, bo, answers())
    assert submission.status == Submission.Status.INVALID
    assert "memory" in submission.problems[0]["message"]
    assert DailyAttempts.objects.get().used == 0


def test_a_wide_data_file_is_compared_without_being_kept(pets: Competition) -> None:
    wide = "id,label," + ",".join(f"x{i}" for i in range(40)) + "\n"
    wide += "".join(f"{i},cat,{','.join(['0.12345'] * 40)}\n" for i in range(1000, 9000))
    data = wide.encode()
    tracemalloc.start()
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[data])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * len(data)


def test_an_archive_is_looked_through_to_its_limit(pets: Competition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "MAX_CHARACTERS", 100_000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10_000_000))
        archive.writestr("test.csv", BARE)
    data_files.add_data_file(competition=pets, file_name="a.zip", chunks=[out.getvalue()])


def test_answers_before_the_damage_of_an_archive_are_found(pets: Competition) -> None:
    whole = gzip.compress(BARE.encode(), mtime=0)
    with pytest.raises(competitions.CannotHost, match="Students could download the answers"):
        data_files.add_data_file(competition=pets, file_name="test.csv.gz", chunks=[whole[:-6]])


def test_the_head_of_a_data_file_is_kept_without_nul_characters(pets: Competition) -> None:
    added = data_files.add_data_file(competition=pets, file_name="x.csv", chunks=[b"id,x\n1,a\0b\n"])
    assert added.head == [["id", "x"], ["1", "ab"]]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_cell_of_an_export_is_a_formula(start: str) -> None:
    assert safe_cell(f"{start}1+1") == f"'{start}1+1"
