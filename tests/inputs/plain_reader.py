"""A second reading of submissions, with the `csv` module and nothing of ours: slow, short, and from the rules alone.

UTF-8, perhaps with a byte-order mark; commas; any line end; blank lines do not count. The first line names the columns,
in any order, whatever their case, white space, brackets and invisible marks; above it may be titles, narrower than the
table or apart from it. A cell is bare, or quoted as a whole with inner quotes doubled; it is trimmed. Each id is there
once; `7.0` is `7` where all ids are plain integers below 10¹⁵. Numbers are `[+-]?digits[.digits][e±digits]` and finite;
digits may lack on one side of the point. None is beyond 1e100. A label `7.0` is `7`. A `.gz` of one member or a `.zip`
with one file is unpacked.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Sequence
from decimal import Decimal

NUMBER = re.compile(r"[+-]?([0-9]+\.?|[0-9]*\.[0-9]+)([eE][+-]?[0-9]+)?")
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,14}")
WITH_POINT = re.compile(r"(0|-?[1-9][0-9]{0,14})\.0+")
WHOLE_WITH_POINT = re.compile(r"(0|-?[1-9][0-9]*)\.0*")
LARGEST = 1e100
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u202e"
TITLES = 25
LONGEST_LINE = 65_536

Cells = dict[str, str]
Reader = Callable[[str], object]


class Unreadable(Exception):
    """The rules refuse the file."""


def rows_of(data: bytes, header: Sequence[str], ids: Sequence[str]) -> dict[str, Cells]:
    """Id → column → trimmed cell, for exactly the ids asked for. Raises `Unreadable`."""
    records = _records(_without_titles(_text_of(data), header))
    written = [_bare(name) for name in records[0]]
    if sorted(written) != sorted(map(_bare, header)):
        raise Unreadable("header")
    names = [next(name for name in header if _bare(name) == one) for one in written]
    are_integers = all(INTEGER.fullmatch(one) for one in ids)
    found: dict[str, Cells] = {}
    for record in records[1:]:
        if len(record) != len(names):
            raise Unreadable("width")
        cells = {name: cell.strip() for name, cell in zip(names, record, strict=True)}
        name = cells.pop(header[0])
        if name not in ids and are_integers and (whole := WITH_POINT.fullmatch(name)):
            name = whole[1]
        if name in found or name not in ids:
            raise Unreadable("ids")
        found[name] = cells
    if len(found) != len(ids):
        raise Unreadable("missing ids")
    return found


def _text_of(data: bytes) -> str:
    try:
        raw = _unpacked(data)
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except (UnicodeDecodeError, zlib.error, gzip.BadGzipFile, EOFError, OSError) as error:
        raise Unreadable("bytes") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if CONTROL.search(text) or any(len(line.encode()) > LONGEST_LINE for line in text.split("\n")):
        raise Unreadable("characters")
    return text


def _unpacked(data: bytes) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data)
    if not data.startswith(b"PK"):
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            (member,) = archive.infolist()
            if member.header_offset:
                raise Unreadable("something before the archive")
            return archive.read(member)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError) as error:
        raise Unreadable("archive") from error


def _records(text: str) -> list[list[str]]:
    """The cells of all records that are not blank; the first is the header, on one line."""
    text = "\n".join(_without_blank_start(text))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[list[str]] = []
    place = 0
    try:
        for record in reader:
            end = _end_of(text, place, record)
            if text[place:end].strip(" \t"):
                found.append(record)
            if len(found) == 1 and "\n" in text[place:end]:
                raise Unreadable("a header over several lines")
            place = end + 1
    except csv.Error as error:
        raise Unreadable("quotes") from error
    if not found:
        raise Unreadable("no rows")
    return found


def _without_blank_start(text: str) -> list[str]:
    lines = text.split("\n")
    while lines and not lines[0].strip(" \t"):
        del lines[0]
    return lines


def _end_of(text: str, place: int, record: Sequence[str]) -> int:
    """Where the record that was read at `place` ends. The module lets quotes stand inside of bare cells; the rules do
    not, so every cell is found again in the text, as it is or quoted as a whole."""
    for number, cell in enumerate(record):
        place += number > 0
        for written in ('"' + cell.replace('"', '""') + '"', cell):
            after = text[place + len(written) : place + len(written) + 1]
            is_end = after == "," if number < len(record) - 1 else after in ("", "\n")
            if text.startswith(written, place) and is_end and (written != cell or '"' not in cell):
                place += len(written)
                break
        else:
            raise Unreadable("a quote in a bare cell")
    return place


def _without_titles(text: str, header: Sequence[str]) -> str:
    """The text from its header on, if that is among the first lines and no row of its table is above it."""
    lines = text.split("\n")[:TITLES]
    rows = [(place, _cells(line)) for place, line in enumerate(lines) if line.strip(" \t")]
    wanted = set(map(_bare, header))
    at = next((number for number, (_, row) in enumerate(rows) if wanted <= set(row)), 0)
    if not at or wanted & set(rows[0][1]) or lines[rows[0][0]].lstrip().startswith("#"):
        return text
    place, named = rows[at]
    for number, (above, row) in enumerate(rows[:at]):
        if len(list(filter(None, row))) >= len(named) and place - above == at - number:
            return text
    return "\n" * place + "\n".join(text.split("\n")[place:])


def _cells(line: str) -> list[str]:
    try:
        return list(map(_bare, next(csv.reader([line], strict=True))))
    except csv.Error:
        return list(map(_bare, line.replace('"', "").split(",")))


def _bare(name: str) -> str:
    seen = "".join(" " if letter in "()[]{}<>" else letter for letter in name if letter not in INVISIBLE)
    return " ".join(seen.split()).casefold()


# --- cells ----------------------------------------------------------------------------------------------------


def number(cell: str) -> float:
    if not NUMBER.fullmatch(cell) or not abs(float(cell)) <= LARGEST:
        raise Unreadable("number")
    return float(cell)


def probability(cell: str) -> float:
    value = number(cell)
    if not 0 <= value <= 1:
        raise Unreadable("probability")
    return value


def label(cell: str) -> str:
    seen = same_text(cell)
    if not seen or "\n" in cell:
        raise Unreadable("label")
    whole = WHOLE_WITH_POINT.fullmatch(seen)
    return whole[1] if whole else seen


def composed(cell: str) -> str:
    return unicodedata.normalize("NFC", cell)


def same_text(cell: str) -> str:
    """A label as it is compared: letters composed with their accents, single spaces, no invisible marks."""
    seen = re.sub("[\u200b\u2060\ufeff\u00ad]", "", composed(cell))
    return re.sub("[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+", " ", seen)


def numeric_label(cell: str) -> object:
    """Numbers where all labels of the truth are numbers; other texts stay, and are wrong."""
    cell = label(cell)
    return Decimal(cell) if NUMBER.fullmatch(cell) and len(cell) < 1000 else cell


def labels(cell: str) -> frozenset[str]:
    if "\n" in cell:
        raise Unreadable("labels")
    return frozenset(same_text(cell).split())


def words(cell: str) -> frozenset[str]:
    return frozenset(composed(cell).lower().split())
