"""Errors of logarithms, for amounts of which the ratio matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from ..core.messages import Message, Plural
from ..core.parameters import Range
from ..reading.columns import Cells

Offset = Annotated[float, Range(0, 1e9), "Added to both numbers before the logarithm; 0 allows no answer of 0."]

_NO_LOGARITHM = Plural(
    "{count} value of {column} is 0 and has no logarithm: {examples}.",
    "{count} values of {column} are 0 and have no logarithm: {examples}.",
)


def squared_log_error(truth: np.ndarray, prediction: np.ndarray, offset: float) -> np.ndarray:
    """The square of the difference of the logarithms, in the shape of the arguments."""
    squares: np.ndarray = (_log(prediction, offset) - _log(truth, offset)) ** 2
    return squares


def _log(values: np.ndarray, offset: float) -> np.ndarray:
    logs: np.ndarray = np.log1p(values) if offset == 1 else np.log(values + offset)
    return logs


def verify(columns: Sequence[Cells], prediction: np.ndarray, *, offset: Offset = 1.0) -> None:
    """Zeros have no logarithm where nothing is added."""
    if offset == 0:
        for cells, values in zip(columns, np.atleast_2d(prediction.T), strict=True):
            if len(places := np.flatnonzero(values == 0)):
                cells.refuse("too_small", _NO_LOGARITHM, places)


def unscorable(truth: np.ndarray, *, offset: Offset = 1.0) -> str:
    """The same of the truth."""
    if offset == 0 and (truth == 0).any():
        return Message("it holds an answer of 0, which has no logarithm; choose an offset above 0.")
    return ""
