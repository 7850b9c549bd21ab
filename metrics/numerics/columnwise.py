"""Means over target columns of a score of each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from ..core.contract import ratio, root
from ..core.figures import Figure, Grid
from ..core.parameters import Longest

Unscored = Annotated[
    str | None,
    Longest(1000),
    "Columns that a submission must have and that are not scored, separated by commas; empty means none.",
]


def squares_of(squares: np.ndarray) -> np.ndarray:
    """1 for the row, all its squares together, and each of them apart: shape (n, 2 + c)."""
    return np.column_stack([np.ones(len(squares)), squares.sum(axis=1), squares])


def mean_root(sums: np.ndarray) -> float:
    """The mean over columns of the root of the mean over rows, from sums of ``squares_of``."""
    count, _, *squares = sums
    return sum(roots_of(squares, count)) / len(squares)


def roots_of(squares: Sequence[float], count: float) -> list[float]:
    """The root of the mean over rows of each column."""
    return [root(ratio(square, count)) for square in squares]


def by_column(title: str, values: Sequence[float]) -> list[Figure]:
    """A table of the columns' own scores and their mean."""
    names = [f"target column {place}" for place in range(1, len(values) + 1)]
    cells = [[value] for value in [*values, ratio(sum(values), len(values))]]
    return [Grid(title, [*names, "mean"], ["score"], cells, note="The score is the mean of the columns' own scores.")]
