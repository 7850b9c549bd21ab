"""CSV bytes → a table of trimmed text columns. A fast reader (Arrow) accepts good files;
``explaining_reader`` explains the problems of others.

Nothing is guessed: every cell is text, only an empty cell is empty, and a row has as many cells as the header.
"""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.errors import Problem, Refused
from ..core.lazy import cached_property
from ..core.messages import Message
from .column_names import TRIMMED
from .explaining_reader import read_records
from .headers import HeaderRule
from .text import LONGEST_LINE, checked_text, no_rows, quotes_are_regular, record_lines

_MARK = b"\xef\xbb\xbf"
"""A byte-order mark."""

SPARE_ROWS = 100_000
_INK = re.compile(rb"\S")


class Table:
    """Columns of equal length, with the line number of each row. They are Arrow arrays of texts or, where a frame has
    them, of numbers."""

    def __init__(self, names: Sequence[str], arrays: Sequence[Any], data: bytes, body: int) -> None:
        self.names = tuple(names)
        self.arrays = tuple(arrays)
        self.rows = len(arrays[0]) if arrays else 0
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        """How the file was read, where that may be other than its owner meant."""
        self.may_span_lines = b'"' in data
        """Whether cells may hold line breaks: only quoted ones can."""
        self._data = data
        self._body = body
        self._texts: dict[str, Any] = {}

    @cached_property
    def lines(self) -> np.ndarray:
        """The line number of each row; computed only when a message needs it."""
        return record_lines(self._data, self._body)

    def some(self, rows: np.ndarray) -> "Table":
        """The given rows, in that order, with their line numbers."""
        return self._with(self.names, [pick(array, rows) for array in self.arrays], self.lines[rows])

    def row(self, place: int) -> list[str]:
        """The cells of one row; empty if there is none."""
        return [array[place].as_py() for array in self.arrays] if place < self.rows else []

    def without(self, name: str) -> "Table":
        remaining = [other for other in self.names if other != name]
        found = self._with(remaining, [self.values(other) for other in remaining], self.lines)
        found.problems = self.problems
        return found

    def named(self, names: Sequence[str]) -> "Table":
        """The same columns under other names."""
        found = self._with(names, self.arrays, self.lines)
        found.problems, found.notes = self.problems, self.notes
        return found

    def _with(self, names: Sequence[str], arrays: Sequence[Any], lines: np.ndarray) -> "Table":
        found = Table(names, arrays, b"", 0)
        found.lines, found.may_span_lines = lines, self.may_span_lines
        return found

    def let_go(self, names: Sequence[str]) -> None:
        """Free these columns and the text, and keep only the line numbers."""
        self.lines = self.lines.astype(np.int32)
        self._data = b""
        remaining = [name for name in self.names if name not in names]
        self.arrays = tuple(self.values(name) for name in remaining)
        self.names = tuple(remaining)

    def column(self, name: str) -> Any:
        """The Arrow string array of a column, with cells trimmed."""
        values = self.values(name)
        if is_text(values):
            return values
        if name not in self._texts:
            self._texts[name] = texts_of(values)
        return self._texts[name]

    def values(self, name: str) -> Any:
        """The column as it is kept: an Arrow array of texts, or one of numbers that ``texts_of`` writes."""
        return self.arrays[self.names.index(name)]


def read_table(
    data: bytes,
    header: HeaderRule,
    expected_rows: int | None = None,
    *,
    may_be_empty: bool = False,
    longest_line: int = LONGEST_LINE,
) -> Table:
    """Read a CSV; ``header`` reads its header. Raises ``Refused`` if the file cannot be read further.

    Rows with too few or too many cells are left out and reported in ``Table.problems``.
    """
    text = checked_text(data, longest_line)
    found = header.read(text)
    names, body = found.names, found.body
    if not _INK.search(text, body):
        if not may_be_empty:
            raise Refused(Problem("no_rows", no_rows(expected_rows), line=found.line))
        table = Table(names, _empty_columns(len(names)), text, body)
    else:
        if expected_rows is not None:
            _stop_early(text, body, expected_rows)
        arrays = _columns(text, body, len(names)) if quotes_are_regular(text, body) else None
        table = _table_with_problems(text, names, body) if arrays is None else Table(names, arrays, text, body)
    table.notes = list(found.notes)
    return table


def _stop_early(text: bytes, body: int, expected: int) -> None:
    most = 3 * expected + SPARE_ROWS
    rows = text.count(b"\n")
    if rows > most and b'"' in text:
        rows = len(record_lines(text, body))
    if rows > most:
        message = Message(
            "The file has about {rows} rows; {expected} are expected. It was not read further.",
            rows=rows,
            expected=expected,
        )
        raise Refused(Problem("too_many_rows", message, count=rows))


def _table_with_problems(text: bytes, names: Sequence[str], body: int) -> Table:
    """The good rows of a file that Arrow refuses, with the problems of the others."""
    good, lines, problems = read_records(text, body, len(names))
    arrays = _empty_columns(len(names))
    if good.strip():
        arrays = _columns(good, 0, len(names)) or []
    if not arrays or len(arrays[0]) != len(lines):
        message = Message("The file cannot be read as CSV. Write it again with a CSV library.")
        raise Refused(*(problems or [Problem("unreadable", message)]))
    table = Table(names, arrays, text, body)
    table.lines, table.problems = lines, problems
    return table


