"""How far a score may be from that on other rows of the same kind, and whether one submission is better than another.

**Resamples.** The rows of a split are dealt into at most 1,000 **buckets** by a hash of their ids, the same ones for
every submission. A resample draws as many buckets as there are, with repetition; 200 fixed resamples are shared by all
submissions, so that two of them can be compared resample by resample. With up to 1,000 rows every row is a bucket of
its own, and this is the plain bootstrap.

- A sum over rows is added up once per bucket; a resample is then a row of one matrix product. The standard error is
  the jackknife's: what leaving out each bucket changes.
- Where a metric knows the influence of each row, the standard error is the root of its sum of squares (for the area
  under the ROC curve this is DeLong's), and a resample adds the influences it drew.
- Every other metric is scored again on resamples of at most 2,000 rows, and the spread is scaled to all rows. This
  costs 200 scorings of 2,000 rows per split.

Everything follows from the ids and the values alone: the same digits for any order of the rows, in every process.

**Intervals.** Their ends follow from the value and its standard error on the scale of the metric:

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
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..reading.tables import raw_cells
from .arrays import take
from .contract import Contributions, Metric
from .errors import NotFinite
from .lazy import cached_property

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
    share = _share(metric.worst, metric.best, value)
    return max(wide, abs(metric.best - metric.worst) * math.sqrt(share * (1 - share) / effective_size))


def interval(metric: Metric, value: float, error: float, rows: float) -> tuple[float, float]:
    """The ends between which the value of other rows lies in 95 of 100 cases."""
    if metric.worst is not None:
        return _wilson(metric.worst, metric.best, value, error, rows)
    distance = value - metric.best
    if not distance:
        return value - NORMAL * error, value + NORMAL * error
    factor = float(np.exp(NORMAL * error / abs(distance)))
    low, high = sorted((metric.best + distance / factor, metric.best + distance * factor))
    return low, high


def _share(worst: float, best: float, value: float) -> float:
    """How far the value is on the way from one end of the scale to the other, from 0 to 1."""
    return min(1.0, max(0.0, (value - worst) / (best - worst)))


def _wilson(worst: float, best: float, value: float, error: float, rows: float) -> tuple[float, float]:
    """Wilson's interval for a share; Wilson 1927."""
    way = best - worst
    share = _share(worst, best, value)
    single = share * (1 - share)
    # One divided by the rows that give a share this standard error; by all rows where it says nothing.
    rarity = ((error / way) ** 2 / single if single else 0.0) or 1 / rows
    moved = NORMAL**2 * rarity
    middle = (share + moved / 2) / (1 + moved)
    half = math.sqrt(single * moved + moved**2 / 4) / (1 + moved)
    low, high = sorted((worst + way * (middle - half), worst + way * (middle + half)))
    return low, high


MOST_BUCKETS = 1000
RESAMPLES = 200
MOST_ROWS = 2000
_SEED = 20
_BYTES = 200_000
_ROUNDING = 1e-13
"""Share of the value below which a change is the rounding of its sums."""


@dataclass(frozen=True)
class Uncertainty:
    """The doubt about one value. ``low`` and ``high`` hold it in 95 of 100 cases.

    ``standard_error`` is ``None``, and the interval the whole scale, where one row says nothing about others, or where
    the values are so large that their squares are no finite numbers.
    ``replicates`` are the values of the shared resamples, shape (200,).
    """

    standard_error: float | None
    low: float
    high: float
    replicates: np.ndarray


class Part:
    """The rows of one split: ``rows`` are their places among the scored rows, ``None`` for all."""

    def __init__(self, rows: np.ndarray | None, answers: Callable[[], Any], prediction: Callable[[], Any]) -> None:
        self.rows = rows
        self._answers = answers
        self._prediction = prediction

    @cached_property
    def answers(self) -> Any:
        """The truth as the metric reads it."""
        return self._answers()

    @cached_property
    def prediction(self) -> Any:
        """What the submission says of these rows."""
        return self._prediction()

    def cut(self, rows: np.ndarray) -> Part:
        """Some of these rows."""
        return Part(rows, lambda: take(self.answers, rows), lambda: take(self.prediction, rows))


@dataclass(frozen=True)
class Buckets:
    """The rows of a split in the order of their buckets: ``order`` are places in the split, ``starts`` where each
    bucket begins in it."""

    order: np.ndarray
    starts: np.ndarray


