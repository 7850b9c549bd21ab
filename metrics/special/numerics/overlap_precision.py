"""Precision of objects at several thresholds of IoU, shared by metrics of masks and of boxes."""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import numpy as np

from ...core.contract import ratio
from ...core.figures import Figure, Grid
from ...core.parameters import Range
from ...numerics.sums import exact_sum

# Thresholds end below 1: no IoU is greater, so that a perfect file would not find its own objects.
Stop = Annotated[float, Range(0, 0.99), "The last threshold."]
Step = Annotated[float, Range(0.01, 1), "From one threshold to the next."]
Beta = Annotated[
    float | None,
    Range(0, 1000, exclusive_minimum=True),
    "Empty: tp / (tp + fp + fn) of the objects; a number: their F-beta, where more than 1 favours recall.",
]
Pooling = Annotated[
    Literal["rows", "pooled"],
    "rows: mean over pictures; pooled: the objects of all pictures together, at each threshold.",
]

PARTS = ("true_objects", "predicted_objects", "matches", "value", "pictures")

_PICTURES, _MOST_SHOWN = 3, 12
"""The number of pictures to draw, and the most objects of one side in a drawing."""


def thresholds(start: float, stop: float, step: float) -> np.ndarray:
    """``start``, ``start + step`` … up to ``stop``, without rounding errors of adding; at least ``start``.

    >>> thresholds(0.5, 0.6, 0.05).tolist()
    [0.5, 0.55, 0.6]
    """
    count = max(0, int((stop - start) / step + 1e-6)) + 1
    return np.round(start + np.arange(count) * step, 10)


def worth(tp: np.ndarray, true: np.ndarray, said: np.ndarray, beta: float | None) -> np.ndarray:
    """tp / (tp + fp + fn), or F-beta, from the numbers of matches, true and predicted objects; 1 without any object."""
    # As in f_beta: without a wrong object, numerator and denominator are the same number to the last bit.
    square = 0.0 if beta is None else beta * beta
    over = (1 + square) * tp
    wrong = (true - tp) + (said - tp) if beta is None else square * (true - tp) + (said - tp)
    return np.asarray(ratio(over, over + wrong, empty=1.0))


def table_of(true: np.ndarray, said: np.ndarray, matches: Sequence[np.ndarray], beta: float | None) -> np.ndarray:
    """For each picture its true and predicted objects, matches at the lowest threshold, the mean value over thresholds,
    1 for the picture, and the matches at each threshold; shape (pictures, 5 + thresholds)."""
    values = [worth(tp, true, said, beta) for tp in matches]
    mean = sum(values, np.zeros(len(true))) / len(matches)
    return np.column_stack([true, said, matches[0], mean, np.ones(len(true)), *matches])


def total(sums: np.ndarray, *, beta: Beta = None, pooling: Pooling = "rows") -> float:
    """The mean over pictures (1.0 without pictures that count), or the mean over thresholds of the value of all objects
    pooled."""
    true, said, _, value, pictures = sums[:5]
    if pooling == "rows":
        return ratio(value, pictures, empty=1.0)
    values = worth(sums[5:], true, said, beta)
    return float(exact_sum(values) / len(values))


def last_line(*, pooling: Pooling) -> str:
    if pooling == "rows":
        return "{value} / {pictures}"
    return "mean over thresholds, for {true_objects} true and {predicted_objects} predicted objects"


Met = Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""A function from a row to the pairs of objects that overlap: indices of true and predicted objects, and their IoU."""


def matrices(true: np.ndarray, said: np.ndarray, met: Met, least: float, *, strict: bool = True) -> list[Figure]:
    """The IoU of each true and predicted object in the first pictures that are small enough to draw; ``true`` and
    ``said`` are the numbers of objects per row. Pairs with an IoU above ``least`` (without ``strict``: of at least
    ``least``) are marked."""
    fits = (true > 0) & (said > 0) & (true <= _MOST_SHOWN) & (said <= _MOST_SHOWN)
    words = "greater than" if strict else "at least"
    drawn: list[Figure] = []
    for row in np.flatnonzero(fits)[:_PICTURES].tolist():
        ours, theirs, iou = met(row)
        values = np.zeros((int(true[row]), int(said[row])))
        values[ours, theirs] = iou
        is_enough = values > least if strict else values >= least
        drawn.append(
            Grid(
                title=f"IoU in row {row + 1}",
                corner="true",
                rows=[f"true {place + 1}" for place in range(len(values))],
                columns=[f"predicted {place + 1}" for place in range(values.shape[1])],
                cells=[[round(value, 3) for value in line] for line in values.tolist()],
                marked=frozenset((int(ours), int(theirs)) for ours, theirs in np.argwhere(is_enough)),
                note=f"Marked are the pairs that can match: their IoU is {words} {least:g}.",
            )
        )
    return drawn
