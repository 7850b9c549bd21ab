"""The buckets into which the rows of a split are dealt for resampling, by a hash of their ids (see ``uncertainty``)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..reading.tables import raw_cells

MOST_BUCKETS = 1000
_BYTES = 30_000


@dataclass(frozen=True)
class Buckets:
    """The rows of a split in the order of their buckets: ``order`` are indices in the split, ``starts`` the offsets of
    the buckets in it."""

    order: np.ndarray
    starts: np.ndarray


def buckets_of(hashes: np.ndarray) -> Buckets:
    """Deal rows into buckets of equal size (to within one row) in the order of the hashes of their ids."""
    order = np.argsort(hashes).astype(np.int32)  # any sort: 64 bits are hardly ever equal
    count = min(len(order), MOST_BUCKETS)
    return Buckets(order, np.arange(count) * len(order) // max(count, 1))


def hashes_of(ids: Any) -> np.ndarray:
    """A 64-bit hash for each cell of an Arrow string array, the same in every process."""
    offsets, data = raw_cells(ids)
    longest = int(np.diff(offsets).max(initial=0))
    powers = np.cumprod(np.full(longest + 1, 0x9E3779B97F4A7C15, np.uint64))
    hashes = np.empty(len(ids), np.uint64)
    start = 0
    while start < len(ids):
        # In blocks of about `_BYTES` bytes, because each byte becomes several numbers, which are to stay in a
        # processor's cache. A limit of another type than the offsets would copy all of them.
        limit = offsets.dtype.type(min(int(offsets[start]) + _BYTES, int(offsets[-1])))
        stop = max(start + 1, int(np.searchsorted(offsets, limit, side="right")) - 1)
        # For each cell the sum of its bytes, each times the power of its place.
        ends, first = offsets[start : stop + 1] - offsets[start], int(offsets[start])
        used = data[first : int(offsets[stop])]
        place = np.arange(len(used))
        place -= np.repeat(ends[:-1], np.diff(ends))
        mixed = used + np.uint64(1)
        mixed *= powers[place]
        total = np.zeros(len(used) + 1, np.uint64)
        np.cumsum(mixed, out=total[1:])
        hashes[start:stop] = np.diff(total[ends])
        start = stop
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
    found: np.ndarray = hashes ^ (hashes >> np.uint64(31))
    return found
