"""Small files of truths and submissions made of columns, and what the library says about them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import metrics

Columns = Mapping[str, Sequence[Any] | np.ndarray]


def csv(columns: Columns) -> bytes:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(["id", *columns])]
    lines += [",".join([str(place), *(str(value) for value in row)]) for place, row in enumerate(rows)]
    return "\n".join([*lines, ""]).encode()


def table(values: np.ndarray) -> dict[str, list[Any]]:
    return {"abc"[place]: column for place, column in enumerate(np.atleast_2d(values.T).tolist())}


Values = np.ndarray | Sequence[float] | Sequence[Sequence[float]]


def score(key: str, truth: Values, said: Values, roles: Columns | None = None, **params: Any) -> float:
    true, sent = table(np.asarray(truth, float)), table(np.asarray(said, float))
    return metrics.evaluate(key, csv({**true, **(roles or {})}), csv(sent), params).overall


def refusals(key: str, truth: Columns, said: Columns, **params: Any) -> list[metrics.Problem]:
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate(key, csv(truth), csv(said), params)
    return caught.value.problems


def faults(key: str, truth: Columns, **params: Any) -> list[metrics.Problem]:
    with pytest.raises(metrics.GroundTruthError) as caught:
        metrics.prepare(key, csv(truth), params)
    return caught.value.problems
