"""Counting ordered pairs in O(n log n), exactly, with whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..core.figures import Curve, Figure
from ..core.messages import Message
from .order import closed_up, counts_in_order, dense_ranks

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
