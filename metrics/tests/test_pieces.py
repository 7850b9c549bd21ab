"""A file read in pieces says the same as the file read at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import metrics
from metrics.core.errors import Refused
from metrics.reading import columns as columns_module
from metrics.reading import pieces as pieces_module
from metrics.reading import tables
from metrics.reading.columns import Cells
from metrics.reading.stream import measure_in_pieces
from metrics.tests.hostile import CASES
from metrics.tests.hostile_case import Case
from metrics.tests.worlds import world

pytestmark = pytest.mark.thorough

QUOTED = ('""', '"a,b"', '"a""b"', '"one\n\ntwo\n"')

HOW_ROWS_ARE_WRITTEN: dict[str, Callable[[random.Random], str]] = {
    "plain": lambda dice: f"{dice.randrange(99)},{'x' * dice.randrange(9)}",
    "with spaces": lambda dice: f" {dice.randrange(99)} ,\t{dice.choice(('', 'a b', 'é 語 '))}",
    "quoted": lambda dice: f"{dice.randrange(99)},{dice.choice(QUOTED)}",
    "with blank lines": lambda dice: dice.choice(("", "1,2", "3,4", "  ")),
    "with faults": lambda dice: dice.choice(("1,2", "1,2,3", "4", '5,"a"b', '6,"a\nb"')),
}


def said_of(data: bytes) -> object:
    """All that is known of a table, or what it was refused for."""
    try:
        table = tables.read_table(data, lambda names, line: [])
    except Refused as refused:
        return [problem.as_dict() for problem in refused.problems]
    columns = [table.column(name).to_pylist() for name in table.names]
    return columns, table.lines.tolist(), [problem.as_dict() for problem in table.problems]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rows", HOW_ROWS_ARE_WRITTEN)
def test_a_table_read_in_pieces_is_the_table(rows: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)
    data = "\n".join(["id,y", *(HOW_ROWS_ARE_WRITTEN[rows](dice) for _ in range(40)), "", "", ""]).encode()
    whole = said_of(data)
    for size in (1, 7, 50):
        monkeypatch.setattr(pieces_module, "PIECE", size)
        assert said_of(data) == whole


def test_a_column_of_texts_that_hardly_repeat_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "_TRIED", 4)
    for answers, is_left in (("abca", True), ("abab", False), ("abc", False), ("abcaaaaaaa", True)):
        data = "id,y\n" + "".join(f"{row},{answer}\n" for row, answer in enumerate(answers))
        table = tables.read_table(data.encode(), lambda names, line: [])
        coded = Cells(table, "y", "id").coded(may_repeat=True)
        assert [coded.values[code] for code in coded.codes] == list(answers)
        assert (coded.size == len(coded)) is (is_left or len(set(answers)) == len(answers))


KEYS = [metric.key for metric in metrics.catalogue()]
WHOLE = {"accuracy": False, "rmse": False, "roc_auc": True, "global_average_precision": True, "f1": True}


def outcome(truth: metrics.Truth, submission: bytes | Path) -> object:
    """The result with the digits of its uncertainty, or all that is wrong."""
    try:
        result = truth.evaluate(submission, uncertainty=True)
    except metrics.SubmissionError as error:
        return [problem.as_dict() for problem in error.problems]
    doubts = [(one.standard_error, one.low, one.high, one.replicates.tolist()) for one in result.uncertainty.values()]
    return result.as_dict(), dict(result.parts), doubts


@pytest.mark.parametrize("key", KEYS)
def test_a_file_scored_in_pieces_has_the_same_score_to_the_last_digit(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(key)
    found = world(metrics.get(key), dice.randrange(10))
    truth = metrics.prepare(key, found.truth_csv(dice))
    submission = found.submission_csv(dice)
    whole = outcome(truth, submission)
    for size in (30, 200):
        monkeypatch.setattr(pieces_module, "PIECE", size)
        assert outcome(truth, submission) == whole


@pytest.mark.parametrize("key", WHOLE)
def test_which_metrics_are_scored_in_pieces(key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = world(metrics.get(key), 1)
    truth = metrics.prepare(key, found.truth_csv())
    submission = found.submission_csv()
    assert measure_in_pieces(truth, submission, uncertainty=False) is None  # a small file is one piece
    monkeypatch.setattr(pieces_module, "PIECE", 100)
    assert (measure_in_pieces(truth, submission, uncertainty=False) is None) is WHOLE[key]
    path = tmp_path / "submission.csv"
    path.write_bytes(submission)
    assert outcome(truth, path) == outcome(truth, submission)
    ordered = found.truth_csv().replace(b",Usage", b"").replace(b",Public", b"").replace(b",Private", b"")
    assert key != "accuracy" or outcome(truth, ordered.replace(b",Ignored", b""))[0]["overall"] == 1  # type: ignore[index]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_each_input_of_the_list_is_told_the_same_in_pieces(
    case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    truth = metrics.prepare(case.metric, case.truth)
    whole = outcome(truth, case.data)
    path = tmp_path / "submission.csv"
    path.write_bytes(case.data)
    monkeypatch.setattr(pieces_module, "PIECE", len(case.data) // 3 + 1)
    assert outcome(truth, case.data) == whole
    assert outcome(truth, path) == whole


FAULTS: dict[str, Callable[[list[str]], list[str]]] = {
    "a mark inside": lambda rows: [*rows[:3], "\ufeff" + rows[3], *rows[4:]],
    "an id twice": lambda rows: [*rows, rows[0]],
    "an id twice in place of another": lambda rows: [*rows[:-1], rows[0]],
    "an id less": lambda rows: rows[1:],
    "an unknown id": lambda rows: [*rows[1:], "x,1"],
    "no number": lambda rows: [*rows[:-1], rows[-1] + "x"],
    "too large": lambda rows: [*rows[:-1], "id9,1e300"],
    "a value more": lambda rows: [*rows[:-1], rows[-1] + ",3"],
    "no quote": lambda rows: [*rows[:4], '"' + rows[4], *rows[5:]],
    "old line ends": lambda rows: ["\r".join(rows)],
    "control characters": lambda rows: [*rows[:-1], rows[-1] + "\x01"],
    "all twice": lambda rows: 60 * rows,
    "blank lines": lambda rows: [*rows[:4], "", "  ", "", *rows[4:], "", "", ""],
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("key", ["rmse", "spearman"])
def test_every_fault_is_told_as_if_the_file_were_read_at_once(
    key: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"id{row},{row * row}" for row in range(10)]
    truth = metrics.prepare(key, "\n".join(["id,y", *rows]).encode())
    submission = "\n".join(["id,y", *FAULTS[fault](rows)]).encode()
    whole = outcome(truth, submission)
    for size in (1, 30):
        monkeypatch.setattr(pieces_module, "PIECE", size)
        assert outcome(truth, submission) == whole


def test_rows_that_may_be_missing_are_missing_in_pieces_too(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = metrics.prepare(
        "global_average_precision", b"id,y,Usage\n1,a,Public\n2,b,Private\n3,,Ignored\n4,,Public\n"[:]
    )
    submission = b"id,y\n4,a 0.2\n1,a 0.9\n"
    whole = outcome(truth, submission)
    monkeypatch.setattr(pieces_module, "PIECE", 10)
    assert outcome(truth, submission) == whole
    twice = outcome(truth, submission + b"4,b 0.3\n")
    assert isinstance(twice, list)
    assert [problem["code"] for problem in twice] == ["repeated_ids"]


def test_sorted_and_shuffled_files_have_one_score_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(5)
    answers, said = dice.random((2, 500)).tolist()
    rows = [f"{row},{value!r}" for row, value in enumerate(said)]
    truth = "id,y\n" + "".join(f"{row},{value!r}\n" for row, value in enumerate(answers))
    prepared = metrics.prepare("rmse", truth.encode())
    whole = outcome(prepared, "\n".join(["id,y", *rows]).encode())
    monkeypatch.setattr(pieces_module, "PIECE", 1000)
    for order in (range(500), dice.permutation(500)):
        assert outcome(prepared, "\n".join(["id,y", *(rows[row] for row in order)]).encode()) == whole
