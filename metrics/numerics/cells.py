"""Cells of different lengths, concatenated as flat arrays: start offsets, expansion, runs, and blocks."""

from collections.abc import Iterator

import numpy as np

_BLOCK = 500_000
"""Entries processed together."""


def blocks(sizes: np.ndarray, most: int = _BLOCK) -> Iterator[slice]:
    """Slices of consecutive entries whose ``sizes`` add up to at most ``most``; a larger entry gets a separate
    slice."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop


def starts_of(counts: np.ndarray) -> np.ndarray:
    """The start offset of each cell, and the end of the last one."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


def starts_by_owner(owner: np.ndarray, cells: int) -> np.ndarray:
    """The start offsets of cells from the cell of each entry; entries are sorted by cell."""
    return starts_of(np.bincount(owner, minlength=cells))


def expand(starts: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All entries of the given cells, concatenated: their places, and for each the index in ``cells``."""
    return expand_ranges(starts[cells], starts[cells + 1])


def expand_ranges(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All places of the ranges from ``low`` to ``high``, concatenated, and for each the index of its range."""
    counts = np.maximum(high - low, 0)
    owner = np.repeat(np.arange(len(low)), counts)
    first = np.repeat(low - (np.cumsum(counts) - counts), counts)
    return first + np.arange(len(owner)), owner


def is_new(*columns: np.ndarray) -> np.ndarray:
    """A mask of the rows of sorted columns that differ from the row before."""
    found = np.zeros(len(columns[0]), bool)
    found[:1] = True
    for column in columns:
        found[1:] |= column[1:] != column[:-1]
    return found


def rank_within(*columns: np.ndarray) -> np.ndarray:
    """0, 1, 2 … within each run of equal rows of sorted columns."""
    places = np.arange(len(columns[0]))
    return places - np.maximum.accumulate(np.where(is_new(*columns), places, 0))
