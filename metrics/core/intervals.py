"""Between which ends the value on other rows of the same kind lies, in 95 of 100 cases.

The ends follow from the value and its standard error on the scale of the metric:

- between two ends, the interval of Wilson for a share, with as many rows as a share with this standard error has;
- with one end, the distance from it divided and multiplied by the same factor;
- the quantile is Student's, with fewer degrees of freedom where few rows make most of the standard error.

The standard error is too small where a class has a handful of rows, because all of them may be right by luck. So where
a metric gives rare classes the weight of frequent ones (``effective_size``), the rows of the share are no more than
the classes allow. Scoring resamples again does not help there: no resample knows an error that no row has.

``bench/intervals.py`` counts how often the ends hold the value of a large sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .contract import Metric


NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def degrees_of_freedom(changes: np.ndarray) -> float:
    """How many squares of normal numbers would make the sum of these squares as uncertain as it is, less one: n - 1
    where the changes are normal, and few where few rows make most of the sum. Between 1 and n - 1."""
    squares = np.square(changes / (np.abs(changes).max(initial=0.0) or 1.0))
    fourth = float(np.square(squares).sum())
    most = max(1, len(changes) - 1)
    return min(most, max(1.0, 3 * float(squares.sum()) ** 2 / fourth - 1)) if fourth else most


def student(freedom: float) -> float:
    """The 97.5 % quantile of Student's distribution, to 1 % from 4 degrees of freedom on (Cornish and Fisher).

    >>> round(student(6), 2), round(student(1e9), 2)
    (2.43, 1.96)
    """
    z = NORMAL
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def widened(metric: Metric, value: float, error: float, freedom: float, effective_size: float | None = None) -> float:
    """The standard error that an interval is made of: larger where it is itself uncertain, or where rare classes are
    known by fewer rows than it needs."""
    wide = error * student(freedom) / NORMAL
    if effective_size is None or metric.worst is None:
        return wide
    share = _share(metric, value)
    return max(wide, abs(metric.best - metric.worst) * math.sqrt(share * (1 - share) / effective_size))


def interval(metric: Metric, value: float, error: float, rows: float) -> tuple[float, float]:
    """The ends between which the value of other rows lies in 95 of 100 cases."""
    if metric.worst is not None:
        return _wilson(metric, value, error, rows)
    distance = value - metric.best
    if not distance:
        return value - NORMAL * error, value + NORMAL * error
    factor = float(np.exp(NORMAL * error / abs(distance)))
    low, high = sorted((metric.best + distance / factor, metric.best + distance * factor))
    return low, high


def _share(metric: Metric, value: float) -> float:
    """How far the value is on the way from one end of the scale to the other, from 0 to 1."""
    assert metric.worst is not None
    return min(1.0, max(0.0, (value - metric.worst) / (metric.best - metric.worst)))


def _wilson(metric: Metric, value: float, error: float, rows: float) -> tuple[float, float]:
    """Wilson's interval for a share; Wilson 1927."""
    assert metric.worst is not None
    way = metric.best - metric.worst
    share = _share(metric, value)
    single = share * (1 - share)
    # One divided by the rows that give a share this standard error; by all rows where it says nothing.
    rarity = ((error / way) ** 2 / single if single else 0.0) or 1 / rows
    moved = NORMAL**2 * rarity
    middle = (share + moved / 2) / (1 + moved)
    half = math.sqrt(single * moved + moved**2 / 4) / (1 + moved)
    low, high = sorted((metric.worst + way * (middle - half), metric.worst + way * (middle + half)))
    return low, high
