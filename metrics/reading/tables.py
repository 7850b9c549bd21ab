"""CSV bytes → a table of trimmed text columns. A fast path (Arrow) accepts; ``explaining_reader`` explains.

Nothing is guessed: every cell is text, only an empty cell is empty, and a row has as many cells as the header.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import Problem, Refused
from ..core.messages import Message
from .containers import LIMIT, unpack
from .explaining_reader import walk
from .frames import bytes_of_frame
from .headers import TRIMMED, header_of
from .pieces import MARK, ends_of_pieces
from .text import LONGEST_LINE, Text, no_rows, quotes_are_regular, scan

if TYPE_CHECKING:
    import pandas as pd

    Source = bytes | str | os.PathLike[str] | pd.DataFrame
else:
    Source = object
"""A table that somebody hands in: the bytes of a CSV file (plain, gzip or zip), the path of one, or a pandas frame.

A frame means the file that ``frame.to_csv(index=False)`` writes, cell by cell: truth values are ``True`` and ``False``,
a ``float32`` has the few digits that it is written with, a missing value is an empty cell. An index that has a name is
written too, as first column, so ids may be there. An index without a name is left out if it numbers the rows from 0,
in any order; any other is refused, because it may hold the ids."""

HeaderCheck = Callable[[Sequence[str], int], list[Problem]]

_SPARE_ROWS = 100_000
_BLOCK = 1 << 18
_INK = re.compile(rb"\S")
_NOT_A_LINE_END = re.compile(rb"[^\n]")


class Table:
    """Columns of equal length as Arrow string arrays, and the line each row came from."""

    def __init__(self, names: Sequence[str], arrays: Sequence[Any], text: Text, body: int) -> None:
        self.names = tuple(names)
        self.arrays = tuple(arrays)
        self.rows = len(arrays[0]) if arrays else 0
        self.problems: list[Problem] = []
        self._text = text
        self._body = body

    @property
    def may_span_lines(self) -> bool:
        """Whether a cell may hold a line break: only quoted ones can."""
        return self._text.has_quotes

    @cached_property
    def lines(self) -> np.ndarray:
        """The line number of each row; computed when a message needs it."""
        return self._text.lines_of(self._text.record_starts(self._body))

    def _consecutive_lines(self) -> np.ndarray:
        """The lines in little memory; each is one row where nothing is quoted and there are as many."""
        text, lines = self._text, self.__dict__.get("lines")
        if lines is None and not text.has_quotes:
            first, more = text.data.count(b"\n", 0, self._body), not text.data.endswith(b"\n")
            if text.line_ends - first + more == self.rows:
                return np.arange(first + 1, first + 1 + self.rows, dtype=np.int32)
        return (self.lines if lines is None else lines).astype(np.int32)

    def some(self, rows: np.ndarray) -> Table:
        """Some rows, in the order given, with the lines they have."""
        found = Table(self.names, [pick(array, rows) for array in self.arrays], self._text, self._body)
        found.lines = self.lines[rows]
        return found

    def without(self, name: str) -> Table:
        """All columns but one."""
        remaining = [place for place, other in enumerate(self.names) if other != name]
        names, arrays = [self.names[place] for place in remaining], [self.arrays[place] for place in remaining]
        found = Table(names, arrays, self._text, self._body)
        found.lines, found.problems = self.lines, self.problems
        return found

    def let_go(self, names: Sequence[str]) -> None:
        """Keep neither these columns nor the text, only the line numbers."""
        self.lines = self._consecutive_lines()
        self._text = Text(b"", self._text.has_quotes, 0)
        remaining = [place for place, name in enumerate(self.names) if name not in names]
        self.names, self.arrays = (
            tuple(self.names[place] for place in remaining),
            tuple(self.arrays[place] for place in remaining),
        )

    def column(self, name: str) -> Any:
        """The Arrow string array of a column, white space around each cell removed."""
        return self.arrays[self.names.index(name)]


def read_bytes(source: Source, limit: int = LIMIT) -> bytes:
    """The CSV bytes behind a path, bytes (plain, gzip or zip) or a pandas frame. Raises ``Refused``."""
    source = without_frame(source)
    if isinstance(source, bytes):
        return unpack(source, limit)
    with Path(source).open("rb") as stream:
        # Python makes room for all that is asked for, and what has no size (a pipe) may be of any.
        size = os.fstat(stream.fileno()).st_size or limit
        data = stream.read(min(size, limit) + 1)
    return unpack(data, limit)


def without_frame(source: Source) -> bytes | str | os.PathLike[str]:
    """A path or bytes as they are, a frame as the bytes of its CSV file. Raises ``Refused``."""
    if isinstance(source, bytes | str | os.PathLike):
        return source
    return bytes_of_frame(source)


def read_table(
    data: bytes,
    check: HeaderCheck,
    expected_rows: int | None = None,
    *,
    may_be_empty: bool = False,
    longest_line: int = LONGEST_LINE,
) -> Table:
    """Read a CSV whose header passes ``check``. Raises ``Refused`` when nothing further can be said.

    Rows with too few or too many cells are left out and named in ``Table.problems``.
    """
    text = scan(data, longest_line)
    names, line, body = header_of(text.data)
    if problems := check(names, line):
        raise Refused(*problems)
    if not _INK.search(text.data, body):
        if may_be_empty:
            return Table(names, _empty(len(names)), text, body)
        raise Refused(Problem("no_rows", no_rows(expected_rows), line=line))
    if expected_rows is not None:
        _stop_early(text, body, expected_rows)
    return _read_body(text, names, body)


def _stop_early(text: Text, body: int, expected: int) -> None:
    most = 3 * expected + _SPARE_ROWS
    rows = text.line_ends
    if rows > most and text.has_quotes:
        rows = len(text.record_starts(body))
    if rows > most:
        message = Message(
            "The file has about {rows} rows; {expected} are expected. It was not read further.",
            rows=rows,
            expected=expected,
        )
        raise Refused(Problem("too_many_rows", message, count=rows))


def _read_body(text: Text, names: Sequence[str], body: int) -> Table:
    table = regular_table(text, names, body)
    if table is not None:
        return table
    walked = walk(text.data, body, len(names))
    good = Text(walked.good, text.has_quotes, walked.good.count(b"\n"))
    arrays = _columns(good, 0, len(names)) if good.data.strip() else _empty(len(names))
    if arrays is None or len(arrays[0]) != len(walked.lines):
        message = Message("The file cannot be read as CSV. Write it again with a CSV library.")
        raise Refused(*walked.problems, *([] if walked.problems else [Problem("unreadable", message)]))
    table = Table(names, arrays, text, body)
    table.lines = walked.lines
    table.problems = walked.problems
    return table


def regular_table(text: Text, names: Sequence[str], body: int) -> Table | None:
    """The rows from offset ``body`` on, or ``None`` where there is any fault with them."""
    if text.has_quotes and not quotes_are_regular(text.data, body):
        return None
    arrays = _columns(text, body, len(names))
    return None if arrays is None else Table(names, arrays, text, body)


def _empty(width: int) -> list[Any]:
    import pyarrow as pa

    return [pa.nulls(0, pa.string())] * width


def _columns(text: Text, body: int, width: int) -> list[Any] | None:
    """The trimmed columns as string arrays, read piece by piece, or ``None`` where Arrow finds fault with the rows."""
    view = memoryview(text.data)
    ends = list(ends_of_pieces(text.data, body, has_quotes=text.has_quotes))
    if len(ends) == 1:
        arrays = _arrow(view[body:], width, text.has_quotes)
        return None if arrays is None else [trimmed(array) for array in arrays]
    found = [_Growing(text.line_ends + 1, len(view) - body) for _ in range(width)]
    start = body
    for end in ends:
        if _NOT_A_LINE_END.search(text.data, start, end):  # Arrow takes line ends alone for a fault
            arrays = _arrow(view[start:end], width, text.has_quotes)
            if arrays is None:
                return None
            for column, array in zip(found, arrays, strict=True):
                column.add(trimmed(array))
        start = end
    return [column.array() for column in found]


class _Growing:
    """A string array that pieces are added to. Room for all of them is reserved at once, and memory that nothing was
    written to is none: never are the pieces and the whole there together."""

    def __init__(self, rows: int, size: int) -> None:
        self._offsets, self._data = np.zeros(rows + 1, np.int32), np.empty(size, np.uint8)
        self._rows = 0

    def add(self, array: Any) -> None:
        offsets, data = raw_cells(array)
        rows, start = self._rows + len(array), self._offsets[self._rows]
        self._offsets[self._rows + 1 : rows + 1] = offsets[1:] - offsets[0] + start
        self._data[start : self._offsets[rows]] = data[offsets[0] : offsets[-1]]
        self._rows = rows

    def array(self) -> Any:
        import pyarrow as pa

        offsets = self._offsets[: self._rows + 1]
        data = self._data[: offsets[-1]]
        return pa.StringArray.from_buffers(self._rows, pa.py_buffer(offsets), pa.py_buffer(data))


def _arrow(view: memoryview, width: int, has_quotes: bool) -> list[Any] | None:
    """The columns as string arrays, or ``None`` where Arrow finds fault with the rows."""
    import pyarrow as pa
    from pyarrow import csv

    keys = [str(place) for place in range(width)]
    if view[: len(MARK)] == MARK:  # it drops one, and here it belongs to a cell
        view = memoryview(MARK + view.tobytes())
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(view)),
            read_options=csv.ReadOptions(use_threads=False, column_names=keys, block_size=len(view) + 1),
            parse_options=csv.ParseOptions(newlines_in_values=has_quotes, quote_char='"' if has_quotes else False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [_one_chunk(column) for column in table.columns]


def _one_chunk(column: Any) -> Any:
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, pa.string())


def pick(array: Any, rows: np.ndarray) -> Any:
    """The given rows of an Arrow array. (``pa.array`` of a numpy array would import pandas.)"""
    import pyarrow as pa

    numbers = np.ascontiguousarray(rows, np.int64)
    return array.take(pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)]))


def plain(array: Any, kind: type[np.generic]) -> np.ndarray:
    """The values of an Arrow array of fixed-width numbers without nulls, not copied. (``to_numpy`` would import
    pandas.)"""
    if not len(array):
        return np.zeros(0, kind)
    found: np.ndarray = np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array)]
    return found


def raw_cells(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """The offsets (rows + 1) and the bytes of an Arrow string array, without copying."""
    if not len(array):
        return np.zeros(1, np.int32), np.zeros(0, np.uint8)
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    return places, np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)


def trimmed(array: Any) -> Any:
    """Each cell without white space around it; arrays that need nothing are returned as they are."""
    places, data = raw_cells(array)
    if _all_visible(data[places[0] : places[-1]]) or not _has_soft_edges(data, places[:-1], places[1:]):
        return array
    import pyarrow.compute as pc

    return pc.utf8_trim(array, characters=TRIMMED)


def _all_visible(data: np.ndarray) -> bool:
    """Whether all bytes are visible ASCII, 33 to 126."""
    return not any(_is_soft(data[place : place + _BLOCK]).any() for place in range(0, len(data), _BLOCK))


def _has_soft_edges(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
    filled = ends > starts
    if not filled.all():
        starts, ends = starts[filled], ends[filled]
    return bool(_is_soft(data[starts]).any() or _is_soft(data[ends - 1]).any())


def _is_soft(data: np.ndarray) -> np.ndarray:
    # Subtracting 33 in uint8 wraps everything but the visible above 93.
    found: np.ndarray = (data - np.uint8(33)) > 93
    return found


def csv_bytes(header: Sequence[str], rows: Any) -> bytes:
    """CSV text, quoted where needed, ``\\n`` line ends."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()
