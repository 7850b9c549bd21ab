"""Objects found at several thresholds of their intersection over union: what metrics of masks and of boxes share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from metrics._figures import Grid
from metrics._parameters import Range

Stop = Annotated[float, Range(0, 1), "The last threshold."]
Step = Annotated[float, Range(0.01, 1), "From one threshold to the next."]

MOST_SHOWN = 12
"""Objects of one side that a figure shows."""


def thresholds(start: float, stop: float, step: float) -> np.ndarray:
    """``start``, ``start + step`` … up to ``stop``, without the dust of adding; at least ``start``.

    >>> thresholds(0.5, 0.6, 0.05).tolist()
    [0.5, 0.55, 0.6]
    """
    count = max(0, int((stop - start) / step + 1e-6)) + 1
    return np.round(start + np.arange(count) * step, 10)


def precision(tp: np.ndarray, true: np.ndarray, said: np.ndarray) -> np.ndarray:
    """tp / (tp + fp + fn) from the objects that match and those of both sides; 1 where there are none at all."""
    under = true + said - tp
    found: np.ndarray = np.where(under == 0, 1.0, tp / np.maximum(under, 1))
    return found


def matrix_of(name: str, values: np.ndarray, least: float, *, strict: bool = True) -> Grid:
    """The IoU of each true and each predicted object of one picture, shape (true, said); those greater than ``least``
    are marked, or also equal ones unless ``strict``."""
    is_enough = values > least if strict else values >= least
    return Grid(
        title=f"IoU in row {name}",
        corner="true",
        rows=[f"true {place + 1}" for place in range(len(values))],
        columns=[f"predicted {place + 1}" for place in range(values.shape[1])],
        cells=[[round(value, 3) for value in line] for line in values.tolist()],
        marked=frozenset((int(ours), int(theirs)) for ours, theirs in np.argwhere(is_enough)),
        note=f"Marked are the pairs that can match: their IoU is {'greater than' if strict else 'at least'} {least:g}.",
    )


def rows_with_objects(true: np.ndarray, said: np.ndarray, most: int = 3) -> Sequence[int]:
    """The first rows of which a matrix can be shown."""
    fits = (true > 0) & (said > 0) & (true <= MOST_SHOWN) & (said <= MOST_SHOWN)
    found: list[int] = np.flatnonzero(fits)[:most].tolist()
    return found
