"""Names of columns as people write them, compared without case, runs of white space, invisible characters and, where
only one column can be meant, brackets."""

import csv
import re
import unicodedata
from collections.abc import Callable, Sequence

from ..core.messages import Message

TRIMMED = (
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""White space that is removed around ids, labels and names, as by Python's ``str.strip``."""
_INVISIBLE = TRIMMED + "\xad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
_RUN = re.compile(r"[^\S\t]{2,}|[^\S\t ]")  # a tab may separate columns
_BASE_LETTERS = str.maketrans("łŁøØı", "lLoOi")
_POINT = re.compile(r"(?<=[0-9])\.0+$")
"""The end of the name of a column for a class that pandas took for a number."""
_BRACKETS = re.compile(r"[()\[\]{}<>]")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|<[^<>]*>")


def without_accents(text: str) -> str:
    """The text with the base of each letter: ``Prüfer`` as ``Prufer``."""
    letters = unicodedata.normalize("NFKD", text.translate(_BASE_LETTERS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def clean_name(name: str) -> str:
    """The name without invisible characters around it, and with single spaces.

    >>> clean_name("  house \\xa0 price ")
    'house price'
    """
    return _RUN.sub(" ", name.strip(_INVISIBLE))


def name_key(name: str) -> str:
    """The form in which names of the same column are equal, such as ``House  Price`` and ``house price``."""
    if name.isascii() and name.isalnum():
        return name.lower()
    seen = "".join(letter for letter in unicodedata.normalize("NFC", name) if unicodedata.category(letter) != "Cf")
    return " ".join(seen.split()).casefold()


def _without_brackets(name: str) -> str:
    return name_key(_BRACKETS.sub(" ", name))


def _without_bracketed(name: str) -> str:
    return name_key(_BRACKETED.sub(" ", name)) or name_key(name)


def _without_zeros(name: str) -> str:
    return _POINT.sub("", name_key(name))


_KEYS: tuple[Callable[[str], str], ...] = (name_key, _without_brackets, _without_bracketed, _without_zeros)


def matched_names(
    names: Sequence[str], expected: Sequence[str], keys: Sequence[Callable[[str], str]] = _KEYS
) -> list[str]:
    """The names of a file's columns, in the writing that is expected where only one column can be meant: names are
    compared by each of the ``keys`` in turn.

    >>> matched_names(["ID", "Price [EUR]", "note"], ["id", "price (eur)"])
    ['id', 'price (eur)', 'note']
    """
    found = list(names)
    for key in keys:
        missing = [name for name in expected if name not in found]
        others = [name for name in found if name not in expected]
        if not missing or not others:
            return found
        for name in missing:
            is_like = [other for other in others if key(other) == key(name)]
            if len(is_like) == 1 and sum(key(one) == key(name) for one in missing) == 1:
                found[found.index(is_like[0])] = name
    return found


def equal_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different names of the same column."""
    seen: dict[str, str] = {}
    pairs = [(seen.setdefault(name_key(name), name), name) for name in names if name]
    return [(first, name) for first, name in pairs if first != name]


SEPARATORS = {";": Message("semicolons"), "\t": Message("tabs"), "|": Message("vertical bars")}
"""The separators of other tables, besides the comma, and their names."""
NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?")
SEPARATOR_LINE = re.compile(r"\ufeff?[\"']?sep=(.)[\"']?[,;\t| ]*", re.IGNORECASE)
"""A first line with which spreadsheets name the separator."""
MAX_LINES = 25
MAX_CHARACTERS = 65_536

Line = tuple[int, str]
"""The number of a line, from 1, and its text."""


def first_lines(text: str) -> list[Line]:
    lines = text[:MAX_CHARACTERS].split("\n", MAX_LINES)
    if len(lines) > MAX_LINES or len(text) > MAX_CHARACTERS:
        lines = lines[:-1] or lines  # the last one is cut
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip(" \t\r")]


def cells_of(line: str, separator: str = ",") -> list[str]:
    """The names or values in one line, cleaned; those of a line with broken quotes only roughly."""
    if '"' in line:
        try:
            return [clean_name(cell) for cell in next(csv.reader([line], delimiter=separator, strict=True))]
        except csv.Error:
            line = line.replace('"', "")
    return [clean_name(cell) for cell in line.split(separator)]


def header_place(lines: Sequence[Line], expected: Sequence[str] = ()) -> int:
    """Which of the first lines names the columns, from 0; all before it are titles.

    With ``expected`` names it is the first line with all of them, whatever the separator; without, the first line
    that looks like a header of the rows below it. In doubt it is the very first.
    """
    if not lines or lines[0][1].lstrip().startswith("#"):  # a remark, which is refused by its name
        return 0
    declared = SEPARATOR_LINE.fullmatch(lines[0][1].rstrip("\r")) if len(lines) > 1 else None
    above = 1 if declared else 0
    separators = (declared[1],) if declared else (",", *SEPARATORS)
    find = _place_of_expected if expected else _place_of_likely
    places = (find(lines[above:], separator, expected) for separator in separators)
    place = next((place for place in places if place is not None), 0)
    # A comma in the first row must not make it the header of a file that is a table by another separator.
    is_whole = bool(place) and not expected and 0 in places
    return above if is_whole else above + place


def _place_of_expected(lines: Sequence[Line], separator: str, expected: Sequence[str]) -> int | None:
    wanted = set(expected)
    rows: list[list[str]] = []
    for place, (_number, line) in enumerate(lines):
        rows.append(cells_of(line, separator))
        found = wanted.intersection(matched_names(rows[place], expected))
        if found == wanted or (found and not place):
            return place if _are_titles(lines, rows) else None
    return None


def _place_of_likely(lines: Sequence[Line], separator: str, _expected: Sequence[str]) -> int | None:
    """The first line whose names are no numbers, with a row of its width below it; None if that is the first line or
    none. Where nothing else tells a title from a header of one column, a column of numbers below the names does."""
    rows = [cells_of(line, separator) for _number, line in lines]
    is_table = len(rows) > 1 and len(_filled_cells(rows[0])) > 1 and len(rows[0]) == len(rows[1])
    if is_table and not _has_gap(lines, 0, 1) and not _is_sentence(lines[0][1]):
        return 0
    for place in range(1, len(rows) - 1):
        row, below = rows[place], [one for one in rows[place + 1 :] if len(one) == len(rows[place])]
        is_header = len(_filled_cells(row)) > 1 and len(rows[place + 1]) == len(row) and not any(map(_is_value, row))
        if not (is_header and _are_titles(lines, rows[: place + 1])):
            continue
        has_numbers = any(all(NUMBER.fullmatch(cells[at]) for cells in below) for at in range(len(row)))
        is_sentence = all(len(_filled_cells(one)) < 2 for one in rows[:place]) and " " in lines[0][1].strip()
        if has_numbers or is_sentence or "Usage" in row:
            return place
    return None


def _are_titles(lines: Sequence[Line], rows: Sequence[Sequence[str]]) -> bool:
    """Whether all rows but the last are no rows of its table: narrower, a sentence, or apart by a blank line."""
    last = len(rows) - 1
    return all(
        len(_filled_cells(row)) < len(rows[last]) or _is_sentence(lines[at][1]) or _has_gap(lines, at, last)
        for at, row in enumerate(rows[:last])
    )


def _is_sentence(line: str) -> bool:
    """Whether a line reads like “Pond survey, spring 2026”, whose comma separates no columns."""
    return ", " in line and " " in line.partition(",")[0].strip()


def _is_value(cell: str) -> bool:
    """Whether a cell is a number, or says that there is none, as no name of a column does."""
    return NUMBER.fullmatch(cell) is not None or cell.casefold() in ("na", "nan", "n/a", "null", "none", "-", "?")


def _filled_cells(row: Sequence[str]) -> list[str]:
    return [cell for cell in row if cell]


def _has_gap(lines: Sequence[Line], first: int, last: int) -> bool:
    """Whether a blank line is between two of the lines."""
    return lines[last][0] - lines[first][0] > last - first
