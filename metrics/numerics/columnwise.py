"""Means over target columns of a score of each column.

Means over target columns of a score that each column gets by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np

from ..core.contract import ratio, root
from ..core.figures import Figure, Grid
from ..core.messages import Message
from ..core.parameters import Longest
from .sums import exact_sum

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


Skip = Annotated[bool, "Leave out columns with only one class in a split, instead of refusing the truth."]


def has_both(truth: np.ndarray) -> np.ndarray:
    """Which columns have both 0 and 1; shape (columns,), bool."""
    found: np.ndarray = (truth == 1).any(axis=0) & (truth == 0).any(axis=0)
    return found


def counted_columns(truth: np.ndarray, skip: bool) -> np.ndarray:
    """The places of the columns that make the mean."""
    return np.flatnonzero(has_both(truth)) if skip else np.arange(truth.shape[1])


def missing_class(truth: np.ndarray, skip: bool) -> str:
    """Why some column has no order to be found, or ``""``."""
    both = has_both(truth)
    if both.all() or (skip and both.any()):
        return ""
    if skip:
        return Message("none of its columns has both 0 and 1.")
    place = int(np.argmin(both))
    return Message(
        "all its answers of target column {place} are {answer}; both 0 and 1 are needed.",
        place=place + 1,
        answer=f"{truth[0, place]:g}",
    )


def mean_of_columns(values: list[float]) -> float:
    """The plain mean; 0.0 of none."""
    return float(exact_sum(np.array(values)) / max(1, len(values)))


def added_over(
    truth: np.ndarray, prediction: np.ndarray, places: np.ndarray, share: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """What each row gives to the mean over the columns at ``places``; ``share(truth, prediction)`` tells it of one
    column. Column by column, so that the memory is that of one."""
    added = np.zeros(len(truth))
    for place in places.tolist():
        added += share(truth[:, place], prediction[:, place])
    return added / max(1, len(places))


def table_of_columns(truth: np.ndarray, values: dict[int, float], name: str) -> list[Figure]:
    """A line for each column: how many 1s and 0s it has, and its score; then the mean."""
    ones = truth.sum(axis=0).astype(int).tolist()
    cells: list[list[float | str]] = [
        [count, len(truth) - count, values.get(place, "left out")] for place, count in enumerate(ones)
    ]
    return [
        Grid(
            title="Column by column",
            rows=[*(f"column {place + 1}" for place in range(len(ones))), "mean"],
            columns=["1s", "0s", name],
            cells=[*cells, ["", "", mean_of_columns(list(values.values()))]],
            note=f"The score is the plain mean of the last column ({name}).",
        )
    ]
