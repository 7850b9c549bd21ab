"""Files made of arrays, for metrics of probabilities and scores."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import metrics


def table(names: Sequence[str], values: Any) -> bytes:
    """A CSV with ids; numbers with all their digits."""
    columns = np.asarray(values, object).reshape(-1, len(names)).tolist()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["id", *names])
    writer.writerows([f"r{row}", *cells] for row, cells in enumerate(columns))
    return out.getvalue().encode()


def names_of(values: Any) -> list[str]:
    return [f"c{place}" for place in range(np.atleast_2d(np.asarray(values).T).shape[0])]


def score(key: str, truth: Any, prediction: Any, **params: Any) -> float:
    """Of files with the same columns."""
    sent = table(names_of(prediction), prediction)
    return metrics.evaluate(key, table(names_of(truth), truth), sent, params).overall


def binary(dice: np.random.Generator, rows: int, columns: int = 1) -> np.ndarray:
    """Answers with both classes in each column."""
    truth = dice.integers(0, 2, (rows, columns))
    truth[0], truth[1] = 0, 1
    return truth[:, 0] if columns == 1 else truth


def tied(dice: np.random.Generator, *shape: int) -> np.ndarray:
    """Probabilities with many repeats, both ends among them."""
    found: np.ndarray = dice.integers(0, 11, shape) / 10
    return found


def shares(dice: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Rows that sum to 1, with zeros and tiny shares among them."""
    raw = dice.integers(0, 5, (rows, columns)) + 1e-9 * (dice.integers(0, 2, (rows, columns)))
    raw[:, 0] += 0.5
    found: np.ndarray = raw / raw.sum(axis=1, keepdims=True)
    return found


def close(value: float) -> Any:
    """Equal to twelve digits, or both nothing."""
    return pytest.approx(value, rel=1e-12, abs=1e-14)
