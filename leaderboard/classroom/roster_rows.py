"""The rows and cells in the text of a class list, whatever separates them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from .roster_columns import MAX_HEADER_ROW, number_of_known_titles

MAX_ROSTER_COLUMNS = 2_000
_DELIMITERS = "\t;|,"
_SEPARATOR_LINE = re.compile(r"\s*\"?sep=([,;|\t])\1*\"?\s*$", re.IGNORECASE)


class UnreadableRoster(Exception):
    """A file that is no class list; the message is shown to the host."""


def numbered_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """(row number, cells) for each line that is not empty. Raises `UnreadableRoster`."""
    first_line, _end, rest = text.partition("\n")
    separator_line = _SEPARATOR_LINE.match(first_line)
    delimiter, first = _find_delimiter(text), 1
    if separator_line:
        text, first = rest, 2
        delimiter = separator_line[1] if separator_line[1] in rest else _find_delimiter(rest)
    rows = list(_split_rows(text, delimiter, first))
    if all(len(cells) == 1 for _number, cells in rows) and count_titles(rows[0][1][0] if rows else "") > 1:
        # A program has put each line in quotation marks.
        for number, (line,) in rows:
            yield from ((number, cells) for _one, cells in _split_rows(line, _find_delimiter(rows[0][1][0])))
    else:
        yield from rows


def _split_rows(text: str, delimiter: str, first: int = 1) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        number = reader.line_num + first
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise UnreadableRoster(
                _("Row %(number)s can't be read: %(error)s.") % {"number": number, "error": error}
            ) from error
        if cells is None:
            return
        if len(cells) > MAX_ROSTER_COLUMNS:
            raise UnreadableRoster(
                _("Row {number} has more than {columns} cells.").format(
                    number=number, columns=f"{MAX_ROSTER_COLUMNS:,}"
                )
            )
        if any(cell.strip() for cell in cells):
            yield number, cells


def _find_delimiter(text: str) -> str:
    """The separator by which most titles of a row are known; else one of the first line, a comma last of all."""
    lines = _first_lines(text)
    bare = re.sub(r'"[^"]*"', "", "\n".join(lines[:1]))
    return max(_DELIMITERS, key=lambda delimiter: (_titles_by(lines, delimiter), delimiter in bare))


def _first_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()][:MAX_HEADER_ROW]


def _titles_by(lines: Sequence[str], delimiter: str) -> int:
    """The most known titles of a line."""
    known = (number_of_known_titles(line.split(delimiter, MAX_ROSTER_COLUMNS)) for line in lines)
    return max(known, default=0)


def count_titles(text: str) -> int:
    """The most known titles of one of the first lines, by whatever separator."""
    lines = _first_lines(text)
    return max(_titles_by(lines, delimiter) for delimiter in _DELIMITERS)
