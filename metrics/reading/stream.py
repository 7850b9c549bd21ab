"""Large submissions to metrics that are sums over rows, piece by piece, so that the whole text is never in memory.

Read at once, 1,000,000 rows of phrases (98 MB) need 460 MB above the imports of text (81 MB) 390 MB; in pieces ~250.

As in ``tables`` what is fast accepts and what is slow explains. A file with any fault, or one that cannot be cut,
gives no result here; it is read again at once, and every complaint comes from there.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..core.arrays import take
from ..core.contract import Contributions
from ..core.errors import Refused
from ..core.evaluate import Result, measure, row_contributions
from ..core.secondary import Readings
from . import pieces as pieces_module
from .containers import container_of
from .headers import header_of
from .label_forms import ForeignLabels
from .pieces import MARK, LongRecordError, records_of
from .tables import Table, regular_table
from .text import scan

if TYPE_CHECKING:
    from ..core.truth import Truth
    from .tables import Source

_NO_LINE_END = re.compile(rb"[^\r\n]")


class _Odd(Exception):
    """The file has to be read at once."""


def measure_in_pieces(truth: Truth, source: Source, *, uncertainty: bool, with_parts: bool = False) -> Result | None:
    """The same result to the last digit as reading the file at once, or ``None`` where that has to be done. Raises
    ``NotFinite``."""
    import pyarrow as pa

    metric = truth.metric
    is_sum = metric.computation.is_plain_sum and not (metric.is_outside or metric.format.may_miss_ids)
    if truth.secondary or not is_sum:
        return None
    collected = _Collected(truth)
    try:
        with _opened(source, truth.largest_submission) as stream:
            for table in _tables(stream, truth):
                collected.add(table)
                del table  # before the next piece is read
                pa.default_memory_pool().release_unused()
        result = measure(truth, None, collected.contributions(), uncertainty=uncertainty, with_parts=with_parts)
        return replace(result, warnings=collected.labels.warnings())
    except (_Odd, LongRecordError, Refused, MemoryError):
        return None


@contextmanager
def _opened(source: Source, limit: int) -> Iterator[BinaryIO]:
    if not isinstance(source, bytes | str | os.PathLike):
        raise _Odd  # a frame
    with io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        if not pieces_module.PIECE < size <= limit or container_of(stream.read(4096)) is not None:
            raise _Odd
        stream.seek(0)
        yield stream


def _tables(stream: BinaryIO, truth: Truth) -> Iterator[Table]:
    names: list[str] = []
    for data in records_of(stream):
        if names and data.startswith(MARK):
            raise _Odd  # only at the start of a file it means nothing
        if not _NO_LINE_END.search(data):
            continue
        text, body = scan(data, truth.metric.longest_line), 0
        if not names:
            names, line, body = header_of(text.data)
            if truth.problems_of_header(names, line):
                raise _Odd
        if _NO_LINE_END.search(text.data, body):
            table = regular_table(text, names, body)
            if table is None:
                raise _Odd
            yield table
            del data, text, table


class _Collected:
    """What the rows read so far contribute to a sum over rows."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.rows = 0
        self.labels = ForeignLabels(truth)
        self._seen = np.zeros(truth.rows, bool)
        self._place = np.full(truth.rows, -1, np.int32)
        self._place[truth.scored] = np.arange(len(truth.scored))
        self._table: Any = None
        self._all = np.zeros(0)

    def add(self, table: Table) -> None:
        """Keep what the next piece contributes. Raises ``_Odd`` where anything is wrong with it."""
        truth = self.truth
        found = truth.ids.find_next(table.column(truth.id_column), self.rows)
        if self.rows + table.rows > truth.rows or found.min() < 0:
            raise _Odd
        columns, prediction = Readings(truth, table).of(truth)
        if any(cells.problems for cells in columns):
            raise _Odd
        self._seen[found] = True
        self.labels.add(prediction)
        self.rows += len(found)
        counted = np.flatnonzero(self._place[found] >= 0)
        if len(counted):
            places = self._place[found[counted]]
            prediction = truth.metric.submission.fill(counted, prediction)
            with np.errstate(over="ignore", invalid="ignore"):
                answers = take(truth.answers, places)
                self._keep(places, row_contributions(truth.metric, answers, prediction, truth.params))

    def _keep(self, places: np.ndarray, some: Any) -> None:
        table: Any = None
        values = some
        if isinstance(some, Contributions):
            table, values = (some.table, some.of_row) if some.of_row.dtype == np.int8 else (None, some.dense())
        if not len(self._all):
            self._all, self._table = np.empty((len(self.truth.scored), *values.shape[1:]), values.dtype, "F"), table
        # The few kinds of contribution that fit into a byte are the same for every piece.
        if not np.array_equal(table, self._table):
            raise _Odd
        self._all[places] = values

    def contributions(self) -> Any:
        """Of all scored rows."""
        if self.rows < self.truth.rows or not self._seen.all():
            raise _Odd
        return self._all if self._table is None else Contributions(self._table, self._all)
