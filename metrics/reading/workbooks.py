"""Excel workbooks (.xlsx) and Parquet files as CSV bytes. No formula is computed and no link is followed: a cell has
the value that Excel saved.

The first visible sheet with a filled cell is read. A line of the CSV is a row of the sheet, so messages name Excel's
rows.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from ..core.errors import Problem, Refused, shown
from ..core.messages import Message, joined
from .list_cells import UNKNOWN, Wanted, is_nested, joined_cells
from .workbook_limits import MAX_CELLS, broken, measured_workbook, too_large, too_many_cells

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

MAX_SHEETS = 255
LONGEST_WHOLE = 1e15
"""Excel stores all numbers as 64-bit floats; below this limit those without a fraction are written as whole numbers."""


_SHEET_NOTE = "read_sheet"

ERRORS = frozenset(
    ["#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#GETTING_DATA"]
)
"""The texts of cells whose formula failed."""


def xlsx_to_csv(data: bytes, limit: int, notes: list[Problem], _wanted: object = None) -> bytes:
    """The first visible sheet with a filled cell. ``notes`` get the name of the sheet where there are several, and the
    cells whose formula failed. Raises ``Refused`` for a file that is not a workbook, or is damaged, protected, or
    larger than ``limit`` bytes."""
    import python_calamine as calamine

    measured = measured_workbook(data, limit)
    try:
        with calamine.load_workbook(io.BytesIO(measured)) as workbook:
            return _first_filled_sheet(workbook, limit, notes)
    except calamine.PasswordError:
        raise Refused(broken(Message("The Excel file is protected by a password. Save it without one."))) from None
    except BaseException as error:
        # calamine panics at invalid dates; the class of the panic is not an `Exception` and cannot be imported.
        kinds = (calamine.CalamineError, OSError, ValueError, OverflowError)
        if isinstance(error, kinds) or type(error).__name__ == "PanicException":
            raise Refused(broken(Message("The Excel file cannot be read. Save it as CSV (UTF-8, comma)."))) from None
        raise


def _first_filled_sheet(workbook: "CalamineWorkbook", limit: int, notes: list[Problem]) -> bytes:
    from python_calamine import SheetVisibleEnum

    sheets, cells = workbook.sheets_metadata, 0
    count = len(sheets)
    if count > MAX_SHEETS:
        message = Message("The Excel file has {count} sheets, more than {most}.", count=count, most=MAX_SHEETS)
        raise Refused(broken(message))
    visible = [place for place, sheet in enumerate(sheets) if sheet.visible == SheetVisibleEnum.Visible]
    for place in visible:
        sheet = workbook.get_sheet_by_index(place)
        cells += (sheet.total_height + 1) * (sheet.total_width + 1)
        if cells > MAX_CELLS:
            raise too_many_cells()
        rows = sheet.to_python(skip_empty_area=False)
        if any(cell not in ("", None) for row in rows for cell in row):
            if count > 1:
                name = shown(sheets[place].name)
                notes.append(Problem(_SHEET_NOTE, Message("The sheet {name} of the Excel file was read.", name=name)))
            notes += _error_cells(rows)
            return _csv_of_rows(rows, limit)
    if len(visible) < count:
        message = Message("The visible sheets of the Excel file have no filled cell, and hidden ones aren't read.")
        raise Refused(Problem("empty", message))
    raise Refused(Problem("empty", Message("The Excel file has no filled cell.")))


def with_sheet_note(problems: Sequence[Problem], notes: Iterable[Problem]) -> list[Problem]:
    """The problems, and behind the first one the note on the sheet that was read and how to have another read."""
    cure = Message("If your table is on another sheet, move that sheet to the front.")
    found = [replace(note, message=joined([note.message, cure])) for note in notes if note.code == _SHEET_NOTE]
    return [*problems[:1], *found, *problems[1:]]


def _error_cells(rows: Sequence[Sequence[Any]]) -> list[Problem]:
    """A note about cells whose formula failed; they are read as their texts, such as ``#N/A``."""
    cells = [
        (row, cell) for row, line in enumerate(rows, 1) for cell in line if isinstance(cell, str) and cell in ERRORS
    ]
    if not cells:
        return []
    row, text = cells[0]
    message = Message.counted(
        len(cells),
        "{count} cell of the Excel file has an error instead of a value: {text} in row {row}.",
        "{count} cells of the Excel file have an error instead of a value, such as {text} in row {row}.",
        text=shown(text),
        row=row,
    )
    return [Problem("error_cells", message, line=row, count=len(cells))]


