"""Uncertainty of scores: intervals for the score on other rows of the same kind, and comparison of two submissions.

**Resamples.** The rows of a split are dealt into at most 1,000 **buckets** by a hash of their ids, the same ones for
every submission. A resample draws as many buckets as there are, with repetition; 200 fixed resamples are shared by all
submissions, so that two of them can be compared resample by resample. With up to 1,000 rows every row is a separate
bucket, and this is the plain bootstrap.

- A sum over rows is computed once per bucket; a resample is then a row of one matrix product. The standard error is
  the jackknife's: from the changes by leaving out each bucket.
- If a metric has the influence of each row, the standard error is the root of its sum of squares (for the area
  under the ROC curve this is DeLong's), and a resample adds the influences of the rows it drew. Where it takes long, as
  for global average precision, 100,000 rows are enough, unless few of them can be found.
- Every other metric is scored again on resamples of at most 2,000 rows, and the spread is scaled to all rows. This
  costs 200 scorings of 2,000 rows per split.

Everything depends only on the ids and the values: the same digits for any order of the rows, in every process.

**Intervals.** Their ends are computed from the value and its standard error on the scale of the metric:

- between two ends, the interval of Wilson for a share, with as many rows as a share with this standard error has;
- with one end, the distance from it, divided and multiplied by the same factor;
- the quantile is Student's, with fewer degrees of freedom where few rows make most of the standard error.

The standard error is too small where a class has a handful of rows, because all of them may be right by luck. So where
a metric gives rare classes the weight of frequent ones (``effective_size``), the number of rows of the share is at most
what the classes allow. Scoring resamples again does not help there: no resample has an error that no row has.

``bench/intervals.py`` counts how often the ends hold the value of a large sample.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from .arrays import take
from .buckets import Buckets, buckets_of
from .contract import Contributions, Metric
from .errors import NotFinite

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def degrees_of_freedom(changes: np.ndarray) -> float:
    """The degrees of freedom of a sum of squares, from 1 to n - 1: n - 1 if the changes are normal, and few if few rows
    make most of the sum. One more squared normal variable than that would have a sum as uncertain as this."""
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
    """The standard error for the interval: enlarged if it is itself uncertain, or if rare classes have too few rows for
    it."""
    wide = error * student(freedom) / NORMAL
    if effective_size is None or metric.worst is None:
        return wide
    share = _share_of_scale(metric.worst, metric.best, value)
    return max(wide, abs(metric.best - metric.worst) * math.sqrt(share * (1 - share) / effective_size))


def interval(metric: Metric, value: float, error: float, rows: float) -> tuple[float, float]:
    """The ends between which the value on other rows lies in 95 of 100 cases."""
    if metric.worst is not None:
        return _wilson_interval(metric.worst, metric.best, value, error, rows)
    distance = value - metric.best
    if not distance:
        return value - NORMAL * error, value + NORMAL * error
    factor = float(np.exp(NORMAL * error / abs(distance)))
    low, high = sorted((metric.best + distance / factor, metric.best + distance * factor))
    return low, high


def _share_of_scale(worst: float, best: float, value: float) -> float:
    """The position of the value between the worst and the best end of the scale, from 0 to 1."""
    return min(1.0, max(0.0, (value - worst) / (best - worst)))


def _wilson_interval(worst: float, best: float, value: float, error: float, rows: float) -> tuple[float, float]:
    """Wilson's interval for a share (Wilson 1927), scaled to the metric."""
    way = best - worst
    share = _share_of_scale(worst, best, value)
    single = share * (1 - share)
    # 1 / n, with n rows for which a share has this standard error; with all rows if that is undefined.
    rarity = ((error / way) ** 2 / single if single else 0.0) or 1 / rows
    moved = NORMAL**2 * rarity
    middle = (share + moved / 2) / (1 + moved)
    half = math.sqrt(single * moved + moved**2 / 4) / (1 + moved)
    low, high = sorted((worst + way * (middle - half), worst + way * (middle + half)))
    return low, high


RESAMPLES = 200
MOST_ROWS = 2000
_SEED = 20
_ROUNDING = 1e-13
"""Changes below this share of the value are rounding errors of sums."""


@dataclass(frozen=True)
class Uncertainty:
    """The uncertainty of one value, which is between ``low`` and ``high`` in 95 of 100 cases.

    ``standard_error`` is ``None``, and the interval the whole scale, if there is only one row, or if the values are so
    large that their squares are not finite. ``replicates`` are the values of the shared resamples, shape (200,).
    """

    standard_error: float | None
    low: float
    high: float
    replicates: np.ndarray

    def as_dict(self) -> dict[str, float | None] | None:
        """The interval in JSON form: an end is ``None`` if it is not finite, and all is if the interval is unknown."""
        if self.standard_error is None:
            return None
        ends = {"low": self.low, "high": self.high}
        return {name: end if math.isfinite(end) else None for name, end in ends.items()}


class Part:
    """The rows of one split: ``rows`` are indices into the scored rows, ``None`` for all."""

    def __init__(self, rows: np.ndarray | None, answers: Callable[[], Any], prediction: Callable[[], Any]) -> None:
        self.rows = rows
        # Cut at the first call, because sums over rows need no cut.
        self.answers, self.prediction = cache(answers), cache(prediction)

    def cut(self, rows: np.ndarray) -> "Part":
        return Part(rows, lambda: take(self.answers(), rows), lambda: take(self.prediction(), rows))


