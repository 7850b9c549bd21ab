"""Bo scores at home in a notebook: a frame means the CSV file that it would be written to."""

from __future__ import annotations

import datetime
import decimal
import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metrics
from metrics.checks.splits import remove_columns

Column = Callable[[random.Random, int], Any]
WORDS = [
    "cat",
    "Dog",
    "NA",
    "nan",
    "",
    " x ",
    "a,b",
    '"7" 8',
    "two\nlines",
    "cr\rlf",
    "é",
    "1",
    "1.0",
    "True",
    "-0",
    "#!",
    "0" * 30,
]
PLAIN = ["cat", "dog", "None", "é", "007"]
EDGES = [
    0.0,
    -0.0,
    1.0,
    0.1,
    0.1 + 0.2,
    1 / 3,
    1e-4,
    9.999999999999999e-05,
    1e-5,
    1e-6,
    1e-7,
    5e-324,
    2.0**-1074 * 3,
    1e9,
    9999999999.0,
]
EDGES += [
    9999999999.5,
    1e10,
    12345678901.5,
    1e15,
    1e16,
    9007199254740993.0,
    1.7e308,
    2.0**-44,
    123456.0,
    4503599627370497.5,
    2.5e-5,
]


def floats(dice: random.Random, rows: int) -> list[float]:
    """Numbers of all sizes: those at which the notation changes, those of files, and any bits."""

    def one() -> float:
        kind = dice.randrange(4)
        if kind == 0:
            return dice.choice((-1, 1)) * dice.choice(EDGES)
        if kind == 1:
            return round(dice.gauss(0, 100), dice.randrange(7))
        if kind == 2:
            return dice.gauss(0, 1) * 10.0 ** dice.randrange(-12, 20)
        return float(struct.unpack("<d", struct.pack("<Q", dice.getrandbits(64)))[0])

    return [one() for _ in range(rows)]


def holed(column: Column, *nothing: Any) -> Column:
    """The same with missing cells."""
    return lambda dice, rows: [dice.choice(nothing) if dice.random() < 0.2 else cell for cell in column(dice, rows)]


def of(values: Column, dtype: Any) -> Column:
    return lambda dice, rows: pd.Series(values(dice, rows), dtype=dtype)


def some(*cells: Any) -> Column:
    return lambda dice, rows: [dice.choice(cells) for _ in range(rows)]


whole: Column = lambda dice, rows: [dice.randrange(-(10 ** dice.randrange(1, 19)), 10**18) for _ in range(rows)]  # noqa: E731
bits: Column = lambda dice, rows: [dice.random() < 0.5 for _ in range(rows)]  # noqa: E731
days = some(datetime.datetime(2026, 1, 1), datetime.datetime(2026, 2, 3), pd.NaT)
times = some(datetime.datetime(2026, 1, 1), datetime.datetime(2026, 2, 3, 4, 5, 6, 700))
MIXED = (
    1,
    2.5,
    "x",
    None,
    True,
    np.nan,
    pd.NA,
    decimal.Decimal("1.50"),
    datetime.date(2026, 1, 2),
    b"raw",
    float("inf"),
    1e16,
    np.float32(0.1),
)

