"""Converting a table as saved by a spreadsheet to the CSV that the readers accept.

A wrong guess would be a wrong score, so the readers never guess. A conversion is only offered here, each change with a
description, and a person confirms it before it counts.
"""

import csv
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..core.errors import shown
from ..core.messages import Message, listed, templates_of
from .column_names import (
    MAX_CHARACTERS,
    MAX_LINES,
    NUMBER,
    SEPARATOR_LINE,
    SEPARATORS,
    TRIMMED,
    cells_of,
    first_lines,
    header_place,
    matched_names,
)
from .encodings import encoding_title, guess_encoding
from .header_problems import is_index, letters_of
from .headers import ExpectedHeader
from .id_problems import written_as_expected
from .split_words import USAGE, are_split_words, known_part
from .tables import csv_bytes

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_NAMES = {**SEPARATORS, ",": Message("commas"), " ": Message("spaces")}
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+([eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+([eE][+-]?[0-9]+)?")
_BETWEEN_CELLS = re.compile(r"[\s,;|\"]+")
_MOST_GUESSED = 1000
"""The most lines by which an encoding is guessed."""
_ROW_IN_QUOTES = re.compile(r'"((?:[^"]|"")*)"')
_OF_COMMAS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+")
"""Numbers that may be whole, with commas between thousands."""


Cures = Callable[[str, Sequence[str]], Mapping[str, str]]
"""A function from a column and its distinct cells to those that are written otherwise, and how they are meant."""


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

    def replace(self, place: int, meant: Mapping[str, str]) -> None:
        """Write cells of a column in another way."""
        for row in self.rows:
            row[place] = meant.get(row[place].strip(TRIMMED), row[place])

    def drop(self, place: int) -> None:
        del self.names[place]
        for row in self.rows:
            del row[place]


def convert_spreadsheet(
    data: bytes,
    *,
    is_truth: bool = True,
    expected: ExpectedHeader | None = None,
    ids: Sequence[str] = (),
    cures: Cures | None = None,
    text_columns: Collection[str] = (),
    words: Collection[str] = (),
) -> ConvertedSpreadsheet | None:
    """A spreadsheet's file as a plain CSV; ``None`` if nothing has to be changed, or if the conversion is unclear.

    Only in a truth a column may be renamed as the split. With the ``expected`` columns of a submission those that can
    only be meant by others get their names, and further columns are left out; ids in another writing than the expected
    ``ids`` are written like these, and cells for which ``cures`` has another writing get it. In ``text_columns`` a
    comma is never decimal. An encoding is guessed by the ids, the columns and the sample's ``words``, where they tell.

    >>> found = convert_spreadsheet("id;y\\n1;0,5\\n".encode())
    >>> found.text
    b'id,y\\n1,0.5\\n'
    >>> [str(change) for change in found.changes]
    ['Columns are separated by semicolons.', 'Decimal commas become points in "y", such as 0,5 → 0.5.']
    """
    changes: list[Message] = []
    known = (*words, *ids[:_MOST_GUESSED], *(() if expected is None else expected.columns))
    text = _decode_text(data, changes, known)
    sheet = _read_sheet(text, changes, expected, ids, text_columns) if text is not None else None
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
    if expected is not None:
        _name_the_ids(sheet, expected.columns[0], ids)
        _fit_columns(sheet, expected)
        _write_ids(sheet, expected.columns[0], ids)
    if cures is not None:
        _write_values(sheet, cures)
    return ConvertedSpreadsheet(csv_bytes(sheet.names, sheet.rows), tuple(changes)) if changes else None


def _decode_text(data: bytes, changes: list[Message], known: Collection[str]) -> str | None:
    """The text; a change is noted if it is not UTF-8: Excel saves a plain "CSV" in Windows-1252 in Western Europe, and
    in other encodings elsewhere."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        changes.append(Message('The text is read as UTF-16, which Excel calls "Unicode text".'))
        return data.decode("utf-16", "replace")
    if data.rstrip().endswith(b"\x1a"):
        data = data.rstrip().rstrip(b"\x1a")
        changes.append(Message("The old end-of-file mark (Ctrl-Z) at the end is left out."))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        lines = islice((line for line in data.splitlines() if not line.isascii()), _MOST_GUESSED)
    sought = {word for word in known if not word.isascii()}
    sample, encoding = guess_encoding(
        b"\n".join(lines), lambda text: _MOST_GUESSED * sum(word in text for word in sought)
    )
    words = [word for word in _BETWEEN_CELLS.split(sample) if not word.isascii()]
    if encoding == "utf-8" or (encoding != "cp1252" and max(map(len, words)) < 2):  # a few damaged bytes, or one letter
        return None
    changes.append(
        Message(
            "The text is read as {encoding}, such as {word}.", encoding=encoding_title(encoding), word=shown(words[0])
        )
    )
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _read_sheet(
    text: str,
    changes: list[Message],
    expected: ExpectedHeader | None,
    ids: Sequence[str],
    text_columns: Collection[str],
) -> _Sheet | None:
    """The cells; ``None`` if the text is not a table, or its rows differ in length."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = _without_quotes_around_rows(lines, changes)
    place, declared = _header_line(lines, changes, expected)
    below = "\n".join(lines[place + 1 :])
    for of_header, of_rows in _possible_separators(lines[place], declared, expected):
        names = cells_of(lines[place], of_header)
        unnamed = None if expected is None else _rows_without_names(below, of_rows, names, expected.columns[0], ids)
        if (rows := unnamed or _rows_in(below, of_rows, len(names))) is not None:
            break
    else:
        return None
    if of_rows != "," or declared:
        changes.append(Message("Columns are separated by {separators}.", separators=_NAMES.get(of_rows, _NAMES[","])))
    if unnamed:
        changes.append(Message("The row names, for which the header has no column, are left out."))
    filled = [row for row in rows if any(cell.strip(TRIMMED) for cell in row)]
    if len(filled) < len(rows):
        changes.append(Message("Empty rows are left out."))
    if any(len(row) > len(names) and not any(row[len(names) :]) for row in filled):
        filled = [_without_empty_end(row, len(names)) for row in filled]
        changes.append(Message("Empty cells at the ends of rows are left out."))
    sheet = _Sheet(names, filled, changes)
    _add_header(sheet, expected)
    _join_decimals(sheet, ids)
    if any(len(row) != len(sheet.names) for row in sheet.rows):
        return None
    _write_points(sheet, set(map(letters_of, text_columns)), is_sure=of_rows != ",")
    return sheet


def _without_quotes_around_rows(lines: list[str], changes: list[Message]) -> list[str]:
    """The lines, of which most may be a whole row in quotes."""
    whole = [found[1] if (found := _ROW_IN_QUOTES.fullmatch(line)) else "" for line in lines]
    bare = [
        one.replace('""', '"') if any(mark in one for mark in (",", *SEPARATORS)) else line
        for one, line in zip(whole, lines, strict=True)
    ]
    if 2 * sum(one != line for one, line in zip(bare, lines, strict=True)) <= sum(map(bool, lines)):
        return lines
    changes.append(Message("Quotes around whole rows are left out."))
    return bare


def _header_line(
    lines: Sequence[str], changes: list[Message], expected: ExpectedHeader | None
) -> tuple[int, str | None]:
    """The place of the line with the header, below remarks and titles, and the separator that the file declares."""
    start = _first_filled(lines, 0)
    declared = SEPARATOR_LINE.fullmatch(lines[start])
    start = top = _first_filled(lines, start + 1) if declared else start
    while lines[start].startswith("#") and start + 1 < len(lines):
        start = _first_filled(lines, start + 1)
    if start > top:
        changes.append(Message("Remarks above the header are left out."))
    first = first_lines("\n".join(lines[start : start + MAX_LINES]) + "\n")
    place = header_place(first, () if expected is None else expected.located_by)
    if place:
        line = start + first[place][0]
        changes.append(Message("What is above the header, in row {line}, is left out.", line=line))
    return start + (first[place][0] - 1 if first else 0), declared[1] if declared else None


def _first_filled(lines: Sequence[str], start: int) -> int:
    """The place of the first line that is not blank; that of the last line if all are."""
    return next((place for place in range(start, len(lines)) if lines[place].strip()), len(lines) - 1)


def _possible_separators(header: str, declared: str | None, expected: ExpectedHeader | None) -> list[tuple[str, str]]:
    """The separators of header and rows that are possible, most plausible first."""
    if declared:
        return [(declared, declared)]
    bare = re.sub(r'"[^"]*"', "", header) or header
    marks = [(mark, mark) for mark in SEPARATORS if mark in bare]
    commas = [(",", ",")] if "," in bare else []
    if expected is not None and not (marks or commas):
        return [(" ", " ")] if expected.columns[0] in matched_names(cells_of(header, " "), expected.columns) else []
    is_of_commas = not any(mark in bare.partition(",")[0] for mark in SEPARATORS)
    # Some programs write a header with commas above rows with semicolons.
    return [*(commas + marks if is_of_commas else marks + commas), *((",", mark) for mark in SEPARATORS if commas)]


def _rows_in(text: str, separator: str, width: int) -> list[list[str]] | None:
    """The rows of a table of this width, apart from empty cells at their ends; ``None`` if some have another."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    rows = list(filter(None, lines))
    are_decimals = width == 2 and separator == ","
    widths = {len(_without_empty_end(row, width)) for row in rows}
    return rows if width > 1 and rows and widths <= ({2, 3} if are_decimals else {width}) else None


def _rows_without_names(
    text: str, separator: str, names: Sequence[str], column: str, ids: Sequence[str]
) -> list[list[str]] | None:
    """The rows without the names that R writes before them, for which the header has no column; ``None`` if they have
    none, or if their first numbers may be the ids."""
    first = cells_of(text[:MAX_CHARACTERS].lstrip().partition("\n")[0], separator)
    found = matched_names(names, [column])
    if column not in found or len(first) != len(names) + 1 or not first[0].isdecimal():
        return None
    rows = _rows_in(text, separator, len(first))
    if rows is None or len({row[0] for row in rows}) < len(rows) or not all(row[0].isdecimal() for row in rows):
        return None
    if separator == "," and _are_ids([row[0] for row in rows], ids):
        return None
    bare = [row[1:] for row in rows]
    return bare if _are_ids([row[found.index(column)] for row in bare], ids) else None


def _are_ids(cells: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether the cells are the expected ids, in any writing."""
    found = [cell.strip(TRIMMED) for cell in cells]
    meant = written_as_expected(found, expected) or {}
    return bool(expected) and {meant.get(cell, cell) for cell in found} == set(expected)


def _without_empty_end(row: list[str], width: int) -> list[str]:
    """The row without further empty cells at its end."""
    return row if any(row[width:]) else row[:width]


def _add_header(sheet: _Sheet, expected: ExpectedHeader | None) -> None:
    """Name two columns whose first line is a row."""
    if expected is None or len(sheet.names) != 2 or len(expected.columns) != 2:
        return
    if any(map(NUMBER.fullmatch, sheet.names)) and not set(sheet.names) & set(expected.columns):
        sheet.rows.insert(0, sheet.names)
        sheet.names = list(expected.columns)
        sheet.changes.append(Message("The names of the columns are added: {names}.", names=",".join(sheet.names)))


def _join_decimals(sheet: _Sheet, ids: Sequence[str]) -> None:
    """Join numbers that were cut at their decimal commas, in a table with ids and one column of numbers; none if the
    whole parts are the ids below row names."""
    cut = [row for row in sheet.rows if len(row) == 3]
    if not cut or len(sheet.names) != 2 or _are_ids([row[1] for row in sheet.rows], ids):
        return
    whole = [row for row in sheet.rows if len(row) == 2 and row[1].strip()]
    if all(_WHOLE.fullmatch(row[1].strip()) and _DIGITS.fullmatch(row[2].strip()) for row in cut) and all(
        _WHOLE.fullmatch(row[1].strip()) for row in whole
    ):
        first = tuple(cell.strip() for cell in cut[0][1:])
        sheet.rows = [[row[0], ".".join(cell.strip() for cell in row[1:])] for row in sheet.rows]
        _say_points(sheet, [sheet.names[1]], ",".join(first), ".".join(first))


def _name_the_ids(sheet: _Sheet, column: str, expected: Sequence[str]) -> None:
    """Name the only column that has exactly the expected ids, whatever the others are called."""
    if column in matched_names(sheet.names, [column]):
        return
    places = [place for place in range(len(sheet.names)) if set(sheet.cells(place)) == set(expected)]
    if len(places) == 1:
        _say_renamed(sheet, sheet.names[places[0]], column)
        sheet.names[places[0]] = column


def _say_renamed(sheet: _Sheet, old: str, new: str) -> None:
    sheet.changes.append(Message("The column {old} becomes {new}.", old=shown(old), new=shown(new)))


def _fit_columns(sheet: _Sheet, expected: ExpectedHeader) -> None:
    """Give columns the expected names where no other can be meant, and leave out the rest if none is missing then."""
    names = matched_names(sheet.names, expected.columns)
    columns = list(expected.columns)
    if columns[-1] not in names and (alias := next((name for name in expected.aliases if name in names), "")):
        columns[-1] = alias
    names = matched_names(names, columns, (letters_of, lambda _name: ""))
    if not set(columns) <= set(names) or any(names.count(name) > 1 for name in columns):
        return
    for old, new in zip(sheet.names, names, strict=True):
        if old != new:
            _say_renamed(sheet, old, new)
        elif new not in columns:
            sheet.changes.append(Message("The column {name} is left out.", name=shown(new)))
    places = [place for place, name in enumerate(names) if name in columns]
    sheet.names = [names[place] for place in places]
    sheet.rows = [[row[place] for place in places] for row in sheet.rows]


def _write_ids(sheet: _Sheet, column: str, expected: Sequence[str]) -> None:
    """Write ids as they are expected, if each can mean one of them only."""
    if column not in sheet.names:
        return
    place = sheet.names.index(column)
    if meant := written_as_expected(sheet.cells(place), expected):
        sheet.replace(place, meant)
        before, after = next(iter(meant.items()))
        sheet.changes.append(
            Message(
                "Ids are written as in the sample submission, such as {before} → {after}.",
                before=shown(before),
                after=shown(after),
            )
        )


def _write_values(sheet: _Sheet, cures: Cures) -> None:
    """Write cells as the sample submission has them."""
    for place, name in enumerate(sheet.names):
        if meant := cures(name, sorted(set(sheet.cells(place)))):
            sheet.replace(place, meant)
            before, after = next(iter(meant.items()))
            sheet.changes.append(
                Message(
                    "Values of {column} are written as in the sample submission, such as {before} → {after}.",
                    column=shown(name),
                    before=shown(before),
                    after=shown(after),
                )
            )


def _write_points(sheet: _Sheet, of_texts: Collection[str], *, is_sure: bool) -> None:
    """Replace decimal commas in columns that hold only numbers. Points are removed as thousands separators only if one
    number of the column has both: otherwise ``1.234`` may be meant as it is. Unless it ``is_sure`` that commas are
    decimal, ``1,234`` may be more than a thousand; then another number must tell."""
    columns, example = [], ("", "")
    for place, name in enumerate(sheet.names):
        filled = [cell for cell in sheet.cells(place) if cell]
        with_both = [cell for cell in filled if "," in cell and _THOUSANDS.fullmatch(cell)]
        with_comma = with_both or [cell for cell in filled if _DECIMAL_COMMA.fullmatch(cell)]
        forms = (_DECIMAL_COMMA, _WHOLE, *([_THOUSANDS] if with_both else []))
        if letters_of(name) in of_texts or not with_comma:
            continue
        if not all(any(form.fullmatch(cell) for form in forms) for cell in filled):
            continue
        if not (is_sure or with_both or any(not _OF_COMMAS.fullmatch(cell) for cell in with_comma)):
            continue
        columns.append(name)
        mark = "." if with_both else ""
        example = (with_comma[0], with_comma[0].replace(mark, "").replace(",", "."))
        for row in sheet.rows:
            row[place] = row[place].replace(mark, "").replace(",", ".")
    if columns:
        _say_points(sheet, columns, *example)


def _say_points(sheet: _Sheet, columns: Sequence[str], before: str, after: str) -> None:
    sheet.changes.append(
        Message(
            "Decimal commas become points in {columns}, such as {before} → {after}.",
            columns=listed([shown(name) for name in columns], len(columns)),
            before=before,
            after=after,
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
        if are_split_words({cell for cell in sheet.cells(place) if cell}, name):
            sheet.names[place] = USAGE
            for row in sheet.rows:
                row[place] = known_part(row[place], name)
            sheet.changes.append(
                Message("{name} becomes {usage}, which holds the split.", name=shown(name), usage=shown(USAGE))
            )
            return
