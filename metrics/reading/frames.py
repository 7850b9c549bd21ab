"""Frames of a notebook → a table whose columns stay arrays, or the CSV bytes that their owner would write.

A frame means the file that ``frame.to_csv(index=False)`` writes, cell by cell; a table of Arrow or polars means what a
Parquet file of it does. What such a file would not say is settled before: where the ids are, and lists in cells.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import Problem, Refused, shown
from ..core.messages import Message
from .headers import Header, HeaderRule, header_of
from .list_cells import Wanted, is_nested, joined_cells
from .split_words import USAGE
from .tables import SPARE_ROWS, Table, is_text, plain, raw_cells, trimmed
from .text import HIGH_CONTROL, LONGEST_LINE, checked_text
from .workbooks import arrow_to_csv, data_columns, header_bytes, with_named_range

if TYPE_CHECKING:
    import pandas as pd

_NAME_OF_IDS = re.compile(r"(?i:(^|[\W_])id$)|[a-z]I[dD]$")


@dataclass(frozen=True)
class Frame:
    """A frame whose index and lists are settled. ``names`` are ``None`` if no CSV file could have this header;
    ``arrays`` are the columns, each ``None`` if its texts in a CSV file do not follow from an Arrow array."""

    names: Sequence[str] | None
    arrays: Callable[[], Iterable[Any]]
    to_csv: Callable[[], bytes]


def read_frame(source: object, header: HeaderRule, wanted: Wanted) -> Frame:
    """The frame behind a pandas DataFrame or a table of Arrow or polars. Raises ``Refused`` for other objects, for ids
    that may be in an index without a name, and for cells that hold neither a number nor a text."""
    pandas = sys.modules.get("pandas")  # a frame can only come from a program that has imported it
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _of_pandas(source, header, wanted)
    if (table := _arrow_table(source)) is not None:
        return _of_arrow(table, wanted)
    kind = type(source)
    library = kind.__module__.partition(".")[0]
    message = Message(
        "The data is given as {kind}, which is no table. Give a pandas DataFrame with a column of ids, or a CSV "
        "file by its path or its bytes.",
        kind=shown(kind.__qualname__ if library == "builtins" else f"{library}.{kind.__qualname__}"),
    )
    raise Refused(Problem("no_table", message))


def table_of_frame(
    frame: Frame,
    header: HeaderRule,
    expected_rows: int | None = None,
    *,
    may_be_empty: bool = False,
    longest_line: int = LONGEST_LINE,
) -> Table | None:
    """The table that ``read_table`` would make of the frame's CSV file, with columns that stay arrays. ``None`` if that
    is not certain, or if the file may be refused: then the file decides."""
    names = frame.names
    accepted = None if names is None or len(names) < 2 else _accepted_header(header, names)
    if accepted is None:
        return None
    arrays: list[Any] = []
    width = 0
    for array in frame.arrays():
        if array is None or not 0 < len(array) <= SPARE_ROWS + 3 * (expected_rows or len(array)):
            return None
        if is_text(array):
            if (longest := _longest_cell(array)) is None:
                return None
            array, width = trimmed(array), width + longest
        arrays.append(array)
    if width + _LONGEST_NUMBER * len(arrays) > longest_line:
        return None
    table = Table(accepted.names, arrays, b"", 0)
    table.lines, table.notes = np.arange(2, table.rows + 2), list(accepted.notes)
    return table


_LONGEST_NUMBER = 30
"""The most bytes of a number and the comma behind it, or of the quotes and the comma of a text."""


def _longest_cell(array: Any) -> int | None:
    """The most bytes that a text takes in a CSV file without its own quotes; ``None`` if one has a control character,
    which may be refused."""
    offsets, data = raw_cells(array)
    used = data[offsets[0] : offsets[-1]]
    if ((used < 32) | (used == 127)).any() or ((used == 0xC2).any() and HIGH_CONTROL.search(used.tobytes())):
        return None
    return 2 * int(np.diff(offsets).max(initial=0))


# --- pandas -----------------------------------------------------------------------------------------------------


def _of_pandas(frame: "pd.DataFrame", header: HeaderRule, wanted: Wanted) -> Frame:
    if (levels := frame.columns.nlevels) > 1:
        message = Message(
            "The columns of the DataFrame have names of {levels} levels. Give each column one name ({how}).",
            levels=levels,
            how='"frame.columns = […]"',
        )
        raise Refused(Problem("column_levels", message))
    frame = _without_lists(_with_index(frame, header, wanted), header, wanted)
    return Frame(
        _names_of(frame),
        lambda: (_plain_array(_array_of_series(frame.iloc[:, place])) for place in range(frame.shape[1])),
        lambda: _csv_of(frame),
    )


def _csv_of(frame: "pd.DataFrame") -> bytes:
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode("utf-8", "surrogatepass")  # the reader reports the line of an invalid character


def _names_of(frame: "pd.DataFrame") -> list[str] | None:
    return _names_in(_csv_of(frame.iloc[:0]))


def _names_in(header: bytes) -> list[str] | None:
    """The names in the first line of a CSV file; ``None`` if it would be refused or is not the first line alone."""
    try:
        found = header_of(checked_text(header))
    except Refused:
        return None
    return found.names if found.line == 1 and found.body == len(header) else None


def _accepted_header(header: HeaderRule, names: Sequence[str]) -> Header | None:
    try:
        return header.accepted(Header(list(names), 1, 0))
    except Refused:
        return None


def _with_index(frame: "pd.DataFrame", header: HeaderRule, wanted: Wanted) -> "pd.DataFrame":
    """The frame with the named levels of its index as first columns, unless it has columns of these names or is a whole
    submission without them. Raises ``Refused`` where ids may be in an index without a name."""
    names = _names_of(frame)
    if wanted.columns and names is not None and _accepted_header(header, names) is not None:
        return frame
    named = [name for name in frame.index.names if name is not None]
    if not named and not _counts_rows(frame.index) and not _has_ids(frame, names or [], wanted):
        message = Message(
            "The index of the DataFrame has no name and does not number the rows from 0. If it holds the ids, give it "
            "the name of the id column ({name}); if not, remove it ({remove}).",
            name='"frame.index.name = …"',
            remove='"frame.reset_index(drop=True)"',
        )
        raise Refused(Problem("unnamed_index", message))
    if wanted.id_column in named and wanted.columns:
        named = [name for name in named if name in wanted.columns]
    missing = [name for name in named if name not in frame.columns]
    return frame.reset_index(level=missing) if missing else frame


def _has_ids(frame: "pd.DataFrame", names: Sequence[str], wanted: Wanted) -> bool:
    """Whether a column holds the ids, so that an index without a name cannot.

    In answers it is the first one, if it is called like ids, or if the index is that of some rows of a larger frame and
    the column differs in each of them.
    """
    if wanted.id_column is not None:
        return wanted.id_column.strip() in names
    if len(set(names) - {USAGE}) < 2:
        return False
    first = frame.iloc[:, 0]
    return bool(_NAME_OF_IDS.search(names[0])) or (
        _is_whole(frame.index) and getattr(first.dtype, "kind", "") != "f" and first.is_unique
    )


def _counts_rows(index: "pd.Index") -> bool:
    """Whether an index is 0, 1, 2, …, in any order, as a sorted or shuffled frame keeps its row numbers."""
    if not len(index):
        return True
    if not _is_whole(index):
        return False
    numbers, places = index.to_numpy(), np.arange(len(index))
    return bool((numbers == places).all() or (np.sort(numbers) == places).all())


def _is_whole(index: "pd.Index") -> bool:
    return index.nlevels == 1 and isinstance(index.dtype, np.dtype) and index.dtype.kind in "iu"


def _without_lists(frame: "pd.DataFrame", header: HeaderRule, wanted: Wanted) -> "pd.DataFrame":
    """The frame with one number or text in each cell. Raises ``Refused``."""
    import pandas as pd

    found = _names_of(frame) or []
    accepted = _accepted_header(header, found) if found else None
    names = accepted.names if accepted else found
    id_place = names.index(wanted.id_column) if wanted.id_column in names else 0
    columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
    is_changed = False
    for place, column in enumerate(columns):
        if _may_hold_objects(column):
            cells = column.tolist()
            texts = joined_cells(cells, str(column.name), None if place == id_place else wanted.lists)
            if texts is not cells:
                columns[place], is_changed = pd.Series(texts, frame.index, object, name=column.name), True
    return pd.concat(columns, axis=1) if is_changed else frame


def _may_hold_objects(column: "pd.Series") -> bool:
    """Whether cells may be something else than numbers, texts and dates."""
    import pandas as pd

    kind: Any = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        kind = kind.categories.dtype
    return is_nested(kind.pyarrow_dtype) if isinstance(kind, pd.ArrowDtype) else kind.kind == "O"


def _array_of_series(series: "pd.Series") -> Any:
    import pandas as pd
    import pyarrow as pa

    try:
        found = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    if series.dtype == object and not (pa.types.is_string(found.type) or pa.types.is_int64(found.type)):
        return None  # objects of one column may be written in several ways
    if isinstance(series.dtype, pd.ArrowDtype) and pa.types.is_floating(found.type):
        return found.cast(pa.float64())  # pandas writes these with the digits of 64 bits
    return found


def _plain_array(array: Any) -> Any:
    """The column as texts, 64-bit integers, or finite floats, in separate memory; ``None`` if it is of another kind
    or has missing numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if array is not None and pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array is None or (array.null_count and pa.types.is_primitive(array.type)):
            return None
        if pa.types.is_boolean(array.type):
            return pc.if_else(array, "True", "False")
        if pa.types.is_integer(array.type):
            return _copy_of(array.cast(pa.int64()), np.int64)
        if array.type in (pa.float32(), pa.float64()):
            kind = np.float32 if array.type == pa.float32() else np.float64
            return _copy_of(array, kind) if np.isfinite(plain(array, kind)).all() else None
        texts = (pa.string(), pa.large_string(), pa.string_view())
        return pc.fill_null(array.cast(pa.string()), "") if array.type in texts else None
    except pa.ArrowException:
        return None