COLUMNS: dict[str, Column] = {
    "int64": of(whole, "int64"),
    "int8": of(some(-128, 0, 7, 127), "int8"),
    "uint64": of(some(0, 2**64 - 1, 2**63), "uint64"),
    "Int64": of(holed(whole, pd.NA), "Int64"),
    "float64": of(floats, "float64"),
    "float64 with holes": of(holed(floats, np.nan, np.inf, -np.inf), "float64"),
    "whole numbers as float64": of(some(0.0, 1.0, -3.0), "float64"),
    "float32": of(lambda dice, rows: [dice.gauss(0, 1) for _ in range(rows)], "float32"),
    "float16": of(some(0.1, 2.5, np.nan), "float16"),
    "Float64": of(holed(some(0.5, 1e16, 1e-5), pd.NA), "Float64"),
    "bool": of(bits, "bool"),
    "boolean": of(holed(bits, pd.NA), "boolean"),
    "object bool": of(holed(bits, None), object),
    "object": of(some(*MIXED), object),
    "object of texts": of(some(*WORDS, None, np.nan), object),
    "object of plain texts": of(some(*PLAIN), object),
    "lone surrogates": of(some("a", "\ud800"), object),
    "str": of(some(*WORDS), "str"),
    "plain str": of(some(*PLAIN), "str"),
    "plain str with holes": of(some(*PLAIN, np.nan), "str"),
    "string": of(some(*PLAIN, pd.NA), "string"),
    "python strings": of(some(*PLAIN, pd.NA), "string[python]"),
    "category": of(some(*WORDS, np.nan), "category"),
    "category of plain texts": of(some(*PLAIN, np.nan), "category"),
    "category of ints": of(some(1, 2, np.nan), "category"),
    "category of floats": of(some(0.1, 1e16), "category"),
    "days": of(days, "datetime64[ns]"),
    "times": of(times, "datetime64[us]"),
    "zoned times": of(times, "datetime64[ns, Europe/Berlin]"),
    "lengths of time": of(some(pd.Timedelta("1D"), pd.Timedelta("1h")), "timedelta64[ns]"),
    "periods": of(some(pd.Period("2026-01"), pd.Period("2026-02")), "period[M]"),
    "complex": of(some(1 + 2j), "complex128"),
    "arrow int": of(holed(some(1, 2), None), "int64[pyarrow]"),
    "arrow float": of(holed(some(0.1, 1e16, 1e-5), None), "float64[pyarrow]"),
    "arrow bool": of(holed(bits, None), "bool[pyarrow]"),
    "arrow string": of(some(*PLAIN, None), "string[pyarrow]"),
    "arrow time": of(times, "timestamp[ns][pyarrow]"),
    "sparse": of(some(0.0, 1.0), pd.SparseDtype("float64", 0.0)),
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


def texts(truth: Any) -> bytes:
    """Every cell as it is read."""
    return remove_columns(truth, [])


def check_column(name: str, seed: int) -> None:
    dice = random.Random(f"{name} {seed}")
    rows = dice.choice((2, 7, 40))
    frame = pd.DataFrame({"id": range(rows), "y": COLUMNS[name](dice, rows)})
    if dice.random() < 0.5:
        frame = frame.sample(frac=1, random_state=seed)
    file = as_file(frame)
    for key, answer in (("rmse", "0.5"), ("accuracy", "True"), ("word_jaccard", "x y")):
        other = as_file(frame.assign(y=answer))
        assert read(key, other, frame) == read(key, other, file)
        assert read(key, frame, other) == read(key, file, other)


@every_column
def test_a_frame_is_read_like_its_own_csv(name: str) -> None:
    check_column(name, 0)


@pytest.mark.long
@every_column
def test_any_frame_is_read_like_its_own_csv(name: str) -> None:
    for seed in range(1, 30):
        check_column(name, seed)


def test_every_number_has_the_digits_of_its_own_csv() -> None:
    dice = random.Random(13)
    numbers = [*floats(dice, 20_000), *np.ldexp(1.0, np.arange(-1074, 1024)).tolist(), *EDGES]
    numbers += [-number for number in EDGES]
    frame = pd.DataFrame({"id": range(len(numbers)), "y": numbers})
    assert texts(frame) == texts(as_file(frame))


@every_column
def test_ids_of_every_kind_are_read_like_their_own_csv(name: str) -> None:
    dice = random.Random(name)
    frame = pd.DataFrame(
        {
            "id": COLUMNS[name](dice, 5),
            "y": [1, 0, 1, 0, 1],
            "Usage": ["Public", "Private", "Ignored"] * 1 + ["Public"] * 2,
        }
    )
    sent = frame[["y", "id"]]
    assert read("accuracy", frame, sent) == read("accuracy", as_file(frame), as_file(sent))


@pytest.mark.thorough
@every_column
def test_a_frame_of_many_columns_is_read_like_its_own_csv(name: str) -> None:
    dice = random.Random(name)
    frame = pd.DataFrame(
        {"id": ["a", "b", "c"], "floats": floats(dice, 3), "it": COLUMNS[name](dice, 3), "flags": bits(dice, 3)}
    )
    sent = frame.rename(columns={"it": "Ít, is"})
    against = as_file(frame.assign(it=0.5, floats=0.5, flags=1))
    for one in (frame, sent, frame[["id"]], frame[[]], frame.iloc[:0], frame[["id", "it", "it", "flags"]]):
        assert read("columnwise_rmse", against, one) == read("columnwise_rmse", against, as_file(one))
        assert read("columnwise_rmse", one, against) == read("columnwise_rmse", as_file(one), against)


def test_a_file_of_truths_and_a_frame_of_truths_are_alike() -> None:
    truth = b"id,y\n1,True\n2,False\n3,True\n"
    frame = pd.DataFrame({"id": [3, 2, 1], "y": [True, False, False]})
    assert metrics.evaluate("accuracy", truth, frame).overall == 2 / 3
    assert metrics.evaluate("accuracy", frame, truth).overall == 2 / 3


def test_a_long_frame_is_read_like_its_own_csv() -> None:
    rows = 60_000
    dice = np.random.default_rng(3)
    frame = pd.DataFrame({"id": dice.permutation(rows), "y": dice.normal(size=rows)})
    truth = metrics.prepare("rmse", as_file(frame.assign(y=1.5)))
    assert truth.evaluate(frame) == truth.evaluate(as_file(frame))
    # pandas writes some ten thousand rows at once, and days without the time of day only where all of those are days.
    moments = pd.date_range("2026-01-01", periods=rows, freq="D", unit="s").to_series(index=frame.index)
    moments.iloc[-1] += pd.Timedelta("5h")
    assert texts(frame.assign(y=moments)) == texts(as_file(frame.assign(y=moments)))


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
