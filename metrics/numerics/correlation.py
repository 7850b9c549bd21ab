"""Deviations from a mean, and correlations; exact also for large numbers that differ little."""

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any

import numpy as np

from ..core.contract import WholeColumn, ratio
from ..core.messages import Message
from .sums import exact_sum

_LEAST_SQUARES = 1e-90
"""The least sum of squared differences; divided by less, errors would become too large."""

_TAME = 200
"""Powers of two up to which squares and their sums stay far from the limits of float64."""


def centred(values: np.ndarray) -> np.ndarray:
    """Each value minus the mean of all, shape (n,). The mean is exact, so large values that differ little keep their
    digits.

    >>> centred(np.array([1e9, 1e9 + 2**-20, 1e9 + 2**-19])) * 2**20
    array([-1.,  0.,  1.])
    """
    if not len(values) or not np.isfinite(values).all():
        return values  # not finite: for the engine to refuse
    mean = exact_sum(values) / len(values)
    near = float(mean)
    return (values - near) - float(mean - Fraction(near))


def centred_differences(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Each ``value - other`` minus the mean of these, shape (n,). The rounding error of each difference is added back,
    so that small numbers subtracted from large ones are not lost.

    >>> centred_differences(np.array([1e16, 1e16]), np.array([1.0, 3.0]))
    array([ 1., -1.])
    """
    near: np.ndarray = values - others
    if not len(near) or not np.isfinite(near).all():
        return near  # not finite: for the engine to refuse
    back = near - values
    rest = (values - (near - back)) - (others + back)
    mean = (exact_sum(near) + exact_sum(rest)) / len(near)
    middle = float(mean)
    return (near - middle) - float(mean - Fraction(middle)) + rest


def constant(truth: np.ndarray) -> str:
    """The reason why constant answers cannot be scored, or ``""``; shape (n,) or (n, c)."""
    for place, column in enumerate(truth.T if truth.ndim == 2 else [truth], start=1):
        if (column == column[0]).all():
            answer = f"{column[0]:g}"
            if truth.ndim != 2:
                return Message("all its answers are {answer}; at least two different ones are needed.", answer=answer)
            return Message(
                "in target column {place} all its answers are {answer}; at least two different ones are needed.",
                place=place,
                answer=answer,
            )
    return ""


def no_variance(truth: np.ndarray) -> str:
    """The reason why answers without variance cannot be the denominator of a score, or ``""``."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = centred(truth) ** 2
    if not squares.sum() >= _LEAST_SQUARES:
        return constant(truth) or Message("its answers differ so little that an error has no size beside them.")
    return ""


def share_left(contributions: np.ndarray) -> np.ndarray:
    """The derivative of ``1 - left / whole`` by the weight of each row; the two columns of ``contributions`` are
    squares whose sums are ``left`` and ``whole``. Heavier rows also move the means, but without an effect of first
    order."""
    left, whole = contributions.T
    over, under = _added(contributions)
    return (whole * ratio(over, under) - left) / (under or 1.0)


def one_minus_quotient(sums: np.ndarray) -> float:
    """1 minus the share that is left."""
    return 1 - ratio(*sums)


def share_explained(rows: Callable[..., np.ndarray], left: str, whole: str) -> WholeColumn:
    """1 minus the sum of ``left`` divided by that of ``whole``, the two columns of ``rows``."""

    @wraps(rows)
    def influence(truth: np.ndarray, prediction: np.ndarray, **params: Any) -> np.ndarray:
        return share_left(rows(truth, prediction, **params))

    line = f"1 − {{{left}}} / {{{whole}}}"
    return WholeColumn(rows=rows, total=one_minus_quotient, parts=(left, whole), last_line=line, influence=influence)


def mid_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; tied values share the mean of their ranks. Multiples of 0.5, shape (n,)."""
    ranks, _ = _ranked(values)
    return ranks


def _ranked(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mid-ranks, and the index of each value among the distinct ones."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places], places


def correlation_rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The product of both deviations, and the square of each, shape (n, 3)."""
    x, y = centred(_tamed(truth)), centred(_tamed(prediction))
    return np.column_stack([x * y, x * x, y * y])


def correlation_of(sums: np.ndarray) -> float:
    """The correlation from the sums of ``correlation_rows``, between -1 and 1; 0.0 if one side is constant."""
    product, x, y = map(float, sums)
    return min(1.0, max(-1.0, ratio(product, np.sqrt(x * y))))


def correlation(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The Pearson correlation of two columns, the same to the last bit in any order of the rows."""
    return correlation_of(_added(correlation_rows(truth, prediction)))


def correlation_influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    contributions = correlation_rows(truth, prediction)
    return _slope(contributions, _added(contributions))


def rank_correlation_influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The derivative of the rank correlation by the weight of each row, shape (n,): a heavier row also moves the ranks
    of all rows above it."""
    (x, x_place), (y, y_place) = _ranked(truth), _ranked(prediction)
    middle = (len(x) + 1) / 2
    x, y = x - middle, y - middle
    contributions = np.column_stack([x * y, x * x, y * y])
    moved = (_above(x_place, y) + _above(y_place, x), 2 * _above(x_place, x), 2 * _above(y_place, y))
    return _slope(contributions + np.column_stack(moved), _added(contributions))


def _tamed(values: np.ndarray) -> np.ndarray:
    """Very large or very small values scaled by a power of two, which changes no correlation."""
    power = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return values if abs(power) <= _TAME else np.ldexp(values, -power)


def _added(contributions: np.ndarray) -> np.ndarray:
    return np.array([float(exact_sum(column)) for column in contributions.T])


def _slope(changes: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The change of ``product / √(x·y)`` for changes of its three sums."""
    _, x, y = map(float, sums)
    if not x * y:
        return np.zeros(len(changes))
    return changes[:, 0] / np.sqrt(x * y) - correlation_of(sums) / 2 * (changes[:, 1] / x + changes[:, 2] / y)


def _above(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each row the sum of ``values`` over the rows at a higher place, rows at the same place counting half. The
    values are deviations of ranks, so the sums are exact."""
    groups = np.bincount(places, values)
    return (groups.sum() - np.cumsum(groups) + groups / 2)[places]
