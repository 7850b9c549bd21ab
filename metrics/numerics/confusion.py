"""The two by two table of truth and prediction."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from ..core.contract import Contributions, ratio, sums_of
from ..core.figures import Figure, Grid

Positive = Annotated[Literal[1, 0], "Which of the two values counts as found."]
PARTS = ("tp", "tn", "fp", "fn")


_CELLS = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], np.float64)
"""Contributions of rows that neither are positive nor are said to be, that are only said to be, only are, both."""


def confusion(truth: np.ndarray, prediction: np.ndarray, positive: int) -> Contributions:
    """tp, tn, fp, fn of each row."""
    cells = (truth == positive).view(np.int8) * np.int8(2) + (prediction == positive)
    return Contributions(_CELLS, cells)


def two_by_two(truth: np.ndarray, prediction: np.ndarray, *, positive: Positive = 1) -> list[Figure]:
    """The table itself: rows by truth, columns by prediction."""
    tp, tn, fp, fn = (int(count) for count in sums_of(confusion(truth, prediction, positive), None))
    values = (f"{positive}", f"{1 - positive}")
    return [
        Grid(
            title="Truth and prediction",
            corner="truth",
            rows=[f"is {value}" for value in values],
            columns=[f"said {value}" for value in values],
            cells=[[tp, fn], [fp, tn]],
            marked=frozenset({(0, 0), (1, 1)}),
            note=f"{_many(tp, 'true positive')}, {_many(fn, 'false negative')}, {_many(fp, 'false positive')}, "
            f"{_many(tn, 'true negative')}; the marked cells are right.",
        )
    ]


def _many(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def found_share(right: float, wrong: float, other_wrong: float) -> float:
    """``right / (right + wrong)``; with nothing to divide 1.0 if nothing was to be found or said at all, else 0.0."""
    return ratio(right, right + wrong, empty=0.0 if other_wrong else 1.0)
