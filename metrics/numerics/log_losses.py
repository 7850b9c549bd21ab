"""Losses of rows that several metrics share: log losses of probabilities, logarithms of amounts, and deviances.

Errors of logarithms suit amounts whose ratio matters. Deviances are those of Poisson, gamma and Tweedie models. At the
end are predictions that are a value and its standard deviation, sigma.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..core.figures import weights_for
from ..core.messages import Message, Plural
from ..core.parameters import Range
from ..reading.class_columns import Classes, refuse_sums
from ..reading.columns import Cells
from ..reading.number_kinds import Fields, Number
from .sums import exact_sum

Clip = Annotated[float, Range(0, 0.5, exclusive_minimum=True), "Probabilities below this count as this."]
Normalise = Annotated[bool, "Divide the probabilities of each row by their sum; off: they must sum to 1."]


def surprise(truth: np.ndarray, prediction: np.ndarray, *, clip: Clip = 1e-15) -> np.ndarray:
    """Minus the logarithm of the probability predicted for the true answer 0 or 1, in any shape."""
    given = np.where(truth == 1, prediction, 1 - prediction)
    return -np.log(np.maximum(given, clip)) + 0.0


def surprise_of_class(truth: Classes, prediction: np.ndarray, clip: float, normalise: bool) -> np.ndarray:
    """Minus the logarithm of the probability predicted for the true class, shape (n,)."""
    given = prediction[np.arange(len(truth)), truth.codes]
    if normalise:
        sums = prediction.sum(axis=1)
        given = np.where(sums > 0, given / np.where(sums > 0, sums, 1.0), 1 / prediction.shape[1])
    # Clipped last: if tiny probabilities were clipped before dividing by their sum, none of them could be very wrong.
    return -np.log(np.maximum(given, clip)) + 0.0


def must_sum(columns: Sequence[Cells], prediction: np.ndarray, *, normalise: Normalise) -> None:
    """Refuse rows of probabilities that do not sum to 1, unless ``normalise`` divides them by their sum."""
    if not normalise:
        refuse_sums(columns, prediction)


@dataclass(frozen=True)
class ByClass:
    """Per class: the mean of its rows' losses (0 without rows), their number (1 without rows), and its share in the
    mean over classes (0 without rows)."""

    means: np.ndarray
    counts: np.ndarray
    shares: np.ndarray

    def influence(self, truth: Classes, losses: np.ndarray) -> np.ndarray:
        """The influence of each row on the mean over classes, through the mean of its class, shape (n,)."""
        return (losses - self.means[truth.codes]) * (self.shares / self.counts)[truth.codes]


def by_class(truth: Classes, losses: np.ndarray, weights: str | None) -> ByClass:
    """Average the losses of the rows, shape (n,), within each true class."""
    counts = np.bincount(truth.codes, minlength=len(truth.names))
    groups = np.split(losses[np.argsort(truth.codes, kind="stable")], np.cumsum(counts)[:-1])
    means = np.array([float(exact_sum(group) / max(1, len(group))) for group in groups])
    shares = np.array(weights_for(weights, len(counts))) * (counts > 0)
    return ByClass(means, np.maximum(counts, 1), shares / (shares.sum() or 1.0))


Offset = Annotated[float, Range(0, 1e9), "Added to both numbers before the logarithm; 0 allows no answer of 0."]

_NO_LOGARITHM = Plural(
    "{count} value of {column} is 0 and has no logarithm: {examples}.",
    "{count} values of {column} are 0 and have no logarithm: {examples}.",
)


def logarithm(values: np.ndarray, offset: float) -> np.ndarray:
    return np.log1p(values) if offset == 1 else np.log(values + offset)


def verify(columns: Sequence[Cells], prediction: np.ndarray, *, offset: Offset) -> None:
    """Refuse predictions of 0 if no offset is added, because 0 has no logarithm."""
    if offset == 0:
        for cells, values in zip(columns, np.atleast_2d(prediction.T), strict=True):
            if len(places := np.flatnonzero(values == 0)):
                cells.refuse("too_small", _NO_LOGARITHM, places)


def unscorable(truth: np.ndarray, *, offset: Offset) -> str:
    if offset == 0 and (truth == 0).any():
        return Message("it holds an answer of 0, which has no logarithm; choose an offset above 0.")
    return ""


FLOOR = 1e-100
"""Smaller predictions count as this if the answer is above 0, so that their cost is high but finite. No
answer above 0 is smaller."""


def unit_deviance(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """The unit deviance of each row, shape (n,), never below 0. ``power`` is from 1 to 3; answers and predictions are
    at least 0, and above 0 for a power of 2 or more."""
    is_close = (truth > 0) & (np.abs(prediction - truth) <= truth / 2)
    found = np.empty(len(truth))
    found[is_close] = _near(truth[is_close], prediction[is_close], power)
    found[~is_close] = _far(truth[~is_close], prediction[~is_close], power)
    return np.maximum(2 * found, 0.0)


def _near(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """Half of the deviance for predictions of 0.5 to 1.5 times the answer. The terms of the definition almost cancel
    here; these formulas keep the digits."""
    half: np.ndarray
    if power == 1:
        half = truth * _excess((prediction - truth) / truth)
    elif power == 2:
        half = _excess((truth - prediction) / prediction)
    else:
        a, b = 2 - power, 1 - power
        gap = -np.log1p((prediction - truth) / truth)
        half = prediction**a * (np.expm1(a * gap) / a - np.expm1(gap)) / b
    return half


def _far(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """Half of the deviance for other predictions, term by term."""
    floored = np.maximum(prediction, FLOOR)
    half: np.ndarray
    if power == 1:
        logs = np.log(np.where(truth > 0, truth, 1.0)) - np.log(floored)
        half = truth * logs - truth + prediction
    elif power == 2:
        half = np.log(floored) - np.log(truth) + truth / floored - 1
    else:
        a, b = 2 - power, 1 - power
        last = prediction**a if a > 0 else floored**a
        half = truth**a / (a * b) - truth * floored**b / b + last / a
    return half


def _excess(share: np.ndarray) -> np.ndarray:
    """``x - ln(1 + x)``, which is never below 0."""
    return share - np.log1p(share)


Sigma = Annotated[float, Range(0, 1e9, exclusive_minimum=True), "A smaller sigma counts as this one."]
VALUE_AND_SIGMA = Fields(Message("value, sigma"), value=Number(), sigma=Number(minimum=0))


def names_with_sigma(truth: np.ndarray, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The submission's columns: the value under the truth's name, and ``sigma`` (``Confidence`` if the truth's name is
    sigma)."""
    return (*targets, "Confidence" if "sigma" in targets else "sigma")


def answers_with_sigma(truth: np.ndarray, *, sigma_minimum: float = 0.0) -> list[list[str]]:
    """The columns of a perfect submission: the answers, with the smallest sigma that counts."""
    return [[repr(float(value)) for value in truth], [repr(sigma_minimum)] * len(truth)]
