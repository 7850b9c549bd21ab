"""How far labels are apart: by their numbers where they are numbers, else by their places in the alphabet."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context
from typing import Annotated, Literal

import numpy as np

from ..core.arrays import Coded
from ..reading.column_kinds import LARGEST
from ..reading.numbers import to_decimal
from .contingency import Crossing

Weights = Annotated[
    Literal["none", "linear", "quadratic"], "none: each confusion costs 1; linear, quadratic: by the distance."
]


_EXACT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Large numbers that differ little are as far apart as they say."""


def too_large(column: Coded) -> np.ndarray:
    """The rows with a number whose distances float64 could not hold."""
    numbers = [to_decimal(str(value)) for value in column.values]
    far = [code for code, number in enumerate(numbers) if number is not None and number.copy_abs() > LARGEST]
    return np.flatnonzero(np.isin(column.codes, far))


def positions(found: Crossing) -> np.ndarray:
    """Where each label stands, from 0 on, ascending: by its number, where truths are numbers, else by its place."""
    labels = found.numbers
    if not labels:
        return np.arange(found.size, dtype=np.float64)
    numbers = [float(_EXACT.subtract(label, labels[0])) for label in labels]
    return np.array(numbers + [numbers[-1] + 1] * (found.size - len(numbers)))


def distances(found: Crossing, weights: Weights) -> np.ndarray:
    """What each cell costs."""
    if weights == "none":
        return np.where(found.is_right, 0.0, 1.0)
    places = positions(found)
    apart = np.abs(places[found.true] - places[found.said])
    cost: np.ndarray = apart if weights == "linear" else apart**2
    return cost


def by_chance(found: Crossing, counts: np.ndarray, weights: Weights) -> np.ndarray:
    """What each label costs against all labels in ``counts``: exact for whole numbers, never a small difference of
    large ones."""
    if weights == "none":
        return (found.rows - counts).astype(np.float64)
    places = positions(found)
    return _linear(places, counts) if weights == "linear" else _quadratic(places, counts, found.rows)


def _linear(places: np.ndarray, counts: np.ndarray) -> np.ndarray:
    gaps = np.diff(places)
    below = np.cumsum(np.cumsum(counts)[:-1] * gaps)
    above = np.cumsum(np.cumsum(counts[::-1])[:-1] * gaps[::-1])[::-1]
    return np.concatenate(([0.0], below)) + np.concatenate((above, [0.0]))


def _quadratic(places: np.ndarray, counts: np.ndarray, rows: int) -> np.ndarray:
    cost: np.ndarray
    if rows * places[-1] ** 2 < 2**51 and (places % 1 == 0).all():
        cost = rows * places**2 - 2 * places * (counts @ places) + counts @ places**2
    else:
        apart = places - float(counts @ places) / rows
        cost = rows * apart**2 + float(counts @ apart**2)
    return cost
