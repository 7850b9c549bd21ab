"""Bo scores at home in a notebook: a frame means the CSV file that it would be written to."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
from metrics.reading.short_floats import shortest

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
    "months": pd.Series(pd.period_range("2026-01", periods=3, freq="M")),
    "intervals": pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3])),
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


# --- arrays are not written and read again ------------------------------------------------------------------------

WHOLE = st.integers(-128, 127) | st.sampled_from([0, 1])
LARGE = st.integers(-(2**63), 2**63 - 1) | st.integers(2**53 - 2, 2**53 + 2)
FLOATS = st.floats() | st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.0, 1e16, 1e-5, 123456789.0])
FLOATS_32 = st.floats(width=32) | st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.0**24, 0.10000000149011612])
WORDS = st.text(max_size=3) | st.sampled_from(["a", "b", " a ", "1", "01", "1.0", '"', "a,b", "x\ty", "\x85", "{", ""])
DTYPES: dict[str, st.SearchStrategy[Any]] = {
    "int8": WHOLE,
    "uint8": st.integers(0, 255),
    "int64": LARGE,
    "uint64": st.integers(0, 2**64 - 1),
    "float64": FLOATS,
    "float32": FLOATS_32,
    "float16": st.floats(width=16),
    "bool": st.booleans(),
    "Int64": LARGE | st.none(),
    "Float32": FLOATS_32,
    "Float64": FLOATS | st.none(),
    "boolean": st.booleans() | st.none(),
    "string": WORDS | st.none(),
    "str": WORDS | st.none(),
    "category": WORDS | st.none(),
    "int32[pyarrow]": WHOLE | st.none(),
    "float[pyarrow]": FLOATS_32 | st.none(),
    "double[pyarrow]": FLOATS,
    "bool[pyarrow]": st.booleans(),
    "string[pyarrow]": WORDS | st.none(),
    "object": WORDS | WHOLE | FLOATS | st.booleans() | st.none(),
}

KEYS = ["rmse", "log_loss", "roc_auc", "accuracy", "f1", "word_jaccard", "multiclass_log_loss"]


@st.composite
def columns(draw: st.DrawFn, rows: int) -> pd.Series:
    kind = draw(st.sampled_from(sorted(DTYPES)))
    strategy = DTYPES[kind]
    if kind == "object":
        strategy = draw(st.sampled_from([WORDS, WHOLE, FLOATS, st.booleans(), strategy]))
    return pd.Series(draw(st.lists(strategy, min_size=rows, max_size=rows)), dtype=kind)


@given(st.data())
def test_a_column_of_any_type_is_read_like_its_own_csv(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 4))
    ids = data.draw(columns(rows) | st.just(pd.Series(range(rows))))
    truth = pd.DataFrame({"id": ids, "y": data.draw(columns(rows))})
    sent = pd.DataFrame({"id": ids, "y": data.draw(columns(rows))}).sample(frac=1, random_state=1)
    key = data.draw(st.sampled_from(KEYS))
    read_frames = read(key, truth, sent)
    assert read_frames == read(key, as_file(truth), as_file(sent))
    assert read_frames == read(key, as_file(truth), sent) == read(key, truth, as_file(sent))


def test_floats_of_32_bits_are_the_numbers_that_a_file_says() -> None:
    dice = np.random.default_rng(3)
    bits = dice.integers(0, 2**32, 100_000, dtype=np.uint32).view(np.float32)
    few = (dice.integers(-(10**8), 10**8, 100_000) / dice.choice([1, 2, 4, 8, 10, 1000, 1e6], 100_000)).astype("f4")
    edges = np.float32(2) ** np.arange(-149, 128, dtype=np.float32)
    usual = dice.random(100_000, np.float32)
    for values in (bits[np.isfinite(bits)], few, usual, edges, np.nextafter(edges, 0), few[:0]):
        said = np.array([float(text) for text in values.astype(str)])
        assert np.array_equal(shortest(pa.array(values)), said)
        assert np.array_equal(np.signbit(shortest(pa.array(values)[3:])), np.signbit(said[3:]))


def test_intervals_of_frames_are_those_of_their_files() -> None:
    dice = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"id": dice.permutation(5000), "y": dice.random(5000), "Usage": dice.choice(["public", "private"], 5000)}
    )
    for ids in (frame.id, frame.id.astype(str), frame.id.astype(float)):
        truth, sent = frame.assign(id=ids), frame[["y"]].assign(id=ids).sample(frac=1, random_state=2).round(2)
        found, expected = metrics.score("rmse", truth, sent), metrics.score("rmse", as_file(truth), as_file(sent))
        assert found.as_dict() == expected.as_dict()
        for name, one in expected.uncertainty.items():
            same = found.uncertainty[name]
            assert (same.low, same.high, same.standard_error) == (one.low, one.high, one.standard_error)
            assert (same.replicates == one.replicates).all()


def test_a_truth_does_not_change_with_the_frame_it_was_read_from() -> None:
    frame = pd.DataFrame({"id": [1, 2], "y": [0.5, 1.5]})
    truth, sent = metrics.prepare("rmse", frame), frame.copy()
    frame.loc[:, "id"], frame.loc[:, "y"] = [3, 4], 9.0
    assert truth.evaluate(sent).overall == 0.0


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
    frame = TRUTH[["y"]].set_index(keys)
    assert problems(TRUTH, frame) == ["unnamed_index"]
    assert truth_problems(frame) == ["unnamed_index"]
    named = frame.rename_axis([f"name {level}" for level in range(keys.nlevels)])
    assert "unnamed_index" not in problems(TRUTH, named)
    whole = TRUTH.set_index(keys)
    for one in (whole, whole.rename_axis([f"name {level}" for level in range(keys.nlevels)])):
        assert metrics.evaluate("accuracy", TRUTH, one).overall == 1.0
    assert metrics.evaluate("accuracy", whole, TRUTH).overall == 1.0


@pytest.mark.parametrize("name", ["image_id", "ImageId", "ID", "picture"])
def test_the_row_numbers_of_some_answers_are_no_ids(name: str) -> None:
    pictures = TRUTH.rename(columns={"id": name}).set_index(pd.Index([7, 3, 5]))
    assert metrics.evaluate("accuracy", pictures, pictures.iloc[::-1]).overall == 1.0
    named = pictures.set_index(pd.Index(["u", "v", "w"]))
    if name == "picture":
        assert truth_problems(named) == ["unnamed_index"]
    assert metrics.evaluate("accuracy", named, pictures, id_column=name).overall == 1.0


def test_numbers_of_answers_are_no_ids_when_the_index_may_hold_them() -> None:
    frame = pd.DataFrame({"a": [0.5, 1.5], "b": [2.5, 3.5]}, index=[101, 102])
    assert truth_problems(frame) == ["unnamed_index"]


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
