"""Bo scores what a notebook holds: the score is that of the file he would upload, or one sentence says what to do."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import metrics

ROWS = 1000
DICE = np.random.default_rng(7)
IDS = DICE.permutation(ROWS) + 5000
TRUE = DICE.random(ROWS).round(3)
NUMBERS = pd.DataFrame({"id": IDS, "y": DICE.random(ROWS)})
LABELS = pd.DataFrame({"id": IDS, "y": DICE.choice(["cat", "dog", "x y", "ä,ö"], ROWS)})
LISTS = [list(DICE.choice(["cat", "dog", "frog", "7"], DICE.integers(0, 4), replace=False)) for _ in range(ROWS)]
TEXTS = pd.DataFrame({"id": IDS, "y": [" ".join(one) for one in LISTS]})
TRUTHS = {
    "rmse": pd.DataFrame({"id": IDS, "y": TRUE}),
    "log_loss": pd.DataFrame({"id": IDS, "y": DICE.integers(0, 2, ROWS)}),
    "accuracy": LABELS.assign(y=DICE.permutation(LABELS.y)),
    "map_at_k": TEXTS.assign(y=DICE.permutation(TEXTS.y)),
    "multilabel_f1": TEXTS.assign(y=DICE.permutation(TEXTS.y)),
    "columnwise_rmse": pd.DataFrame({"id": IDS, "a": TRUE, "b": TRUE[::-1]}),
}


def as_file(frame: pd.DataFrame) -> bytes:
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode()


def listed(make: Callable[[list[str]], Any]) -> pd.DataFrame:
    return pd.DataFrame({"id": IDS, "y": pd.Series([make(one) for one in LISTS], dtype=object)})


def numbers(values: Any) -> pd.DataFrame:
    return pd.DataFrame({"id": IDS, "y": values})


class Stream:
    """A table of another library, such as polars, which hands it out as Arrow's."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.table = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


