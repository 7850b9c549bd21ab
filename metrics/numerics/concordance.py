"""For each row of two columns, how many other rows stand on the same side of it in both: exactly, in O(n log n)."""

from __future__ import annotations

import numpy as np


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