def buckets_of(hashes: np.ndarray) -> Buckets:
    """Deal rows into buckets of equal size (to within one row) in the order of the hashes of their ids."""
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    count = min(len(order), MOST_BUCKETS)
    return Buckets(order, np.arange(count) * len(order) // max(count, 1))


def hashes_of(ids: Any) -> np.ndarray:
    """A hash of 64 bits for each cell of an Arrow string array, the same in every process."""
    offsets, data = raw_cells(ids)
    longest = int(np.diff(offsets).max(initial=0))
    powers = np.cumprod(np.full(longest + 1, 0x9E3779B97F4A7C15, np.uint64))
    hashes = np.empty(len(ids), np.uint64)
    start = 0
    while start < len(ids):
        # About so many bytes together, for each of them becomes several numbers.
        stop = max(start + 1, int(np.searchsorted(offsets, int(offsets[start]) + _BYTES, side="right")) - 1)
        # For each cell the sum of its bytes, each times the power of its place.
        ends, first = offsets[start : stop + 1] - offsets[start], int(offsets[start])
        used = data[first : int(offsets[stop])]
        place = np.arange(len(used)) - np.repeat(ends[:-1], np.diff(ends))
        mixed = (used.astype(np.uint64) + np.uint64(1)) * powers[place]
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        hashes[start:stop] = total[ends[1:]] - total[ends[:-1]]
        start = stop
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
    found: np.ndarray = hashes ^ (hashes >> np.uint64(31))
    return found


@lru_cache(maxsize=8)
def draws_of(buckets: int) -> np.ndarray:
    """How often each resample drew each bucket, shape (200, buckets)."""
    # Raw bits are the same in every version of numpy; its distributions are not.
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
    """Of a sum over rows; ``None`` where ``total`` has no answer for these parameters."""
    places = buckets.order if rows is None else rows[buckets.order]
    if isinstance(contributions, Contributions):
        columns, places = contributions.table.T, contributions.of_row[places]
    else:
        columns = contributions.T
    sums = np.column_stack([np.add.reduceat(column[places], buckets.starts) for column in columns])
    replicates = _totals(total, draws_of(len(buckets.starts)) @ sums)
    if replicates is None:
        return None
    count = len(sums)
    left_out = _totals(total, sums.sum(axis=0) - sums) if count > 1 else None
    changes = np.zeros(count) if left_out is None else (left_out - left_out.mean()) * np.sqrt((count - 1) / count)
    changes[np.abs(changes) <= _ROUNDING * abs(value)] = 0.0
    error = _root_of_squares(changes)
    wide = widened(metric, value, error, degrees_of_freedom(changes))
    return _uncertainty(metric, value, len(buckets.order), error, wide, replicates)


def _root_of_squares(changes: np.ndarray) -> float:
    """The standard error. One row says nothing about others."""
    return float(np.sqrt(np.square(changes).sum())) if len(changes) > 1 else np.nan


def _totals(total: Callable[[np.ndarray], float | None], drawn: np.ndarray) -> np.ndarray | None:
    """The total of each resample: of all at once where that says the same, which spares hundreds of calls."""
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
    metric: Metric, buckets: Buckets, effects: np.ndarray, value: float, effective_size: float | None = None
) -> Uncertainty:
    """Of a metric that knows what each row does to the score. Its resamples spread as far as the interval says."""
    ordered = effects[buckets.order]
    sums = np.add.reduceat(ordered, buckets.starts)
    error = _root_of_squares(ordered)
    wide = widened(metric, value, error, degrees_of_freedom(sums), effective_size)
    replicates = value + (wide / (error or 1.0)) * ((draws_of(len(buckets.starts)) - 1) @ sums)
    return _uncertainty(metric, value, effective_size or len(ordered), error, wide, replicates)


def by_scoring_again(
    metric: Metric, buckets: Buckets, value: float, score: Callable[[np.ndarray], float | None]
) -> Uncertainty:
    """Of any metric: the spread of scores of resampled rows. Resamples that cannot be scored count as the value."""
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
    """The interval, cut to the scale; it holds the value also where parameters let a file beat the best one."""
    replicates = np.where(np.isfinite(replicates), replicates, value)
    endless = np.inf if metric.direction == "minimize" else -np.inf
    least, most = sorted((metric.best, endless if metric.worst is None else metric.worst))
    least, most = min(least, value), max(most, value)
    if not np.isfinite(error):
        return Uncertainty(None, least, most, replicates)
    low, high = interval(metric, value, wide, rows)
    return Uncertainty(error, min(max(low, least), value) + 0.0, max(min(high, most), value) + 0.0, replicates)


def probability_better(direction: str, ours: np.ndarray, theirs: np.ndarray) -> float:
    """The share of shared resamples in which the first values are better, ties counting half."""
    gaps = ours - theirs if direction == "maximize" else theirs - ours
    return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))