HALVES = NUMBERS.iloc[: ROWS // 2], NUMBERS.iloc[ROWS // 2 :]
LARGER = pd.concat([NUMBERS.assign(part="test"), NUMBERS.assign(id=NUMBERS.id + ROWS, part="train")])
LARGER = LARGER.sample(frac=1, random_state=3, ignore_index=True)
WHOLE = NUMBERS.assign(y=DICE.integers(-100, 100, ROWS))
FLOATS32 = NUMBERS.astype({"y": "float32"})

CAPITALS = NUMBERS.rename(columns={"id": "ID"})
TEXTS_LAST = TEXTS.rename(columns={"id": "ID"})[["y", "ID"]]

GOOD: dict[str, tuple[str, Any, pd.DataFrame]] = {
    # how it is called: the metric, what the notebook holds, the frame whose file Bo would upload
    "some rows of a larger frame": ("rmse", LARGER[LARGER.part == "test"][["id", "y"]], NUMBERS),
    "a sample": ("rmse", NUMBERS.sample(frac=1, random_state=1), NUMBERS),
    "sorted": ("rmse", NUMBERS.sort_values("y"), NUMBERS),
    "parts put together": ("rmse", pd.concat([part.reset_index(drop=True) for part in HALVES]), NUMBERS),
    "parts with keys": ("rmse", pd.concat(HALVES, keys=["a", "b"]), NUMBERS),
    "ids as index": ("rmse", NUMBERS.set_index("id"), NUMBERS),
    "ids as index and column": ("rmse", NUMBERS.set_index("id", drop=False), NUMBERS),
    "ids as index, reset": ("rmse", NUMBERS.set_index("id").reset_index(), NUMBERS),
    "ids within a larger index": ("rmse", NUMBERS.assign(fold=1).set_index(["fold", "id"]), NUMBERS),
    "an index of texts": ("rmse", NUMBERS.set_index(pd.Index([f"row {n}" for n in range(ROWS)])), NUMBERS),
    "an index of dates": ("rmse", NUMBERS.set_index(pd.date_range("2026", periods=ROWS)), NUMBERS),
    "an index with another name": ("rmse", NUMBERS.rename_axis("row"), NUMBERS),
    "columns swapped": ("rmse", NUMBERS[["y", "id"]], NUMBERS),
    "names in capitals": ("rmse", NUMBERS.set_axis(["ID", "Y"], axis=1), NUMBERS.set_axis(["ID", "Y"], axis=1)),
    "ids in capitals as index": ("rmse", NUMBERS.rename_axis("x").set_index(NUMBERS.id.rename("ID"))[["y"]], CAPITALS),
    "lists before ids in capitals": ("map_at_k", listed(list).set_axis(["ID", "y"], axis=1)[["y", "ID"]], TEXTS_LAST),
    "float32": ("rmse", FLOATS32, FLOATS32),
    "float16": ("rmse", NUMBERS.astype({"y": "float16"}), NUMBERS.astype({"y": "float16"})),
    "int8": ("rmse", WHOLE.astype({"y": "int8"}), WHOLE),
    "uint16 ids": ("rmse", NUMBERS.astype({"id": "uint16"}), NUMBERS),
    "ids as floats": ("rmse", NUMBERS.astype({"id": "float64"}), NUMBERS),
    "ids as texts": ("rmse", NUMBERS.astype({"id": "str"}), NUMBERS),
    "nullable Int64": ("rmse", WHOLE.astype("Int64"), WHOLE),
    "nullable Float64": ("rmse", NUMBERS.astype({"y": "Float64"}), NUMBERS),
    "nullable Float32": ("rmse", NUMBERS.astype({"y": "Float32"}), FLOATS32),
    "Arrow's doubles": ("rmse", NUMBERS.astype({"y": "double[pyarrow]", "id": "int32[pyarrow]"}), NUMBERS),
    "objects": ("rmse", NUMBERS.astype(object), NUMBERS),
    "numbers of numpy as objects": ("rmse", numbers(pd.Series(list(FLOATS32.y.to_numpy()), dtype=object)), FLOATS32),
    "sparse": ("rmse", NUMBERS.assign(y=pd.arrays.SparseArray(NUMBERS.y)), NUMBERS),
    "Decimals": ("rmse", numbers([Decimal(repr(value)) for value in NUMBERS.y.tolist()]), NUMBERS),
    "numbers as texts": ("rmse", NUMBERS.astype({"y": "str"}), NUMBERS),
    "probabilities": ("log_loss", NUMBERS, NUMBERS),
    "probabilities in 32 bits": ("log_loss", FLOATS32, FLOATS32),
    "0 and 1": ("log_loss", numbers(IDS % 2), numbers(IDS % 2)),
    "two columns of a matrix": (
        "columnwise_rmse",
        pd.DataFrame(NUMBERS[["y", "y"]].to_numpy(), columns=["a", "b"]).assign(id=IDS),
        NUMBERS.assign(a=NUMBERS.y, b=NUMBERS.y).drop(columns="y"),
    ),
    "labels as objects": ("accuracy", LABELS.astype(object), LABELS),
    "categories": ("accuracy", LABELS.astype({"y": "category"}), LABELS),
    "categories of numbers as ids": ("accuracy", LABELS.astype({"id": "category"}), LABELS),
    "string": ("accuracy", LABELS.astype({"y": "string"}), LABELS),
    "Arrow's strings": ("accuracy", LABELS.astype({"y": "string[pyarrow]"}), LABELS),
    "texts of numpy": ("accuracy", LABELS.assign(y=pd.Series(list(LABELS.y.to_numpy(str)), dtype=object)), LABELS),
    "a table of Arrow": ("accuracy", pa.Table.from_pandas(LABELS), LABELS),
    "a table of another library": ("accuracy", Stream(LABELS), LABELS),
    "numbers of another library": ("rmse", Stream(FLOATS32), FLOATS32),
    "lists": ("map_at_k", listed(list), TEXTS),
    "tuples": ("map_at_k", listed(tuple), TEXTS),
    "arrays": ("map_at_k", listed(np.array), TEXTS),
    "lists in a table of Arrow": ("map_at_k", pa.Table.from_pandas(listed(list)), TEXTS),
    "sets": ("multilabel_f1", listed(set), listed(lambda one: " ".join(sorted(one)))),
    "lists beside texts": ("multilabel_f1", listed(lambda one: one if "cat" in one else " ".join(one)), TEXTS),
}

NO_ANSWERS = {
    "names in capitals",
    "ids in capitals as index",
    "lists before ids in capitals",
    "ids as floats",
    "ids within a larger index",
    "an index with another name",
}
"""Answers like these have other ids or further columns; a submission's columns are known."""

REFUSED: dict[str, tuple[str, Any, str]] = {
    "twice the same rows": ("rmse", pd.concat([NUMBERS, NUMBERS]), "repeated_ids"),
    "some rows only": ("rmse", NUMBERS.iloc[:900], "missing_ids"),
    "rows that nobody asked for": ("rmse", LARGER[["id", "y"]], "unknown_ids"),
    "ids nowhere": ("rmse", NUMBERS[["y"]], "column_missing"),
    "ids in an index without a name": ("rmse", NUMBERS[["y"]].set_index(pd.Index(IDS)), "unnamed_index"),
    "an extra column": ("rmse", NUMBERS.assign(fold=1), "column_extra"),
    "two columns of one name": ("rmse", NUMBERS[["id", "y", "y"]], "column_repeated"),
    "columns without names": ("rmse", pd.DataFrame(NUMBERS.to_numpy()), "header_missing"),
    "columns of two levels": ("rmse", pd.concat([NUMBERS], axis=1, keys=["all"]), "column_levels"),
    "NaN": ("rmse", NUMBERS.assign(y=NUMBERS.y.mask(NUMBERS.y > 0.5)), "missing_value"),
    "NA": ("rmse", NUMBERS.assign(y=NUMBERS.y.astype("Float64").mask(NUMBERS.y > 0.5)), "missing_value"),
    "None": ("accuracy", LABELS.assign(y=LABELS.y.where(LABELS.y == "cat", None)), "missing_value"),
    "NaT as id": ("rmse", pd.DataFrame({"id": [pd.NaT] * ROWS, "y": TRUE}), "blank_id"),
    "infinity": ("rmse", NUMBERS.assign(y=np.inf), "not_finite"),
    "truth values as numbers": ("log_loss", NUMBERS.assign(y=NUMBERS.y > 0.5), "not_a_number"),
    "Fractions": ("rmse", numbers([Fraction(1, 3)] * ROWS), "not_a_number"),
    "complex numbers": ("rmse", NUMBERS.assign(y=1j), "not_a_number"),
    "days as numbers": ("rmse", NUMBERS.assign(y=date(2026, 1, 1)), "not_a_number"),
    "probabilities beyond 1": ("log_loss", NUMBERS.assign(y=1.5), "not_a_probability"),
    "a matrix in each cell": ("rmse", numbers([np.zeros((1, 1))] * ROWS), "nested_cells"),
    "a number in an array in each cell": ("rmse", numbers(list(np.zeros((ROWS, 1)))), "nested_cells"),
    "lists for a metric of one label": ("accuracy", listed(list), "nested_cells"),
    "lists as ids": ("map_at_k", pd.DataFrame({"id": [[n] for n in IDS], "y": "cat"}), "nested_cells"),
    "lists in lists": ("map_at_k", listed(lambda one: [one]), "nested_cells"),
    "a label with a space in a list": ("map_at_k", listed(lambda one: ["red fox"]), "nested_cells"),
    "nothing in a list": ("map_at_k", listed(lambda one: [None, "cat"]), "nested_cells"),
    "sets where the order counts": ("map_at_k", listed(set), "nested_cells"),
    "dictionaries": ("multilabel_f1", listed(lambda one: dict.fromkeys(one, 1)), "nested_cells"),
    "bytes": ("accuracy", LABELS.assign(y=[cell.encode() for cell in LABELS.y]), "nested_cells"),
    "bytes in a table of Arrow": (
        "accuracy",
        pa.Table.from_pandas(LABELS.assign(y=[cell.encode() for cell in LABELS.y])),
        "nested_cells",
    ),
    "objects of a class": ("accuracy", numbers([object()] * ROWS), "nested_cells"),
    "an array with names": ("rmse", NUMBERS.to_records(index=False), "no_table"),
    "a list of dictionaries": ("rmse", NUMBERS.to_dict("records"), "no_table"),
    "a generator": ("rmse", (row for row in NUMBERS.to_dict("records")), "no_table"),
    "a column of Arrow": ("rmse", pa.array(NUMBERS.y), "no_table"),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_a_notebook_holds_scores_like_its_file(name: str) -> None:
    key, held, frame = GOOD[name]
    truth = TRUTHS[key]
    file, answers = as_file(frame), as_file(truth)
    expected = metrics.evaluate(key, answers, file).as_dict()
    assert metrics.evaluate(key, truth, held).as_dict() == expected
    assert metrics.evaluate(key, answers, held).as_dict() == expected
    if key != "log_loss" and name not in NO_ANSWERS:
        swapped = metrics.evaluate(key, file, answers, id_column="id").as_dict()
        assert metrics.evaluate(key, held, truth, id_column="id").as_dict() == swapped


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_meant_is_refused_in_one_sentence(name: str) -> None:
    key, held, code = REFUSED[name]
    for truth in (TRUTHS[key], as_file(TRUTHS[key])):
        with pytest.raises(metrics.SubmissionError) as refused:
            metrics.evaluate(key, truth, held)
        assert code in [problem.code for problem in refused.value.problems]
        assert len(str(refused.value)) < 1000


def test_lists_are_joined_by_the_separator_of_the_metric() -> None:
    foxes = [["red fox", "owl"], ["owl"], []]
    truth = pd.DataFrame({"id": [1, 2, 3], "y": ["owl|red fox", "owl", ""]})
    for cells in (foxes, [*map(tuple, foxes)]):
        sent = pd.DataFrame({"id": [1, 2, 3], "y": cells})
        assert metrics.score("multilabel_f1", truth, sent, separator="|").overall == 1.0
        assert metrics.score("multilabel_f1", sent, truth, separator="|").overall == 1.0
    with pytest.raises(metrics.SubmissionError, match="separator"):
        metrics.score("multilabel_f1", truth, pd.DataFrame({"id": [1], "y": [["a|b"]]}), separator="|")
