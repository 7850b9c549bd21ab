"""Averages over rows, over labels and over columns.

An average over labels averages ratios of counts (F1, Jaccard, recall). Counts have shape (labels, 3): tp, fp and fn of
each label.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Literal

import numpy as np

from ..core.contract import Contributions, RowSum, WholeColumn, quotient, ratio, root
from ..core.figures import Figure, Grid
from ..core.messages import Message
from ..core.parameters import Longest, Range
from .sums import exact_sum


def mean_over_rows(
    value: Callable[..., np.ndarray | Contributions],
    total: Callable[..., float] = quotient,
    last_line: str | Callable[..., str] = "",
) -> RowSum:
    """A ``RowSum`` that averages ``value(truth, prediction, **params)``, computed for each row, over the rows; or that
    applies ``total`` to the sum and the number of rows. The sum is shown under the function's name."""

    @wraps(value)
    def rows(truth: Any, prediction: Any, **params: Any) -> np.ndarray | Contributions:
        found = value(truth, prediction, **params)
        if isinstance(found, Contributions):
            return Contributions(np.column_stack([found.table, np.ones(len(found.table))]), found.of_row)
        return np.column_stack([found, np.ones(len(found))])

    name = value.__name__
    return RowSum(rows=rows, total=total, parts=(name, "rows"), last_line=last_line or f"{{{name}}} / {{rows}}")


def root_mean_over_rows(value: Callable[..., np.ndarray]) -> RowSum:
    """A ``RowSum`` with the square root of the mean over rows."""
    return mean_over_rows(value, root_of_quotient, f"√({{{value.__name__}}} / {{rows}})")


def root_of_quotient(sums: np.ndarray) -> float:
    return root(ratio(*sums))


@dataclass(frozen=True)
class Share:
    """A ratio of counts: the weights of tp, fp and fn in the numerator (``over``) and the denominator (``under``).

    A label without a denominator is no part of an average; with ``zero`` it is one with the ratio 0 if it is true or
    predicted anywhere.
    """

    over: tuple[float, float, float]
    under: tuple[float, float, float]
    zero: bool = False


def f_share(beta: float) -> Share:
    square = beta * beta
    return Share((1 + square, 0, 0), (1 + square, 1, square))


F1 = f_share(1.0)
JACCARD = Share((1, 0, 0), (1, 1, 1))
RECALL = Share((1, 0, 0), (1, 0, 1))
"""Recall of the labels that are true somewhere."""
RECALL_OR_ZERO = Share((1, 0, 0), (1, 0, 1), zero=True)
PRECISION_OR_ZERO = Share((1, 0, 0), (1, 1, 0), zero=True)

_IS_TRUE = (1, 0, 1)


def _used(counts: np.ndarray, share: Share) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A mask of the labels that are averaged, and the ratio and the denominator of each of these; a denominator of 0 is
    replaced by 1."""
    under = counts @ share.under
    used: np.ndarray = np.any(counts, axis=1) if share.zero else under > 0
    under = np.where(under > 0, under, 1.0)[used]
    return used, (counts @ share.over)[used] / under, under


def mean_over_labels(counts: np.ndarray, share: Share, average: str, others: int | None = None) -> float:
    """The mean of the labels' ratios. ``macro``: the plain mean; ``weighted``: by their true rows; ``micro``: the ratio
    of the pooled counts.

    Labels without true or predicted rows do not count; without any label the mean is 1.0. With ``others`` the last row
    of counts holds that many labels together, which are predicted but never true: each has a ratio of 0.
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
    """The derivatives of the mean by tp, fp and fn of each label, shape (labels, 3). With ``others`` as in
    ``mean_over_labels`` the last row holds the derivatives for each of the other labels."""
    counts = np.asarray(counts, np.float64)
    if average == "micro":
        pooled = effects(counts.sum(axis=0, keepdims=True), share, "macro")
        return np.repeat(pooled, len(counts), axis=0)
    used, values, under = _used(counts, share)
    # A label that is only predicted has the ratio 0 however often: so all of them may share one row of counts.
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
    """The number of rows with which a plain share would be as uncertain as the mean over labels, if all labels are
    predicted equally well: the harmonic mean of the labels' own sizes, times their number. ``None`` for ``micro``."""
    if average == "micro":
        return None
    counts = np.asarray(counts, np.float64)
    used, _, under = _used(counts, share)
    if not len(under):
        return None
    weights = (counts @ _IS_TRUE)[used] if average == "weighted" else np.ones(len(under))
    # The ratio a·x / (a·x + y) has the variance of the share x / (x + y) of this many rows (delta method).
    # Without a denominator it is that of one row.
    sizes = under**2 / np.maximum(share.under[0] * (counts[used] @ np.sign(share.under)), 1.0)
    return float(weights.sum() ** 2 / np.sum(weights**2 / sizes))


