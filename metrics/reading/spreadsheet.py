"""Converting a table as saved by a spreadsheet to the CSV that the readers accept.

A wrong guess would be a wrong score, so the readers never guess. A conversion is only offered here, each change with a
description, and a person confirms it before it counts.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Any

from ..core.errors import shown
from ..core.messages import Message, listed, templates_of
from .column_names import TRIMMED
from .headers import SEPARATORS, USAGE, is_index
from .split_words import are_split_words, known_part
from .tables import csv_bytes

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_COMMAS = Message("commas")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+([eE][+-]?[0-9]+)?")
_SAYS_SEPARATOR = re.compile(r"\ufeff?sep=(.)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ConvertedSpreadsheet:
    """The converted CSV ``text``, and the changes that were made."""

    text: bytes
    changes: tuple[Message, ...]

    def as_stored(self) -> list[dict[str, Any]]:
        """The changes in JSON form, each with its template."""
        return [{"message": str(change)} | templates_of(message=change) for change in self.changes]


@dataclass(slots=True)
class _Sheet:
    names: list[str]
    rows: list[list[str]]
    changes: list[Message]

    def cells(self, place: int) -> list[str]:
        return [row[place].strip(TRIMMED) for row in self.rows]

    def drop(self, place: int) -> None:
        del self.names[place]
        for row in self.rows:
            del row[place]


def convert_spreadsheet(data: bytes, *, is_truth: bool = True) -> ConvertedSpreadsheet | None:
    """A spreadsheet's file as a plain CSV; ``None`` if nothing has to be changed, or if the conversion is unclear.

    Only in a truth a column may be renamed as the split.

    >>> found = convert_spreadsheet("id;y\\n1;0,5\\n".encode())
    >>> found.text
    b'id,y\\n1,0.5\\n'
    >>> [str(change) for change in found.changes]
    ['Columns are separated by semicolons.', 'Decimal commas become points in "y", such as 0,5 → 0.5.']
    """
    changes: list[Message] = []
    text = _decode_text(data, changes)
    sheet = _read_sheet(text, changes) if text is not None else None
    if sheet is None:
        return None
    width = len(sheet.names)
    while len(sheet.names) > 2 and not sheet.names[-1] and not any(sheet.cells(-1)):
        sheet.drop(-1)
    if len(sheet.names) < width:
        changes.append(Message("Empty columns at the end are left out."))
    _leave_out_row_numbers(sheet)
    if is_truth:
        _name_the_split(sheet)
    return ConvertedSpreadsheet(csv_bytes(sheet.names, sheet.rows), tuple(changes)) if changes else None


def _decode_text(data: bytes, changes: list[Message]) -> str | None:
    """The text; a change is noted if it is UTF-16 or Windows-1252, in which Excel saves a plain "CSV" in Western
    Europe."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        changes.append(Message('The text is read as UTF-16, which Excel calls "Unicode text".'))
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            return None
        word = re.search(rb"[^\s,;\t|\"]*$", data[: error.start])
        start = error.start if word is None else word.start()
        example = re.match(r"[^\s,;\t|\"]*", text[start:])
        changes.append(
            Message(
                "The text is read as Windows-1252, as Excel saves it in Western Europe, such as {word}.",
                word=shown(example[0] if example else text[start : start + 1]),
            )
        )
        return text


def _read_sheet(text: str, changes: list[Message]) -> _Sheet | None:
    """The cells; ``None`` if the text is not a table, or its rows differ in length."""
    first, _, rest = text.lstrip("\r\n").partition("\n")
    declared = _SAYS_SEPARATOR.fullmatch(first)
    separator = declared[1] if declared else next((one for one in SEPARATORS if one in first and "," not in first), ",")
    if declared or separator != ",":
        changes.append(Message("Columns are separated by {separators}.", separators=SEPARATORS.get(separator, _COMMAS)))
    try:
        lines = list(csv.reader(io.StringIO(rest if declared else text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    rows = [line for line in lines if any(cell.strip(TRIMMED) for cell in line)]
    has_empty_rows = sum(len(line) > 1 for line in lines) > len(rows)
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return None
    if has_empty_rows:
        changes.append(Message("Empty rows are left out."))
    sheet = _Sheet([name.strip(TRIMMED) for name in rows[0]], rows[1:], changes)
    if separator != ",":
        _write_points(sheet)
    return sheet


def _write_points(sheet: _Sheet) -> None:
    """Replace decimal commas in columns that hold only numbers. Points are removed as thousands separators only if one
    number of the column has both: otherwise ``1.234`` may be meant as it is."""
    columns, example = [], ("", "")
    for place, name in enumerate(sheet.names):
        filled = [cell for cell in sheet.cells(place) if cell]
        with_both = [cell for cell in filled if "," in cell and _THOUSANDS.fullmatch(cell)]
        with_comma = with_both or [cell for cell in filled if _DECIMAL_COMMA.fullmatch(cell)]
        forms = (_DECIMAL_COMMA, _WHOLE, *([_THOUSANDS] if with_both else []))
        if not with_comma or not all(any(form.fullmatch(cell) for form in forms) for cell in filled):
            continue
        columns.append(name)
        mark = "." if with_both else ""
        example = (with_comma[0], with_comma[0].replace(mark, "").replace(",", "."))
        for row in sheet.rows:
            row[place] = row[place].replace(mark, "").replace(",", ".")
    if columns:
        sheet.changes.append(
            Message(
                "Decimal commas become points in {columns}, such as {before} → {after}.",
                columns=listed([shown(name) for name in columns], len(columns)),
                before=example[0],
                after=example[1],
            )
        )


def _leave_out_row_numbers(sheet: _Sheet) -> None:
    """Drop a first column without a name that counts the rows from 0 or 1, if at least two others remain."""
    if len(sheet.names) < 3 or not (sheet.names[0] == "" or is_index(sheet.names[0])):
        return
    numbers = sheet.cells(0)
    if any(numbers == [str(start + place) for place in range(len(numbers))] for start in (0, 1)):
        sheet.drop(0)
        sheet.changes.append(Message("The first column, which only counts the rows, is left out."))


def _name_the_split(sheet: _Sheet) -> None:
    """Rename a column such as ``usage`` or ``Teil`` that holds the split to ``Usage``, and translate its words."""
    if USAGE in sheet.names or len(sheet.names) < 3:
        return
    for place, name in enumerate(sheet.names):
        if are_split_words({cell for cell in sheet.cells(place) if cell}):
            sheet.names[place] = USAGE
            for row in sheet.rows:
                row[place] = known_part(row[place])
            sheet.changes.append(
                Message("{name} becomes {usage}, which holds the split.", name=shown(name), usage=shown(USAGE))
            )
            return