MAX_INFLUENCES = 100_000
"""The most rows on which a slow influence is computed, in the order of their hashes, ..."""
ENOUGH_RELEVANT = 1000
"""... if so many of them are relevant."""
FIRST_BUCKETS = buckets_of(np.arange(MAX_INFLUENCES, dtype=np.uint64))
"""The buckets of rows that are in the order of their hashes."""


@lru_cache(maxsize=8)
def draws_of(buckets: int) -> np.ndarray:
    """The number of times that each resample drew each bucket, shape (200, buckets)."""
    # Raw bits do not change between versions of numpy; its distributions do.
    drawn = np.random.PCG64(_SEED).random_raw(RESAMPLES * buckets) % np.uint64(max(buckets, 1))
    cells = drawn.astype(np.int64) + np.repeat(np.arange(RESAMPLES) * buckets, buckets)
    return np.bincount(cells, minlength=RESAMPLES * buckets).reshape(RESAMPLES, buckets).astype(np.float64)


def from_sums(
    metric: Metric,
    buckets: Buckets,
    contributions: Any,
    rows: np.ndarray | None,
    value: float,
    total: Callable[[np.ndarray], float | None],
) -> Uncertainty | None:
    """The uncertainty of a sum over rows; ``None`` if ``total`` returns ``None`` for these parameters."""
    places = buckets.order if rows is None else rows[buckets.order]
    if isinstance(contributions, Contributions):
        columns, places = contributions.table.T, contributions.of_row[places]
    else:
        columns = contributions.T
    sums = np.column_stack([np.add.reduceat(column[places], buckets.starts) for column in columns])
    replicates = totals_of(total, draws_of(len(buckets.starts)) @ sums)
    if replicates is None:
        return None
    count = len(sums)
    left_out = totals_of(total, sums.sum(axis=0) - sums) if count > 1 else None
    changes = np.zeros(count) if left_out is None else (left_out - left_out.mean()) * np.sqrt((count - 1) / count)
    changes[np.abs(changes) <= _ROUNDING * abs(value)] = 0.0
    error = _root_of_squares(changes)
    wide = widened(metric, value, error, degrees_of_freedom(changes))
    return _uncertainty(metric, value, len(buckets.order), error, wide, replicates)


def _root_of_squares(changes: np.ndarray) -> float:
    """The standard error; NaN for a single row, which has no spread."""
    return float(np.sqrt(np.square(changes).sum())) if len(changes) > 1 else np.nan


def totals_of(total: Callable[[np.ndarray], float | None], drawn: np.ndarray) -> np.ndarray | None:
    """The total of each row of sums, such as those of a resample; ``None`` if it has none for these parameters. It is
    computed for all at once if ``total`` works on arrays, which saves hundreds of
    calls."""
    ends = [total(drawn[0]), total(drawn[-1])]
    if None in ends:
        return None
    with suppress(TypeError, ValueError):
        together: Any = total(np.ascontiguousarray(drawn.T))
        if np.shape(together) == (len(drawn),) and [together[0], together[-1]] == ends:
            return np.asarray(together, np.float64)
    found = [total(sums) for sums in drawn]
    return None if None in found else np.array(found, np.float64)


def from_influence(
    metric: Metric, buckets: Buckets, effects: np.ndarray, value: float, rows: int, effective_size: float | None = None
) -> Uncertainty:
    """The uncertainty of a metric with an influence of each row, or of some of the ``rows``. Its resamples are spread
    as widely as the interval."""
    ordered = effects[buckets.order]
    sums = np.add.reduceat(ordered, buckets.starts)
    error = _root_of_squares(ordered)
    wide = widened(metric, value, error, degrees_of_freedom(sums), effective_size)
    replicates = value + (wide / (error or 1.0)) * ((draws_of(len(buckets.starts)) - 1) @ sums)
    return _uncertainty(metric, value, effective_size or rows, error, wide, replicates)


def by_scoring_again(
    metric: Metric, buckets: Buckets, value: float, score: Callable[[np.ndarray], float | None]
) -> Uncertainty:
    """The uncertainty of any metric: the spread of scores of resampled rows. Resamples that cannot be scored count as
    the value."""
    count = len(buckets.order)
    size = min(count, MOST_ROWS)
    drawn = np.random.PCG64(_SEED).random_raw(RESAMPLES * size) % np.uint64(count)
    rows = buckets.order[drawn.astype(np.int64)].reshape(RESAMPLES, size)
    found = np.full(len(rows), np.nan)
    for place, some in enumerate(rows):
        with suppress(NotFinite):
            value_again = score(some)
            found[place] = np.nan if value_again is None else value_again
    known = found[np.isfinite(found)]
    centre = float(known.mean()) if len(known) else value
    moved = value + (np.where(np.isfinite(found), found, centre) - centre) * np.sqrt(size / count)
    error = float(np.where(np.isfinite(moved), moved, value).std(ddof=1)) if count > 1 else np.nan
    return _uncertainty(metric, value, count, error, widened(metric, value, error, count - 1), moved)


def _uncertainty(
    metric: Metric, value: float, rows: float, error: float, wide: float, replicates: np.ndarray
) -> Uncertainty:
    """The interval, cut to the scale. It always includes the value, even if parameters let a file beat the best one."""
    replicates = np.where(np.isfinite(replicates), replicates, value)
    endless = np.inf if metric.direction == "minimize" else -np.inf
    least, most = sorted((metric.best, endless if metric.worst is None else metric.worst))
    least, most = min(least, value), max(most, value)
    if not np.isfinite(error):
        return Uncertainty(None, least, most, replicates)
    low, high = interval(metric, value, wide, rows)
    return Uncertainty(error, min(max(low, least), value) + 0.0, max(min(high, most), value) + 0.0, replicates)