def _copy_of(array: Any, kind: type[np.generic]) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(array.type, len(array), [None, pa.py_buffer(plain(array, kind).copy())])


# --- Arrow ------------------------------------------------------------------------------------------------------


def _arrow_table(source: object) -> Any:
    """The table of Arrow, or of a library that hands out its tables as Arrow's; else None."""
    if not hasattr(source, "__arrow_c_stream__"):
        return None
    import pyarrow as pa

    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _of_arrow(table: Any, wanted: Wanted) -> Frame:
    import pyarrow as pa

    table = with_named_range(table, wanted)
    order, names = data_columns(table.schema), table.column_names
    places = sorted((place for place, name in enumerate(names) if name in order), key=lambda at: order.index(names[at]))
    columns, names = [table.column(place).combine_chunks() for place in places], [names[place] for place in places]
    id_column = wanted.id_column or next(iter(names), "")
    for place, column in enumerate(columns):
        if is_nested(column.type):
            lists = None if names[place] == id_column else wanted.lists
            columns[place] = pa.array(joined_cells(column.to_pylist(), names[place], lists), pa.string())
    whole = pa.table(columns, names=names)
    return Frame(
        _names_in(header_bytes(names)),
        lambda: map(_plain_array, columns),
        lambda: arrow_to_csv(whole.to_batches(), names, sys.maxsize, whole),
    )