def _csv_of_rows(rows: Sequence[Sequence[Any]], limit: int) -> bytes:
    """The rows without empty columns at the right; an empty row becomes an empty line."""
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell not in ("", None)), default=0)
    with_times = _columns_with_times(rows)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        cells = [cell_text(cell) for cell in row[:width]]
        for place in with_times:
            if type(row[place]) is date:
                cells[place] += " 00:00:00"
        if any(cells):
            writer.writerow(cells)
        else:
            out.write("\n")
        if out.tell() > limit:
            raise too_large(limit)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _columns_with_times(rows: Sequence[Sequence[Any]]) -> list[int]:
    """The places of columns in which a cell below the header has a date with a time: at midnight a cell has none."""
    header = next((place for place, row in enumerate(rows) if _may_be_header(row)), -1)
    kinds = [set(map(type, column)) for column in zip(*rows[header + 1 :], strict=True)]
    return [place for place, found in enumerate(kinds) if datetime in found and date in found]


def _may_be_header(row: Sequence[Any]) -> bool:
    filled = [cell for cell in row if cell not in ("", None)]
    return len(filled) > 1 and all(isinstance(cell, str) for cell in filled)


def cell_text(cell: object) -> str:
    """The text of a cell, as CSV files write it.

    >>> cell_text(3.0), cell_text(0.1), cell_text(True), cell_text(None)
    ('3', '0.1', 'True', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < LONGEST_WHOLE else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell.total_seconds())
    return str(cell)


def parquet_to_csv(data: bytes, limit: int, _notes: list[Problem], wanted: Wanted) -> bytes:
    """All columns of a Parquet file; lists are joined as ``wanted``. Raises ``Refused`` for a damaged file, for other
    nested values, and for more than ``limit`` bytes."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(pa.BufferReader(data))
        if sum(file.metadata.row_group(place).total_byte_size for place in range(file.metadata.num_row_groups)) > limit:
            raise too_large(limit)
        schema = file.schema_arrow
        names, levels = data_columns(schema), named_range(schema, file.metadata.num_rows, wanted)
        times = [field.name for field in schema if pa.types.is_timestamp(field.type)]
        batches = file.iter_batches(columns=names)
        if levels is not None:
            batches, names = _with_range(batches, *levels), [levels[0], *names]
        return arrow_to_csv(batches, names, limit, file.read(columns=times), wanted)
    except (pa.ArrowException, OSError, ValueError):
        raise Refused(
            broken(Message("The Parquet file is damaged or of a kind that is not read. Save it as CSV."))
        ) from None


def arrow_to_csv(batches: Iterable[Any], names: list[str], limit: int, times: Any, wanted: Wanted = UNKNOWN) -> bytes:
    """These columns of Arrow's batches of rows; ``times`` is a table with all columns of times, each of which is
    written in one form, and lists are joined as ``wanted``. Raises ``Refused`` for other nested values, and for more
    than ``limit`` bytes."""
    import pyarrow as pa
    import pyarrow.csv

    out = io.BytesIO()
    kinds = {field.name: _kind_of_times(times.column(field.name)) for field in times.schema if field.name in names}
    for batch in batches:
        if any(is_nested(column.type) and column.nbytes > limit for column in batch.columns):
            raise too_large(limit)
        columns = [_writable_column(batch.column(name), name, kinds.get(name), wanted) for name in names]
        options = pyarrow.csv.WriteOptions(include_header=not out.tell(), quoting_style="needed")
        pyarrow.csv.write_csv(pa.table(columns, names=names), out, options)
        if out.tell() > limit:
            raise too_large(limit)
    return out.getvalue() or header_bytes(names)


