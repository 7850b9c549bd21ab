"""How surprised a probability is by the truth: what every log loss adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..core.number_lists import weights_for
from ..core.parameters import Range
from ..reading.class_columns import Classes, refuse_sums
from ..reading.columns import Cells
from .sums import exact_sum

Clip = Annotated[float, Range(0, 0.5, exclusive_minimum=True), "Probabilities below this count as this."]
Normalise = Annotated[bool, "Divide the probabilities of each row by their sum; off: they must sum to 1."]


def surprise(truth: np.ndarray, prediction: np.ndarray, clip: float) -> np.ndarray:
    """Minus the logarithm of the probability given to the true answer 0 or 1, in any shape."""
    given = np.where(truth == 1, prediction, 1 - prediction)
    found: np.ndarray = -np.log(np.maximum(given, clip)) + 0.0
    return found


def surprise_of_class(truth: Classes, prediction: np.ndarray, clip: float, normalise: bool) -> np.ndarray:
    """Minus the logarithm of the probability given to the true class, shape (n,)."""
    given = prediction[np.arange(len(truth)), truth.codes]
    if normalise:
        sums = prediction.sum(axis=1)
        given = np.where(sums > 0, given / np.where(sums > 0, sums, 1.0), 1 / prediction.shape[1])
    # Clipped last: clipped first and divided by the sum, a row of tiny probabilities would never be wrong.
    found: np.ndarray = -np.log(np.maximum(given, clip)) + 0.0
    return found


def must_sum(columns: Sequence[Cells], prediction: np.ndarray, *, normalise: Normalise = True) -> None:
    """Rows of probabilities that nobody divides by their sum must sum to 1."""
    if not normalise:
        refuse_sums(columns, prediction)


@dataclass(frozen=True)
class ByClass:
    """For each class the mean of its rows' losses (0 without rows), their number (1 without rows) and the class's
    share in a mean over classes (0 without rows)."""

    means: np.ndarray
    counts: np.ndarray
    shares: np.ndarray

    def influence(self, truth: Classes, losses: np.ndarray) -> np.ndarray:
        """What each row does to the mean over classes, by way of the mean of its own."""
        effect: np.ndarray = (losses - self.means[truth.codes]) * (self.shares / self.counts)[truth.codes]
        return effect


def by_class(truth: Classes, losses: np.ndarray, weights: str | None) -> ByClass:
    """Group the losses of the rows, shape (n,), by the true class."""
    counts = np.bincount(truth.codes, minlength=len(truth.names))
    groups = np.split(losses[np.argsort(truth.codes, kind="stable")], np.cumsum(counts)[:-1])
    means = np.array([float(exact_sum(group) / max(1, len(group))) for group in groups])
    shares = np.array(weights_for(weights, len(counts))) * (counts > 0)
    return ByClass(means, np.maximum(counts, 1), shares / (shares.sum() or 1.0))
