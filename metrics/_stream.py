"""Large submissions piece by piece: only what the metric needs is kept of each, so the whole text is never there.

As in ``_tables`` what is fast accepts and what is slow explains. A file with any fault, or one that cannot be cut,
gives no result here; it is read again at once, and every complaint comes from there.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from metrics import _pieces
from metrics._arrays import Ranked, take
from metrics._containers import container_of
from metrics._contract import Contributions
from metrics._errors import Refused
from metrics._evaluate import Result, SecondaryValue, measure, row_contributions
from metrics._foreign_labels import ForeignLabels
from metrics._headers import header_of
from metrics._inputs import Plain, RankedLabel
from metrics._pieces import MARK, end_of_records
from metrics._scan import scan
from metrics._secondary import Aside, Readings, measured
from metrics._tables import Table, regular_table

if TYPE_CHECKING:
    from metrics._tables import Source
    from metrics._truth import Truth

_LONGEST_RECORD = 1 << 26
_NO_LINE_END = re.compile(rb"[^\r\n]")


class _Odd(Exception):
    """The file has to be read at once."""


def measure_in_pieces(truth: Truth, source: Source, *, uncertainty: bool, with_parts: bool = False) -> Result | None:
    """The same result to the last digit as reading the file at once, or ``None`` where that has to be done. Raises
    ``NotFinite``."""
    import pyarrow as pa

    kept = _keeper(truth)
    if kept is None:
        return None
    try:
        beside = [_KeptBeside(aside) for aside in truth.secondary]
        with _opened(source, truth.largest_submission) as stream:
            for table in _tables(stream, truth):
                readings, found = Readings(truth, table), kept.find(table)
                kept.add(readings, found)
                for one in beside:
                    one.add(readings, found)
                del table, readings, found  # before the next piece is read
                pa.default_memory_pool().release_unused()
        prediction, contributions = kept.all()
        result = measure(truth, prediction, contributions, uncertainty=uncertainty, with_parts=with_parts)
        del prediction, contributions
        secondary = _values(truth, source, beside) if beside else ()
        return replace(result, secondary=secondary, warnings=kept.labels.warnings())
    except (_Odd, Refused, MemoryError):
        return None


def _values(truth: Truth, source: Source, kept: Sequence[_KeptBeside]) -> tuple[SecondaryValue, ...]:
    """What the secondary metrics say; those that need the whole file, or found fault with a piece, read it together."""
    values = [one.value() for one in kept]
    if rest := [one.aside for one, value in zip(kept, values, strict=True) if value is None]:
        late = iter(truth.values_at_once(source, rest))
        values = [next(late) if value is None else value for value in values]
    return tuple(value for value in values if value is not None)


def _keeper(truth: Truth) -> _Kept | None:
    """What is kept of each piece, ``None`` where the metric needs all of the file together."""
    metric = truth.metric
    if metric.elsewhere is None and metric.score is None and not (metric.whole or metric.may_miss_ids):
        return _KeptSums(truth)
    return _KeptValues(truth) if isinstance(metric.submission, Plain | RankedLabel) else None


@contextmanager
def _opened(source: Source, limit: int) -> Iterator[BinaryIO]:
    if not isinstance(source, bytes | str | os.PathLike):
        raise _Odd  # a frame
    with io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        if not _pieces.PIECE < size <= limit or container_of(stream.read(4096)) is not None:
            raise _Odd
        stream.seek(0)
        yield stream


def _tables(stream: BinaryIO, truth: Truth) -> Iterator[Table]:
    names: list[str] = []
    for data in _records(stream):
        if names and data.startswith(MARK):
            raise _Odd  # only at the start of a file it means nothing
        if not _NO_LINE_END.search(data):
            continue
        text, body = scan(data, truth.metric.longest_line), 0
        if not names:
            names, line, body = header_of(text.data)
            if truth.problems_of_header(names, line):
                raise _Odd
        if not _NO_LINE_END.search(text.data, body):
            continue
        table = regular_table(text, names, body)
        if table is None:
            raise _Odd
        yield table
        del data, text, table


def _records(stream: BinaryIO) -> Iterator[bytes]:
    """The file in pieces of whole records."""
    rest = b""
    while len(data := rest + stream.read(_pieces.PIECE)) > len(rest):
        end = end_of_records(data, 0, len(data), has_quotes=b'"' in data)
        if not end and len(data) > _LONGEST_RECORD:
            raise _Odd
        rest, data = data[end:], data[:end]
        if end:
            yield data
    if rest:
        yield rest


class _Kept:
    """The rows read so far."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.rows = 0
        self.labels = ForeignLabels(truth)
        self.seen = np.zeros(len(truth.ids), bool)

    def find(self, table: Table) -> np.ndarray:
        """The truth's rows of the next piece. Raises ``_Odd`` where it has others."""
        found = self.truth.ids.find_next(table.column(self.truth.id_column), self.rows)
        if self.rows + table.rows > len(self.seen) or found.min() < 0:
            raise _Odd
        return found

    def add(self, readings: Readings, found: np.ndarray) -> None:
        """Keep what is needed of a piece. Raises ``_Odd`` where anything is wrong with it."""
        columns, prediction = readings.of(self.truth)
        if any(cells.problems for cells in columns):
            raise _Odd
        self.seen[found] = True
        self.labels.add(prediction)
        self.keep(found, prediction)
        self.rows += len(found)

    def keep(self, found: np.ndarray, prediction: Any) -> None:
        """``prediction`` is of the truth's rows ``found``."""
        raise NotImplementedError

    def all(self) -> tuple[Any, Any]:
        """The prediction in the order of the scored rows, or what they contribute."""
        if np.count_nonzero(self.seen) < self.rows or not (self.seen.all() or self.truth.metric.may_miss_ids):
            raise _Odd
        return self.together()

    def together(self) -> tuple[Any, Any]:
        raise NotImplementedError


