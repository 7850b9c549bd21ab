"""Long texts in pieces of whole records: what is made of a piece needs several times its memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

PIECE = 1 << 22
"""Bytes of a piece; one with a longer record is longer."""

MARK = b"\xef\xbb\xbf"
"""A byte-order mark: readers drop it at the start of what they are given, so no piece may begin with one."""


_LONGEST_RECORD = 1 << 26


class LongRecordError(ValueError):
    """A record is too long for a file to be read in pieces."""


def records_of(stream: BinaryIO) -> Iterator[bytes]:
    """A file in pieces of whole records. Raises ``LongRecordError``."""
    rest = b""
    while len(data := rest + stream.read(PIECE)) > len(rest):
        end = end_of_records(data, 0, len(data), has_quotes=b'"' in data)
        if not end and len(data) > _LONGEST_RECORD:
            raise LongRecordError
        rest, data = data[end:], data[:end]
        if end:
            yield data
    if rest:
        yield rest


def ends_of_pieces(data: bytes, start: int, *, has_quotes: bool) -> Iterator[int]:
    """Where the pieces from ``start`` on end, each behind a line end that no quotes enclose; the last at the end."""
    size = PIECE
    while start + size < len(data):
        end = end_of_records(data, start, start + size, has_quotes=has_quotes)
        if end > start and not data.startswith(MARK, end):
            yield end
            start, size = end, PIECE
        else:
            size *= 2
    yield len(data)


def end_of_records(data: bytes, start: int, stop: int, *, has_quotes: bool) -> int:
    """Behind the last record that ends between these offsets, ``start`` if none does; at ``start`` a record begins."""
    if not has_quotes:
        return max(start, data.rfind(b"\n", start, stop) + 1)
    used = np.frombuffer(data, np.uint8)[start:stop]
    ends = np.flatnonzero(used == 10)
    outside = np.flatnonzero(np.searchsorted(np.flatnonzero(used == 34), ends) % 2 == 0)
    return start + int(ends[outside[-1]]) + 1 if len(outside) else start
