"""Counting ordered pairs in O(n log n), exactly, with whole numbers.

Scores of which only the order counts: their ranks, and what is counted at each of them.

For each row of two columns, how many other rows stand on the same side of it in both: exactly, in O(n log n).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..core.figures import Curve, Figure
from ..core.messages import Message


def closed_up(places: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 on without those that nobody has, in the same order; int32."""
    seen = np.zeros(int(places.max(initial=0)) + 1, np.int32)
    seen[places] = 1
    number = np.cumsum(seen, dtype=np.int32)
    number -= 1
    closed: np.ndarray = number[places]
    return closed


def dense_ranks(values: np.ndarray) -> np.ndarray:
    """The place of each value among the distinct values, from 0 for the lowest; int32, shape (n,)."""
    order = np.argsort(values)
    ordered = values[order]
    steps = np.zeros(len(order), np.int32)
    np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
    ranks = np.empty(len(order), np.int32)
    ranks[order] = steps
    return ranks


def counts_in_order(positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many negative and how many positive rows have each distinct score, from the lowest on."""
    ranks = dense_ranks(scores)
    distinct = int(ranks.max(initial=-1)) + 1
    return np.bincount(ranks[~positive], minlength=distinct), np.bincount(ranks[positive], minlength=distinct)


def precision_from_top(down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the scores that positive rows have, from the lowest on: how many have it, and the share of positive rows
    among all with this score or a higher one."""
    counted = np.flatnonzero(up)
    hits, below = up[counted], np.cumsum(down + up)
    taken = below[-1:] - below[counted] + down[counted] + hits
    return hits, np.cumsum(hits[::-1])[::-1] / taken


T = TypeVar("T")


class Ranks:
    """Scores of which only the order is left, so that any part of them needs no sort: ``places`` are those among the
    distinct scores, from 0 for the lowest; shape (n,)."""

    def __init__(self, places: np.ndarray) -> None:
        self.places = places
        self._made: tuple[Any, Any] | None = None

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: np.ndarray) -> Ranks:
        """The given rows, ranked among themselves."""
        return Ranks(closed_up(self.places[rows]))

    def once(self, function: Callable[[Any, np.ndarray], T], truth: Any) -> T:
        """``function(truth, places)``, computed once for one truth."""
        if self._made is None or self._made[0] is not truth:
            self._made = (truth, function(truth, self.places))
        found: T = self._made[1]
        return found


def ranks_of(scores: np.ndarray) -> Ranks:
    """Sort once."""
    return Ranks(dense_ranks(scores))


@dataclass(frozen=True)
class _Classes:
    """How many positive and how many negative rows there are at each rank; ``keys`` tell of each row its rank and
    class in one number, twice the rank and 1 more for a positive row."""

    keys: np.ndarray
    up: np.ndarray
    down: np.ndarray

    def below(self) -> np.ndarray:
        """For each rank how many negative rows are below it, ties counting half."""
        found: np.ndarray = np.cumsum(self.down) - self.down / 2
        return found

    def above(self) -> np.ndarray:
        """For each rank how many positive rows are above it, ties counting half."""
        found: np.ndarray = self.up.sum() - np.cumsum(self.up) + self.up / 2
        return found

    @cached_property
    def pairs(self) -> tuple[int, int, int]:
        """What ``_pairs`` says."""
        return _pairs(self.up, self.down)

    def placements(self) -> np.ndarray:
        """What ``placements`` says."""
        return self.of_rows(self.above(), self.below())

    def of_rows(self, of_down: np.ndarray, of_up: np.ndarray) -> np.ndarray:
        """What is known of each rank, for the negative and for the positive rows there, told of each row."""
        table = np.empty(2 * len(of_up))
        table[::2], table[1::2] = of_down, of_up
        found: np.ndarray = table[self.keys]
        return found


def _pairs(up: np.ndarray, down: np.ndarray) -> tuple[int, int, int]:
    """How many pairs are in order, how many tie, how many there are."""
    below = np.cumsum(down, dtype=np.int64)
    below -= down
    ordered, tied = int(np.vdot(up, below)), int(np.vdot(up.astype(np.int64), down))
    return ordered, tied, int(up.sum()) * int(down.sum())