class _KeptSums(_Kept):
    """What each row contributes to a sum over rows."""

    def __init__(self, truth: Truth) -> None:
        super().__init__(truth)
        self._place: np.ndarray | None = None
        if len(truth.scored) < truth.rows:
            self._place = np.full(truth.rows, -1, np.int32)
            self._place[truth.scored] = np.arange(len(truth.scored))
        self._table: np.ndarray | None = None
        self._all: np.ndarray = np.zeros(0)

    def keep(self, found: np.ndarray, prediction: Any) -> None:
        truth = self.truth
        if self._place is not None:
            found = self._place[found]
            counted = np.flatnonzero(found >= 0)
            found = found[counted]
            prediction = truth.metric.submission.fill(counted, prediction)
        if not len(found):
            return
        with np.errstate(over="ignore", invalid="ignore"):
            some = row_contributions(truth.metric, take(truth.answers, found), prediction, truth.params)
        if isinstance(some, Contributions) and some.of_row.dtype == np.int8:
            self._keep(found, some.of_row, some.table)
        else:
            self._keep(found, some.dense() if isinstance(some, Contributions) else some, None)

    def _keep(self, found: np.ndarray, values: np.ndarray, table: np.ndarray | None) -> None:
        if not len(self._all):
            self._all = np.empty((len(self.truth.scored), *values.shape[1:]), values.dtype, order="F")
            self._table = table
        # The few kinds of contribution that fit into a byte are the same for every piece.
        if self._table is not None if table is None else not _are_equal(table, self._table):
            raise _Odd
        self._all[found] = values

    def together(self) -> tuple[Any, Any]:
        return None, self._all if self._table is None else Contributions(self._table, self._all)


def _are_equal(one: np.ndarray, other: np.ndarray | None) -> bool:
    return other is not None and np.array_equal(one, other)


class _KeptValues(_Kept):
    """Numbers, or labels with their confidences."""

    def __init__(self, truth: Truth) -> None:
        super().__init__(truth)
        self._places = np.full(len(truth.ids), -1, np.int32)
        self._values: list[Any] = []

    def keep(self, found: np.ndarray, prediction: Any) -> None:
        self._places[found] = np.arange(self.rows, self.rows + len(found), dtype=np.int32)
        self._values.append(prediction)

    def together(self) -> tuple[Any, Any]:
        truth, values = self.truth, self._values
        if not values:
            raise _Odd
        together: Any
        if isinstance(values[0], Ranked):
            codes, confidence = ([getattr(some, name) for some in values] for name in ("codes", "confidence"))
            together = Ranked(np.concatenate(codes), np.concatenate(confidence))
        else:
            together = np.concatenate(values)
        values.clear()
        return truth.metric.submission.fill(self._places[truth.scored], together), None


class _KeptBeside:
    """What a secondary metric needs of each piece; nothing where it has to read the file at once."""

    def __init__(self, aside: Aside) -> None:
        self.aside = aside
        self._kept = _keeper(aside.truth) if aside.truth is not None else None

    def add(self, readings: Readings, found: np.ndarray) -> None:
        if self._kept is not None:
            try:
                self._kept.add(readings, found)
            except Exception:
                self._kept = None  # whatever it is, it is told when the file is read at once

    def value(self) -> SecondaryValue | None:
        """``None`` where the file has to be read at once."""
        kept, self._kept = self._kept, None
        try:
            return None if kept is None else measured(self.aside, *kept.all())
        except _Odd:
            return None