def _empty_columns(width: int) -> list[Any]:
    import pyarrow as pa

    return [pa.nulls(0, pa.string())] * width


def _columns(text: bytes, body: int, width: int) -> list[Any] | None:
    """The trimmed columns as string arrays, or ``None`` if Arrow refuses the rows."""
    import pyarrow as pa
    from pyarrow import csv

    keys = [str(place) for place in range(width)]
    has_quotes = b'"' in text
    view = memoryview(text)[body:]
    if view[: len(_MARK)] == _MARK:  # Arrow drops one, but this one belongs to a cell
        view = memoryview(_MARK + view.tobytes())
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
    # One block becomes one chunk, which needs no copy.
    return [trimmed(column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()) for column in table.columns]


def is_text(array: Any) -> bool:
    import pyarrow as pa

    return bool(array.type == pa.string())


def texts_of(array: Any) -> Any:
    """Numbers as texts, written as pandas writes them to CSV files; texts stay."""
    import pyarrow as pa

    if is_text(array):
        return array
    if pa.types.is_integer(array.type):
        return array.cast(pa.string())
    return text_array(array.to_numpy(zero_copy_only=False).astype(str).tolist())


def text_array(texts: Sequence[str]) -> Any:
    """The Arrow array of these texts. (``pa.array`` would import pandas.)"""
    import pyarrow as pa

    joined = "".join(texts)
    sizes = map(len, texts if joined.isascii() else map(str.encode, texts))
    offsets = np.cumsum([0, *sizes], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(joined.encode()))


def trimmed(array: Any) -> Any:
    """Each cell without white space around it; an array that needs no change is returned itself."""
    import pyarrow.compute as pc

    offsets, data = raw_cells(array)
    filled = offsets[1:] > offsets[:-1]
    edges = np.concatenate([data[offsets[:-1][filled]], data[offsets[1:][filled] - 1]])
    is_visible = (edges > 32) & (edges < 127)
    return array if is_visible.all() else pc.utf8_trim(array, characters=TRIMMED)


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


def sorted_places(array: Any) -> np.ndarray:
    """The places of the values of an Arrow array in their order; texts are in that of Python."""
    import pyarrow.compute as pc

    return plain(pc.array_sort_indices(array), np.uint64)


def places_where(mask: Any) -> np.ndarray:
    """The places of an Arrow array of truth values that are true. (Its ``to_numpy`` would import pandas.)"""
    import pyarrow as pa

    return np.flatnonzero(plain(mask.cast(pa.int8()), np.int8))


def codes_among(labels: Any, known: Any) -> np.ndarray:
    """Where each text of an Arrow array is among the known ones, -1 for a text that is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # `pc.fill_null` would import pandas.
    unknown = pa.Array.from_buffers(pa.int32(), len(labels), [None, pa.py_buffer(np.full(len(labels), -1, np.int32))])
    return plain(pc.coalesce(pc.index_in(labels, value_set=known), unknown), np.int32)


def raw_cells(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """The offsets (rows + 1) and the bytes of an Arrow string array, without copying."""
    if not len(array):
        return np.zeros(1, np.int32), np.zeros(0, np.uint8)
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    return places, np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)


def spread_rows(rows: int, most: int) -> np.ndarray:
    """At most ``most`` of the rows of a table, evenly spaced."""
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.int64))


def blank_rows(array: Any) -> np.ndarray:
    """The places of empty cells in an Arrow array."""
    if not is_text(array):
        return np.zeros(0, np.int64)
    offsets, _ = raw_cells(array)
    return np.flatnonzero(offsets[1:] == offsets[:-1])


def line_breaks(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """The places of cells with line breaks in an Arrow string array, and the number of line breaks in each."""
    offsets, data = raw_cells(array)
    breaks = np.flatnonzero(data[offsets[0] : offsets[-1]] == 10) + offsets[0]
    return np.unique(np.searchsorted(offsets, breaks, side="right") - 1, return_counts=True)


def columns_csv(header: Sequence[str], arrays: Sequence[Any]) -> bytes:
    """``csv_bytes`` of the cells of Arrow arrays of texts; faster, where no cell needs quotes."""
    import pyarrow as pa
    from pyarrow.csv import WriteOptions, write_csv

    out = pa.BufferOutputStream()
    out.write(csv_bytes(header, ()))
    if len(arrays) > 1:  # the only cell of a row has quotes where it is empty
        batch = pa.RecordBatch.from_arrays(arrays, list(map(str, range(len(arrays)))))
        with suppress(pa.ArrowInvalid):
            write_csv(batch, out, WriteOptions(include_header=False, quoting_style="none"))
            return bytes(out.getvalue().to_pybytes())
    return csv_bytes(header, zip(*(array.to_pylist() for array in arrays), strict=True))


def csv_bytes(header: Sequence[str], rows: Any) -> bytes:
    """CSV text, quoted where needed, ``\\n`` line ends."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()