def counts_by_place(positive: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row its place and class in one number, and of each place how many negative and positive rows it has."""
    keys = 2 * places + positive
    counts = np.bincount(keys, minlength=2 * (int(keys.max(initial=0)) // 2 + 1)).reshape(-1, 2).T
    down, up = np.ascontiguousarray(counts)
    return keys, down, up


def _classes(positive: np.ndarray, places: np.ndarray) -> _Classes:
    keys, down, up = counts_by_place(positive, places)
    return _Classes(keys, up, down)


def _classes_of(truth: np.ndarray, scores: np.ndarray | Ranks) -> _Classes:
    """``truth`` holds 0.0 and 1.0."""
    ranks = scores if isinstance(scores, Ranks) else ranks_of(scores)
    return ranks.once(lambda truth, places: _classes(truth == 1, places), truth)


def area(ordered: int, tied: int, pairs: int) -> float:
    """The share of ordered pairs, ties counting half; 0.5 without pairs."""
    return float(Fraction(2 * ordered + tied, 2 * pairs)) if pairs else 0.5


def placements(positive: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """For each positive row how many negative ones have a lower score, for each negative row how many positive ones
    have a higher score; ties count half. Shape (n,), multiples of 0.5."""
    return _classes(positive, dense_ranks(scores)).placements()


def wins(truth: np.ndarray, prediction: np.ndarray | Ranks) -> np.ndarray:
    """For each 1 the number of 0s it stands above (ties count half) and the number of all 0s; 0 and 0 for each 0."""
    positive = truth == 1
    negatives = np.count_nonzero(~positive)
    above = _classes_of(truth, prediction).placements()
    found: np.ndarray = np.column_stack([above, np.full(len(truth), negatives)])
    found[~positive] = 0
    return found


def roc_influence(truth: np.ndarray, prediction: np.ndarray | Ranks) -> np.ndarray:
    """What each row does to the area under the ROC curve, as DeLong, DeLong and Clarke-Pearson 1988: the root of the
    sum of squares is their standard error."""
    classes = _classes_of(truth, prediction)
    ups, downs = int(classes.up.sum()), int(classes.down.sum())
    value = area(*classes.pairs)
    # Computed of each rank and class; a row only looks its own up.
    of_up = (classes.below() / max(downs, 1) - value) / _without_one(ups)
    of_down = (classes.above() / max(ups, 1) - value) / _without_one(downs)
    return classes.of_rows(of_down, of_up)


def roc_effective_size(truth: np.ndarray, prediction: np.ndarray | Ranks) -> float | None:
    """Little where one class is rare: both count alike."""
    classes = _classes_of(truth, prediction)
    ups, downs = int(classes.up.sum()), int(classes.down.sum())
    return 4 * ups * downs / (ups + downs)


def _without_one(count: int) -> float:
    return float(np.sqrt(max(count, 1) * max(count - 1, 1)))


def roc_curve(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    """The curve whose area this is: one point for each distinct score, from the highest down."""
    positive = truth == 1
    _, places = np.unique(-prediction, return_inverse=True)
    up, down = np.cumsum(np.bincount(places, positive)), np.cumsum(np.bincount(places, ~positive))
    points = [(0.0, 0.0), *zip((down / max(down[-1], 1)).tolist(), (up / max(up[-1], 1)).tolist(), strict=True)]
    note = "Each point takes all rows from one score on as 1. The line from corner to corner is what guessing gives."
    return [Curve("ROC curve", "share of the 0s taken", "share of the 1s taken", points, diagonal=True, note=note)]


def roc_area(truth: np.ndarray, prediction: np.ndarray | Ranks) -> float:
    """The area under the ROC curve; ``truth`` holds 0.0 and 1.0, shapes (n,)."""
    if isinstance(prediction, Ranks):
        return area(*_classes_of(truth, prediction).pairs)
    down, up = counts_in_order(truth == 1, prediction)
    return area(*_pairs(up, down))


def one_class(truth: np.ndarray) -> str:
    """Why these rows have no pairs, or ``""``."""
    if (truth == truth[0]).all():
        return Message("all its answers are {answer}; both 0 and 1 are needed.", answer=f"{truth[0]:g}")
    return ""


def count_below(keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row i: how many rows j with ``keys[j] > keys[i]`` have a smaller value, and how many an equal one.

    ``keys`` and ``values`` are non-negative whole numbers, shape (n,). The values are sorted bit by bit, from the
    highest on; a row with the bit set passes all rows of its group without it.
    """
    order = np.argsort(-keys, kind="stable")
    below = np.zeros(len(keys), np.int64)
    for bit in range(int(values.max(initial=0)).bit_length() - 1, -1, -1):
        group, is_set = values[order] >> (bit + 1), (values[order] >> bit) & 1
        passed = np.cumsum(1 - is_set) - (1 - is_set)
        start_of_group, start_of_run = _starts(group), _starts(group, keys[order])
        gained = (passed[start_of_run] - passed[start_of_group]) * is_set
        below[order] += gained
        order = order[np.argsort((group << 1) | is_set, kind="stable")]
    start_of_group, start_of_run = _starts(values[order]), _starts(values[order], keys[order])
    equal = np.zeros(len(keys), np.int64)
    equal[order] = start_of_run - start_of_group
    return below, equal


def _starts(*columns: np.ndarray) -> np.ndarray:
    """For each row of sorted columns the place where its run of equal rows starts."""
    is_new = np.zeros(len(columns[0]), bool)
    for column in columns:
        is_new[1:] |= column[1:] != column[:-1]
    return np.maximum.accumulate(np.where(is_new, np.arange(len(is_new)), 0))


def smaller_before(values: np.ndarray) -> np.ndarray:
    """For each place how many places before it hold a smaller value. ``values`` are 0 to n-1, each once.

    The values are split bit by bit, from the highest on, each half keeping its order. Before a split a block holds the
    values of one range, so all its halves have one size and a block is a row of a matrix.

    >>> smaller_before(np.array([2, 0, 3, 1]))
    array([0, 0, 2, 1])
    """
    count = len(values)
    bits = max(count - 1, 1).bit_length()
    # Larger values behind all others change no count and make the number of values a power of two.
    cells = np.arange(1 << bits)
    cells[:count] = values
    cells <<= 32  # the lower half of a cell counts
    for bit in range(bits - 1, -1, -1):
        blocks = cells.reshape(-1, 2 << bit)
        is_low = (blocks >> (32 + bit) & 1) == 0
        is_high = ~is_low
        passed = np.cumsum(is_low, axis=1, dtype=np.int32)
        halves = (blocks[is_low], blocks[is_high] + passed[is_high])
        cells = np.stack([half.reshape(-1, 1 << bit) for half in halves], axis=1)
    counts: np.ndarray = (cells.ravel() & (2**32 - 1))[values]
    return counts


def pair_counts(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """For each row the other rows that are concordant with it, discordant, different in x, and different in y.

    Shape (n, 4), whole numbers; each pair is counted at both its rows.
    """
    count = len(x)
    x_place, x_less, x_same = _standing(x)
    y_place, y_less, y_same = _standing(y)
    less_both, less_x_same_y, same_x_less_y, same_both = _crossings(x_place, y_place)
    up_to_both = less_both + less_x_same_y + same_x_less_y + same_both
    more_both = count - (x_less + x_same) - (y_less + y_same) + up_to_both
    crossed = (x_less - less_both - less_x_same_y) + (y_less - less_both - same_x_less_y)
    return np.column_stack([less_both + more_both, crossed, count - x_same, count - y_same])


def _standing(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each value its place among the distinct ones, how many are less, and how many are the same, itself too."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return places.astype(np.int64), (np.cumsum(counts) - counts)[places], counts[places]


def _crossings(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """For each row how many rows are less in both, less in x and the same in y, the same in x and less in y, and the
    same in both, itself too; shape (4, n). ``x`` and ``y`` are whole numbers from 0."""
    width = int(y.max(initial=0)) + 1
    keys = x * width + (width - 1 - y)
    # By rising x, and falling y where x is the same: what stands before with a smaller y has a smaller x too.
    order = np.argsort(keys, kind="stable")
    # By rising y, and where y is the same from the last place to the first: then x falls.
    turned = len(x) - 1 - np.argsort(y[order][::-1], kind="stable")
    numbers = np.empty(len(x), np.int64)
    numbers[turned] = np.arange(len(x))
    by_y = order[turned]
    found = np.empty((4, len(x)), np.int64)
    # Where y is the same the later place has the smaller number, so that none counts as smaller before another.
    found[0, order] = smaller_before(numbers)
    found[1, by_y] = _ends(y[by_y]) - _ends(keys[by_y])
    ends = _ends(keys[order])
    found[2, order] = _ends(x[order]) - ends
    found[3, order] = np.bincount(ends)[ends]
    return found


def _ends(values: np.ndarray) -> np.ndarray:
    """For each place of sorted values where its run of equal ones ends."""
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]) + 1, len(values))
    found: np.ndarray = np.repeat(ends, np.diff(ends, prepend=0))
    return found
