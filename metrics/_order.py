"""Scores of which only the order counts, sorted by the cheapest way that they allow; all ways find the same.

Many scores have few digits behind the point (`0.25`, `0.731402`): they are whole numbers in disguise and need only be
counted. Others are first dealt into 65,536 classes, which leaves little to sort.
"""

from __future__ import annotations

import numpy as np

_MANY = 5000
_CROWD = 500
_COUNTED = 100_000  # so many tell how crowded a class is
_SPARE = 20  # in a sample, where few of a class say little
_CLASSES = 1 << 16
_MOST_DIGITS = 7
_TRIED = 100
_EXACT = 2.0**52


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
    ends = _ends(values)
    whole = _whole_numbers(values, ends)
    if whole is not None:
        return closed_up(whole)
    order = _order_of(values, ends)
    ordered = values[order]
    steps = np.zeros(len(order), np.int32)
    np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
    ranks = np.empty(len(order), np.int32)
    ranks[order] = steps
    return ranks


def counts_in_order(positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many negative and how many positive rows have each score, from the lowest on; nobody may have some."""
    ends = _ends(scores)
    whole = _whole_numbers(scores, ends)
    if whole is not None:
        counts = np.bincount(2 * whole + positive, minlength=2 * (int(whole.max()) + 1)).reshape(-1, 2)
        return counts[:, 0], counts[:, 1]
    if ends[0] >= 0:
        return _counts(positive, scores, ends)
    is_below = scores < 0
    # Of a number without sign all bits can move one place to the left, for the class is to be the last.
    lower = _counts(positive[is_below], -scores[is_below], (0.0, -ends[0]))
    upper = _counts(positive[~is_below], scores[~is_below], (0.0, ends[1]))
    down, up = (np.concatenate((below[::-1], above)) for below, above in zip(lower, upper, strict=True))
    return down, up


def _counts(positive: np.ndarray, scores: np.ndarray, ends: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The same of scores from 0 on: each with its class is one whole number, so that numbers alone are sorted."""
    keys = scores.view(np.uint64) << np.uint64(1)  # the sign of -0.0 falls off
    keys |= positive
    classes = _classes_of(scores, ends)
    if classes is None:
        keys.sort()
    else:
        keys = keys[np.argsort(classes, kind="stable")]
        keys.sort(kind="stable")
    is_up = keys.astype(np.int32)
    is_up &= 1
    keys >>= np.uint64(1)
    is_end = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_end[:-1])
    if is_end.all():
        return np.int32(1) - is_up, is_up
    last = np.flatnonzero(is_end)
    up = np.diff(np.cumsum(is_up)[last], prepend=0)
    return np.diff(last, prepend=-1) - up, up


def precision_from_top(down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the scores that positive rows have, from the lowest on: how many have it, and the share of positive rows
    among all with this score or a higher one."""
    counted = np.flatnonzero(up != 0)
    each = down + up
    if (each == 1).all():
        shares: np.ndarray = np.arange(len(counted), 0, -1, dtype=np.float64)
        shares /= np.subtract(len(up), counted, out=counted)
        return np.ones(len(counted), up.dtype), shares
    hits = up[counted]
    taken = down[counted]
    taken += hits
    below = np.cumsum(each, out=each)
    taken += below[-1:] - below[counted]
    found = np.cumsum(hits[::-1], dtype=hits.dtype)[::-1] / taken
    return hits, found


def _ends(values: np.ndarray) -> tuple[float, float]:
    """The lowest and the highest; zeros of none."""
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def _whole_numbers(values: np.ndarray, ends: tuple[float, float]) -> np.ndarray | None:
    """Whole numbers from 0 on that are ordered and tied as the values are, ``None`` where there are no small ones."""
    if len(values) < _MANY:
        return None
    low, high = ends
    for scale in (10.0**digits for digits in range(_MOST_DIGITS + 1)):
        if (high - low) * scale > 4 * len(values) or max(-low, high) * scale > _EXACT:
            return None
        if _is_whole(values[:_TRIED], scale) and _is_whole(values, scale):
            whole = values * scale
            np.rint(whole, out=whole)
            whole -= np.rint(low * scale)
            return whole.astype(np.int32)
    return None


def _is_whole(values: np.ndarray, scale: float) -> bool:
    """Whether each value is a whole number divided by ``scale``, as reading its digits gives it."""
    return bool((np.rint(values * scale) / scale == values).all())


def _classes_of(values: np.ndarray, ends: tuple[float, float]) -> np.ndarray | None:
    """Classes in the order of the values, ``None`` where these do not spread evenly or are few."""
    low, high = ends
    if len(values) < _MANY:
        return None
    if not 1e-290 < high - low < np.inf:
        return None
    spread = values - low
    spread *= (_CLASSES - 1) / (high - low)
    classes = spread.astype(np.uint16)
    crowds = np.bincount(classes[:: max(1, len(values) // _COUNTED)])
    return classes if crowds.max() <= _CROWD * crowds.sum() / len(values) + _SPARE else None


def _order_of(values: np.ndarray, ends: tuple[float, float]) -> np.ndarray:
    """As ``argsort``: half the time where values spread evenly."""
    classes = _classes_of(values, ends)
    if classes is None:
        return np.argsort(values)
    order = np.argsort(classes, kind="stable")
    found: np.ndarray = order[np.argsort(values[order], kind="stable")]
    return found