def header_bytes(names: Sequence[str]) -> bytes:
    """The first line of a CSV file."""
    header = io.StringIO(newline="")
    csv.writer(header, lineterminator="\n").writerow(names)
    return header.getvalue().encode("utf-8", "surrogatepass")  # the reader reports the line of an invalid character


def data_columns(schema: Any) -> list[str]:
    """The names of the columns, those of an index first, without those into which pandas wrote row numbers or an index
    without a name."""
    names = [name for name in schema.names if not re.fullmatch(r"__index_level_[0-9]+__", name)]
    index = [level for level in _levels(schema) if isinstance(level, str)]
    return [*(name for name in names if name in index), *(name for name in names if name not in index)]


def _levels(schema: Any) -> list[Any]:
    """The levels of the index that pandas has noted: the name of a column, or a description of row numbers."""
    try:
        noted = schema.pandas_metadata
    except ValueError:
        return []
    levels = noted.get("index_columns") if isinstance(noted, dict) else None
    return levels if isinstance(levels, list) else []


def named_range(schema: Any, rows: int, wanted: Wanted) -> tuple[str, range] | None:
    """Row numbers of pandas that have a name, if a submission is ``wanted`` to have such a column; they are described
    beside the columns."""
    for level in _levels(schema):
        if not isinstance(level, dict) or not isinstance(name := level.get("name"), str) or name in schema.names:
            continue
        ends = [end for key in ("start", "stop", "step") if isinstance(end := level.get(key), int)]
        is_range = len(ends) == 3 and ends[2] and len(range(*ends)) == rows
        if is_range and (not wanted.columns or name in wanted.columns):
            return name, range(*ends)
    return None


def with_named_range(table: Any, wanted: Wanted) -> Any:
    """A table of Arrow with the row numbers of pandas as first column, if these have a name."""
    import pyarrow as pa

    found = named_range(table.schema, table.num_rows, wanted)
    return table if found is None else table.add_column(0, found[0], pa.array(found[1], pa.int64()))


def _with_range(batches: Iterable[Any], name: str, numbers: range) -> Iterator[Any]:
    import pyarrow as pa

    start = 0
    for batch in batches:
        column = pa.array(numbers[start : start + batch.num_rows], pa.int64())
        yield pa.RecordBatch.from_arrays([column, *batch.columns], names=[name, *batch.schema.names])
        start += batch.num_rows


def _kind_of_times(column: Any) -> Any:
    """The coarsest type that holds all times of a column: days, seconds, or the smallest fraction; ``None`` for others
    than times."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not pa.types.is_timestamp(kind):
        return None
    numbers = column.drop_null().cast(pa.int64())
    of_second = _IN_A_SECOND[kind.unit]
    kinds = [(86_400 * of_second, pa.date32())] if kind.tz is None else []
    kinds += [(of_second // other, pa.timestamp(unit, kind.tz)) for unit, other in _IN_A_SECOND.items()]
    for size, coarse in kinds:
        if size <= 1 or not pc.any(pc.not_equal(pc.multiply(pc.divide(numbers, size), size), numbers)).as_py():
            return coarse
    return kind


_IN_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _writable_column(column: Any, name: str, kind_of_times: Any, wanted: Wanted) -> Any:
    """A column for Arrow's CSV writer, which writes numbers with the fewest digits that restore them. Booleans and
    zones of times are written as in Python. Raises ``Refused`` for nested values other than lists that are joined."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_boolean(kind):
        return pc.if_else(column, "True", "False")
    if is_nested(kind):
        lists = None if name == wanted.id_column else wanted.lists
        return pa.array(joined_cells(column.to_pylist(), name, lists), pa.string())
    if kind_of_times is None:
        return column if pa.types.is_integer(kind) or pa.types.is_floating(kind) else column.cast(pa.string())
    texts = column.cast(kind_of_times).cast(pa.string())
    if kind.tz is None:
        return texts
    texts = pc.replace_substring_regex(texts, "Z$", "+00:00")
    return pc.replace_substring_regex(texts, "([+-][0-9]{2})([0-9]{2})$", r"\1:\2")