def worth(counts: np.ndarray, share: Share, average: str) -> np.ndarray:
    """The part of the mean that each right row of a label adds, shape (labels,): over all right rows these add up to
    the mean."""
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


def f_beta(tp: Any, fp: Any, fn: Any, beta: float = 1.0) -> float:
    """F-beta from counts, or elementwise from arrays of counts; 1.0 where there was nothing to find and nothing was
    found.

    >>> f_beta(3, 1, 2, beta=0.5)
    0.7142857142857143
    """
    square = beta * beta
    return ratio((1 + square) * tp, (1 + square) * tp + square * fn + fp, empty=1.0)


def total_f_beta(sums: np.ndarray, *, average: Average = "samples", beta: Beta = 1.0) -> float | None:
    """The mean over rows, or F-beta of the pooled counts; ``None`` for the averages over labels."""
    tp, fp, fn, f, count = sums
    if average == "micro":
        return f_beta(tp, fp, fn, beta)
    return ratio(f, count) if average == "samples" else None


def last_line_of_f_beta(*, average: Average, beta: Beta = 1.0) -> str:
    """The last line of a worked example; ``""`` for averages over labels, which have no formula of sums."""
    pooled = "2·{tp} / (2·{tp} + {fp} + {fn})"
    if beta != 1:
        pooled = "(1 + {beta}²)·{tp} / ((1 + {beta}²)·{tp} + {beta}²·{fn} + {fp})"
    return {"samples": "{f} / {rows}", "micro": pooled}.get(average, "")


def first_sum(sums: np.ndarray) -> float:
    return float(sums[0])


Unscored = Annotated[
    str | None,
    Longest(1000),
    "Columns that a submission must have and that are not scored, separated by commas; empty means none.",
]


def squares_of(squares: np.ndarray) -> np.ndarray:
    """1 for each row, the sum of its squares, and its squares; shape (n, 2 + c)."""
    return np.column_stack([np.ones(len(squares)), squares.sum(axis=1), squares])


def mean_root(sums: np.ndarray) -> float:
    """The mean over columns of the root mean square of each column, from sums of ``squares_of``."""
    roots = roots_of(sums)
    return sum(roots) / len(roots)


def roots_of(sums: np.ndarray) -> list[float]:
    """The root mean square of each column, from sums of ``squares_of``."""
    count, _, *squares = sums
    return [root(ratio(square, count)) for square in squares]


def by_column(title: str, values: Sequence[float]) -> list[Figure]:
    """A table of the columns' scores and their mean."""
    names = [f"target column {place}" for place in range(1, len(values) + 1)]
    cells = [[value] for value in [*values, ratio(sum(values), len(values))]]
    return [Grid(title, [*names, "mean"], ["score"], cells, note="The score is the mean of the columns' own scores.")]


Value = Callable[[np.ndarray, np.ndarray], float]
"""A function from the answers and the predictions of one column to its score."""


def mean_over_columns(value: Value, influence: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> WholeColumn:
    """The mean over columns of ``value``; ``influence`` is that of each row."""

    def score(truth: np.ndarray, prediction: np.ndarray, *, unscored: Unscored = None) -> float:
        found = list(map(value, truth.T, prediction.T))
        return ratio(sum(found), len(found))

    def of_rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        return added_over(truth, prediction, range(truth.shape[1]), influence)

    return WholeColumn(score=score, influence=of_rows)


def each_column(title: str, value: Value) -> Callable[..., list[Figure]]:
    return lambda truth, prediction: by_column(title, list(map(value, truth.T, prediction.T)))


Skip = Annotated[bool, "Leave out columns with only one class in a split, instead of refusing the truth."]


def has_both(truth: np.ndarray) -> np.ndarray:
    """A mask of the columns that have both 0 and 1; shape (columns,), bool."""
    return (truth == 1).any(axis=0) & (truth == 0).any(axis=0)


def counted_columns(truth: np.ndarray, skip: bool) -> Sequence[int]:
    """The indices of the columns that are averaged."""
    return np.flatnonzero(has_both(truth)).tolist() if skip else range(truth.shape[1])


def missing_class(truth: np.ndarray, *, skip: Skip) -> str:
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
    """The plain mean; 0.0 without values."""
    return float(exact_sum(np.array(values)) / max(1, len(values)))


def added_over(
    truth: np.ndarray,
    prediction: np.ndarray,
    places: Sequence[int],
    share: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """The contribution of each row to the mean over the columns at ``places``, shape (n,); ``share(truth, prediction)``
    returns the contributions to one column. Computed column by column, to need the memory of one column only."""
    added = np.zeros(len(truth))
    for place in places:
        added += share(truth[:, place], prediction[:, place])
    return added / max(1, len(places))


def table_of_columns(truth: np.ndarray, values: dict[int, float], name: str) -> list[Figure]:
    """A table with the number of 1s and 0s and the score of each column, then the mean."""
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
