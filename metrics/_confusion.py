"""The two by two table of truth and prediction."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from metrics._contract import ratio
from metrics._errors import counted
from metrics._figures import Figure, Grid

Positive = Annotated[Literal[1, 0], "Which of the two values counts as found."]
PARTS = ("tp", "tn", "fp", "fn")


def confusion(truth: np.ndarray, prediction: np.ndarray, positive: int) -> np.ndarray:
    """tp, tn, fp, fn of each row, shape (n, 4)."""
    true, said = truth == positive, prediction == positive
    return np.column_stack([true & said, ~true & ~said, ~true & said, true & ~said]).astype(np.float64)


def two_by_two(truth: np.ndarray, prediction: np.ndarray, *, positive: Positive = 1) -> list[Figure]:
    """The table itself: rows by truth, columns by prediction."""
    tp, tn, fp, fn = (int(count) for count in confusion(truth, prediction, positive).sum(axis=0))
    values = (f"{positive}", f"{1 - positive}")
    return [
        Grid(
            title="Truth and prediction",
            corner="truth",
            rows=[f"is {value}" for value in values],
            columns=[f"said {value}" for value in values],
            cells=[[tp, fn], [fp, tn]],
            marked=frozenset({(0, 0), (1, 1)}),
            note=f"{counted(tp, 'true positive')}, {counted(fn, 'false negative')}, {counted(fp, 'false positive')}, "
            f"{counted(tn, 'true negative')}; the marked cells are right.",
        )
    ]


def found_share(right: float, wrong: float, other_wrong: float) -> float:
    """``right / (right + wrong)``; with nothing to divide 1.0 if nothing was to be found or said at all, else 0.0."""
    return ratio(right, right + wrong, empty=0.0 if other_wrong else 1.0)
