"""Bo scores at home with every kind of metric: built in, Kaggle's file, a file in the form of ours."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import metrics
from metrics.__main__ import main

pytestmark = [pytest.mark.thorough, pytest.mark.takes(0.5)]  # each starts processes

KAGGLE = '''
"""Mean absolute error. Lower is better."""


class ParticipantVisibleError(Exception):
    pass


def score(solution, submission, row_id_column_name):
    if (submission.y < 0).any():
        raise ParticipantVisibleError("No value may be negative.")
    return float((solution.y - submission.y).abs().mean())
'''
OURS = '''
"""Mean absolute error."""
from metrics.core.contract import Example, Metric, RowSum
from metrics.reading.number_kinds import Number
import numpy as np


def rows(truth, prediction):
    return np.column_stack([np.abs(truth - prediction), np.ones(len(truth))])


def total(sums):
    return float(sums[0] / sums[1])


ours = Metric(
    title="Ours", group="Numbers", direction="minimize", best=0.0, truth=Number(), submission=Number(),
    computation=RowSum(rows, total, parts=("error", "rows")),
    example=Example(truth="id,y\\n1,1\\n", submission="id,y\\n1,2\\n", score=1.0),
)
'''
EVERY_KIND = pytest.mark.parametrize("key", ["mae", "kaggles", "ours"])
SPLITS = {"overall": 0.75, "public": 0.5, "private": 1.0}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bo's folder: Ada's truth, two files of his own, and the site's metric files."""
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "kaggles.py").write_text(KAGGLE)
    (tmp_path / "metrics" / "ours.py").write_text(OURS)
    (tmp_path / "truth.csv").write_text("id,y,Usage\n1,1,Public\n2,2,Public\n3,3,Private\n4,4,Private\n5,9,Ignored\n")
    (tmp_path / "near.csv").write_text("id,y\n5,0\n4,5\n3,2\n2,2\n1,2\n")
    (tmp_path / "far.csv").write_text("id,y\n5,0\n4,8\n3,7\n2,6\n1,5\n")
    (tmp_path / "negative.csv").write_text("id,y\n5,0\n4,8\n3,-7\n2,6\n1,5\n")
    monkeypatch.setenv("METRICS_DIR", str(tmp_path / "metrics"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["score", *arguments])
    return status, *capsys.readouterr()


def printed(out: str) -> dict[str, float]:
    """The values of the splits, one a line."""
    return {line.split()[0]: float(line.split()[1]) for line in out.splitlines()[:3]}


@EVERY_KIND
def test_bo_reads_the_scores_of_both_parts(capsys: pytest.CaptureFixture[str], key: str) -> None:
    status, out, _ = run(capsys, key, "truth.csv", "near.csv")
    assert (status, printed(out)) == (0, SPLITS)
    assert ("95 %" in out) == (not metrics.get(key).is_custom)


@EVERY_KIND
def test_a_program_reads_the_same_as_json(capsys: pytest.CaptureFixture[str], key: str) -> None:
    status, out, _ = run(capsys, key, "truth.csv", "near.csv", "--json")
    found = json.loads(out)
    assert (status, {name: found[name] for name in SPLITS}) == (0, SPLITS)
    assert (found["metric"], found["rows"]) == (key, 4)


@EVERY_KIND
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_bo_writes_what_each_row_says(
    folder: Path, capsys: pytest.CaptureFixture[str], key: str, form: list[str]
) -> None:
    assert run(capsys, key, "truth.csv", "near.csv", "--rows", "rows.csv", *form)[0] == 0
    rows = list(csv.DictReader((folder / "rows.csv").read_text().splitlines()))
    cells = [(row["id"], row["Usage"], row["truth y"], row["prediction y"]) for row in rows]
    assert cells == [
        ("1", "Public", "1", "2"),
        ("2", "Public", "2", "2"),
        ("3", "Private", "3", "2"),
        (*"4", "Private", *"45"),
    ]
    # Contributions are known where the metric is built in.
    assert ("rows" in rows[0]) == (not metrics.get(key).is_custom)


@EVERY_KIND
def test_bo_learns_which_of_two_files_is_better(capsys: pytest.CaptureFixture[str], key: str) -> None:
    for first, second in (("near.csv", "far.csv"), ("far.csv", "near.csv")):
        status, out, _ = run(capsys, key, "truth.csv", first, "--compare", second)
        assert status == 0
        verdicts = out.splitlines()[3:]
        assert len(verdicts) == 3
        assert all("near.csv is better than far.csv" in line for line in verdicts)
    _, out, _ = run(capsys, key, "truth.csv", "far.csv", "--compare", "far.csv")
    verdicts = out.splitlines()[3:]
    assert len(verdicts) == 3
    assert all("neither is better" in line for line in verdicts)


@EVERY_KIND
def test_a_program_compares_two_files(capsys: pytest.CaptureFixture[str], key: str) -> None:
    status, out, _ = run(capsys, key, "truth.csv", "near.csv", "--compare", "far.csv", "--json")
    found: dict[str, Any] = json.loads(out)
    assert status == 0
    gaps = {name: compared["difference"] for name, compared in found["compare"].items()}
    assert gaps == {"overall": -3.25, "public": -3.5, "private": -3.0}
    assert {tuple(compared) for compared in found["compare"].values()} == {("difference", "low", "high", "probability")}
    is_known = [compared["probability"] is not None for compared in found["compare"].values()]
    assert set(is_known) == {not metrics.get(key).is_custom}


@EVERY_KIND
def test_any_metric_is_a_further_one_of_any_other(capsys: pytest.CaptureFixture[str], key: str) -> None:
    status, out, _ = run(capsys, key, "truth.csv", "near.csv", "--also", "kaggles", "--also", "mae", "--also", "ours")
    assert (status, printed(out)) == (0, SPLITS)
    assert out.splitlines()[3:] == [
        f"{one}: overall 0.75, public 0.5, private 1.0" for one in ("kaggles", "mae", "ours")
    ]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_bo_holds_the_truth_and_reads_all_that_a_metric_says_of_either_file(
    capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    for files in (["negative.csv"], ["near.csv", "--compare", "negative.csv"]):
        status, out, err = run(capsys, "kaggles", "truth.csv", *files, *form)
        assert status == 2
        assert "No value may be negative." in out + err
