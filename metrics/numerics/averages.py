"""Averages over labels of a ratio of counts (F1, Jaccard, recall): its value, and what one row changes.

Counts have shape (labels, 3): tp, fp and fn of each label.

F1 and F-beta from counts, and the averages of F1 over rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from ..core.contract import ratio
from ..core.parameters import Range
from .sums import exact_sum


@dataclass(frozen=True)
class Share:
    """A ratio of counts: the weights of tp, fp and fn above and below the line."""

    over: tuple[float, float, float]
    under: tuple[float, float, float]


def f_share(beta: float) -> Share:
    """F-beta."""
    square = beta * beta
    return Share((1 + square, 0, 0), (1 + square, 1, square))


F1 = f_share(1.0)
JACCARD = Share((1, 0, 0), (1, 1, 1))
RECALL = Share((1, 0, 0), (1, 0, 1))

_IS_TRUE = (1, 0, 1)


def _used(counts: np.ndarray, share: Share) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which labels have a ratio at all, and value and denominator of these."""
    under = counts @ share.under
    used = under > 0
    return used, (counts @ share.over)[used] / under[used], under[used]


def mean_of(counts: np.ndarray, share: Share, average: str, others: int | None = None) -> float:
    """``macro``: the plain mean over labels; ``weighted``: by their true rows; ``micro``: of the pooled counts.

    Labels that nobody has or predicts do not count; without any label the mean is 1.0. With ``others`` the last row
    holds so many labels together, which are predicted and never true: each has a ratio of 0.
    """
    if average == "micro":
        counts, others = counts.sum(axis=0, keepdims=True), None
    if others is not None:
        counts = counts[:-1]
    used, values, _ = _used(np.asarray(counts, np.float64), share)
    labels = len(values) + (others or 0)
    if not labels:
        return 1.0
    if average == "weighted":
        true = (counts @ _IS_TRUE)[used]
        return ratio(float(exact_sum(values * true)), float(true.sum()))
    return float(exact_sum(values) / labels)


def effects(counts: np.ndarray, share: Share, average: str, others: int | None = None) -> np.ndarray:
    """What one more tp, fp and fn of each label would change: the derivatives of the mean, shape (labels, 3); with
    ``others`` as in ``mean_of`` the last row says it of each of these."""
    counts = np.asarray(counts, np.float64)
    if average == "micro":
        pooled = effects(counts.sum(axis=0, keepdims=True), share, "macro")
        return np.repeat(pooled, len(counts), axis=0)
    used, values, under = _used(counts, share)
    # A label that is only predicted has the ratio 0 however often: all of them in one row change nothing either.
    labels = len(values) + (others - bool(counts[-1].any()) if others is not None else 0)
    found = np.zeros(counts.shape)
    slopes = (np.array(share.over) - values[:, None] * np.array(share.under)) / under[:, None]
    if average == "weighted":
        true = (counts @ _IS_TRUE)[used]
        rows = max(float(true.sum()), 1.0)
        gap = values - ratio(float(exact_sum(values * true)), float(true.sum()))
        found[used] = (slopes * true[:, None] + gap[:, None] * np.array(_IS_TRUE)) / rows
    else:
        found[used] = slopes / max(labels, 1)
    return found


def size_of(counts: np.ndarray, share: Share, average: str) -> float | None:
    """How many rows a plain share would need to be as uncertain as the mean over labels that are all equally well
    predicted: the harmonic mean of the labels' own sizes, times their number. ``None`` for pooled counts."""
    if average == "micro":
        return None
    counts = np.asarray(counts, np.float64)
    used, _, under = _used(counts, share)
    if not len(under):
        return None
    weights = (counts @ _IS_TRUE)[used] if average == "weighted" else np.ones(len(under))
    # A ratio of a x to a x + y has the variance of a share of x to x + y in so many rows (delta method).
    sizes = under**2 / (share.under[0] * (counts[used] @ np.sign(share.under)))
    return float(weights.sum() ** 2 / np.sum(weights**2 / sizes))


def worth(counts: np.ndarray, share: Share, average: str) -> np.ndarray:
    """What each right row adds to the mean, by its label: with these the rows add up to it. Shape (labels,)."""
    counts = np.asarray(counts, np.float64)
    if average == "micro":
        return np.full(len(counts), share.over[0] / max(float((counts @ share.under).sum()), 1.0))
    used, _, under = _used(counts, share)
    weights = np.ones(len(under))
    if average == "weighted":
        weights = (counts @ _IS_TRUE)[used]
    found = np.zeros(len(counts))
    found[used] = share.over[0] / under * weights / max(float(weights.sum()), 1.0)
    return found


Average = Annotated[
    Literal["samples", "micro", "macro", "weighted"],
    "samples: mean over rows; micro: pooled counts; macro: mean over labels; weighted: by a label's true rows.",
]
Beta = Annotated[float, Range(0, 1000, exclusive_minimum=True), "Weight of recall: below 1 favours precision."]


def f_beta(tp: float, fp: float, fn: float, beta: float = 1.0) -> float:
    """F-beta from counts; 1.0 where there was nothing to find and nothing was found.

    >>> f_beta(3, 1, 2, beta=0.5)
    0.7142857142857143
    """
    square = beta * beta
    return ratio((1 + square) * tp, (1 + square) * tp + square * fn + fp, empty=1.0)


def f_beta_of_rows(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, beta: float = 1.0) -> np.ndarray:
    """F-beta for each row; 1.0 where there was nothing to find and nothing was found."""
    square = beta * beta
    under = (1 + square) * tp + square * fn + fp
    return np.where(under == 0, 1.0, (1 + square) * tp / np.where(under == 0, 1.0, under))


def mean_over_rows(sums: np.ndarray, average: str, beta: float = 1.0) -> float | None:
    """The score from summed ``tp, fp, fn, f, rows``; ``None`` for the averages over labels."""
    tp, fp, fn, f, count = sums
    if average == "micro":
        return f_beta(tp, fp, fn, beta)
    return ratio(f, count) if average == "samples" else None


def split_labels(cell: str, separator: str | None) -> frozenset[str]:
    """The distinct labels of a cell; ``None`` splits on any white space.

    >>> sorted(split_labels("b a  a", None)), sorted(split_labels("x y; z;", ";"))
    (['a', 'b'], ['x y', 'z'])
    """
    if separator is None or not separator.strip():
        return frozenset(cell.split())
    return frozenset(label for part in cell.split(separator) if (label := part.strip()))


def last_line(*, average: Average = "samples") -> str:
    """How the sums become the score; averages over labels are made label by label."""
    return {"samples": "{f} / {rows}", "micro": "2·{tp} / (2·{tp} + {fp} + {fn})"}.get(average, "")
