"""The two by two table of truth and prediction."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from metrics._contract import ratio

Positive = Annotated[Literal[1, 0], "Which of the two values counts as found."]
PARTS = ("tp", "tn", "fp", "fn")


def confusion(truth: np.ndarray, prediction: np.ndarray, positive: int) -> np.ndarray:
    """tp, tn, fp, fn of each row, shape (n, 4)."""
    true, said = truth == positive, prediction == positive
    return np.column_stack([true & said, ~true & ~said, ~true & said, true & ~said]).astype(np.float64)


def found_share(right: float, wrong: float, other_wrong: float) -> float:
    """``right / (right + wrong)``; with nothing to divide 1.0 if nothing was to be found or said at all, else 0.0."""
    return ratio(right, right + wrong, empty=0.0 if other_wrong else 1.0)
