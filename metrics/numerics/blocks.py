"""Cells of different lengths, laid one after the other: worked through in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_BLOCK = 500_000
"""Entries looked at together."""


def blocks(sizes: np.ndarray, most: int = _BLOCK) -> Iterator[slice]:
    """Neighbours whose ``sizes`` add up to at most ``most``, one after the other; what is larger stands alone."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Where each cell begins, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
