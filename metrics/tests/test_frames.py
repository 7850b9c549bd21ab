"""Bo scores at home in a notebook: a frame means the CSV file that it would be written to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import metrics

COLUMNS: dict[str, Any] = {
    "whole numbers": [1, 0, 10**17],
    "numbers": [0.1 + 0.2, -0.0, 1e16],
    "short numbers": pd.Series([0.1, 2.5, np.nan], dtype="float32"),
    "holes": [1.5, np.nan, np.inf],
    "truth values": [True, False, True],
    "texts": ["a,b", '"7" 8', "two\nlines"],
    "missing texts": ["NA", None, " x "],
    "mixed": [1, "x", None],
    "lone surrogates": pd.Series(["a", "\ud800", "b"], dtype=object),
    "category": pd.Series(["a", "b", None], dtype="category"),
    "days": pd.Series(["2026-01-01", "2026-02-03", None], dtype="datetime64[ns]"),
}
every_column = pytest.mark.parametrize("name", COLUMNS)


def read(key: str, truth: Any, submission: Any) -> Any:
    """Whatever there is to read: values, the text of every cell, or all problems."""
    try:
        told = metrics.explain(key, truth, submission)
    except (metrics.GroundTruthError, metrics.SubmissionError) as error:
        return type(error).__name__, [problem.as_dict() for problem in error.problems]
    return told.result.as_dict(), told.rows


def as_file(frame: pd.DataFrame) -> bytes:
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode("utf-8", "surrogatepass")


@every_column
def test_a_frame_is_read_like_its_own_csv(name: str) -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "y": COLUMNS[name]})
    file = as_file(frame)
    for key, answer in (("rmse", "0.5"), ("accuracy", "True"), ("word_jaccard", "x y")):
        other = as_file(frame.assign(y=answer))
        assert read(key, other, frame) == read(key, other, file)
        assert read(key, frame, other) == read(key, file, other)


@every_column
def test_ids_of_every_kind_are_read_like_their_own_csv(name: str) -> None:
    frame = pd.DataFrame({"id": COLUMNS[name], "y": [1, 0, 1], "Usage": ["Public", "Private", "Ignored"]})
    sent = frame[["y", "id"]]
    assert read("accuracy", frame, sent) == read("accuracy", as_file(frame), as_file(sent))


@pytest.mark.parametrize("columns", [["id"], [], ["id", "y", "y"]])
def test_frames_without_answers_or_rows_are_refused_like_their_own_csv(columns: list[str]) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "y": [1, 2]})
    for one in (frame[columns], frame.iloc[:0]):
        assert read("rmse", frame, one) == read("rmse", frame, as_file(one))
        assert read("rmse", one, frame) == read("rmse", as_file(one), frame)


# --- ids in the index -------------------------------------------------------------------------------------------

TRUTH = pd.DataFrame({"id": ["a", "b", "c"], "y": [1, 2, 3]})


def test_ids_in_an_index_with_a_name_are_the_ids() -> None:
    by_id = TRUTH.set_index("id")
    for truth in (TRUTH, by_id, TRUTH.set_index("id", drop=False)):
        for sent in (by_id, by_id[::-1], TRUTH.set_index("id", drop=False)):
            assert metrics.evaluate("accuracy", truth, sent).overall == 1.0
    numbered = TRUTH.assign(id=[7, 5, 6])
    assert metrics.evaluate("accuracy", numbered, numbered.set_index("id")).overall == 1.0
    other = TRUTH.assign(id=["a", "b", "x"]).set_index("id")
    assert read("accuracy", TRUTH, other) == read("accuracy", TRUTH, as_file(other.reset_index()))


def test_an_index_of_several_names_becomes_as_many_columns() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "one": [0.5, 1.5], "two": [2.5, 3.5]})
    assert metrics.evaluate("columnwise_rmse", frame, frame.set_index(["id", "one"])).overall == 0.0


def test_row_numbers_in_any_order_are_no_ids() -> None:
    for sent in (TRUTH, TRUTH[::-1], TRUTH.set_index(np.array([2, 0, 1], np.uint8))):
        assert metrics.evaluate("accuracy", TRUTH, sent).overall == 1.0
        assert metrics.evaluate("accuracy", sent, TRUTH).overall == 1.0


@pytest.mark.parametrize(
    "index",
    [
        ["a", "b", "c"],
        [1, 2, 3],
        [0, 1, 1],
        [-1, 0, 1],
        [0.0, 1.0, 2.0],
        pd.date_range("2026", periods=3),
        [("a", 1), ("b", 1), ("c", 2)],
    ],
    ids=str,
)
def test_an_index_without_a_name_that_may_hold_ids_is_asked_about(index: Any) -> None:
    keys = pd.MultiIndex.from_tuples(index) if isinstance(index[0], tuple) else pd.Index(index)
    for frame in (TRUTH.set_index(keys), TRUTH[["y"]].set_index(keys)):
        assert problems(TRUTH, frame) == ["unnamed_index"]
        assert truth_problems(frame) == ["unnamed_index"]
    named = TRUTH.set_index(keys).rename_axis([f"name {level}" for level in range(keys.nlevels)])
    assert "unnamed_index" not in problems(TRUTH, named)


def problems(truth: Any, submission: Any) -> list[str]:
    with pytest.raises(metrics.SubmissionError) as refused:
        metrics.evaluate("accuracy", truth, submission)
    return [problem.code for problem in refused.value.problems]


def truth_problems(truth: Any) -> list[str]:
    with pytest.raises(metrics.GroundTruthError) as refused:
        metrics.prepare("accuracy", truth)
    return [problem.code for problem in refused.value.problems]


@pytest.mark.parametrize(
    "what",
    [[1, 2, 3], TRUTH.y, TRUTH.to_numpy(), {"id": [1]}, None, 5, bytearray(b"id,y\n")],
    ids=lambda what: type(what).__name__,
)
def test_what_is_no_table_is_refused_in_words(what: Any) -> None:
    assert problems(TRUTH, what) == ["no_table"]
    assert truth_problems(what) == ["no_table"]
    report = metrics.check_truth("accuracy", what)
    assert [finding.code for finding in report.findings if finding.blocking] == ["no_table"]
    with pytest.raises(metrics.GroundTruthError):
        metrics.suggest(what)


def test_a_frame_is_left_as_it_was() -> None:
    frame = TRUTH.set_index("id").assign(flag=[True, False, True])
    before = frame.copy(deep=True)
    metrics.evaluate("columnwise_rmse", frame.assign(flag=1), frame.assign(flag=0))
    problems(TRUTH, frame)
    pd.testing.assert_frame_equal(frame, before)
