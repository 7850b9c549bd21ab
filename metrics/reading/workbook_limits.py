"""Limits of Excel workbooks, checked before calamine reads them.

Calamine allocates every cell between the first and the last, copies a shared text into each cell that shows it, and
reads every sheet as often as the workbook lists it. A process without enough memory for that is killed without a
message. So an XML parser counts what calamine will allocate, refuses spellings that the two could read differently, and
calamine gets a new archive with only the parts that were counted.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from xml.parsers import expat

from ..core.errors import Problem, Refused
from ..core.messages import Message

MAX_UNPACKED_BYTES = 250_000_000
MAX_ARCHIVE_MEMBERS = 10_000
MAX_ELEMENTS = 6_000_000
"""The most XML elements; a cell with a value has two."""
MAX_OTHER_ELEMENTS = 1_000_000
"""The most XML elements of styles, merged cells and the like."""
MAX_CELLS = 5_000_000
"""The most rows × columns of a sheet."""
MAX_TEXT_BYTES = 100_000_000
"""The most bytes of text in all cells of a sheet, a shared text counted at each use."""
MAX_NAME_CHARACTERS = 128
_MAX_DEPTH = 64
_DIRECTORY_ENTRY = b"PK\x01\x02"
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384
_STRINGS = "xl/sharedstrings.xml"
_PARTS = re.compile(
    r"xl/(workbook|styles|sharedStrings)\.xml|xl/_rels/workbook\.xml\.rels|xl/[a-z]+sheets/[^/]+\.xml", re.I
)
_ENTRANCE = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="workbook" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"'
    "/></Relationships>"
)
_PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_ERROR_CELL = re.compile(rb"""(<(?:\w+:)?c\s(?:[^<>]*\s)?t=["'])e(["'])""")
_ROW = re.compile(r"[0-9]{1,7}")
_NUMBER_OF_TEXT = re.compile(r"[0-9]{1,8}")
_OF_OTHER_PARTS = ("sheetData", "si", "sheet", "Relationship")
"""Elements that are refused in the wrong part: calamine reads any part as a sheet that the workbook lists as one."""
BROKEN_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def measured_workbook(data: bytes, limit: int) -> bytes:
    """A copy of the workbook with only the parts that the reader needs; cells whose formula failed become texts, which
    calamine would read as empty. Raises ``Refused`` for a file that is not a
    workbook, is damaged or spelled oddly, or unpacks to more than ``limit`` bytes or the limits above."""
    check_member_count(data)
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if "xl/workbook.xml" not in archive.namelist():
                message = Message("This is an Office file, but no Excel workbook. Save the table as CSV or .xlsx.")
                raise Refused(broken(message))
            parts = [member for member in members if _PARTS.fullmatch(member.filename)]
            parts.sort(key=lambda part: part.filename.lower() != _STRINGS)
            _check_sizes(parts, limit)
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as measured:
                measured.writestr("_rels/.rels", _ENTRANCE)
                _copy_parts(archive, parts, measured)
    except BROKEN_ARCHIVE:
        raise damaged_workbook() from None
    return out.getvalue()


def broken(message: str) -> Problem:
    """The problem of a file that cannot be opened, or is not a table."""
    return Problem("container", message)


def check_member_count(data: bytes) -> None:
    """Raise ``Refused`` for an archive of very many members, before its directory is read."""
    count = data.count(_DIRECTORY_ENTRY)
    if count > MAX_ARCHIVE_MEMBERS:
        message = Message("The archive holds {count} files and was not opened.", count=count)
        raise Refused(broken(message))


def damaged_workbook() -> Refused:
    """The error for a workbook that cannot be read."""
    return Refused(broken(Message("The Excel file is damaged or encrypted. Save it as a new file.")))


def too_large(limit: int) -> Refused:
    """The error for a file that unpacks to more than ``limit`` bytes."""
    size = f"{limit / 1e6:,.0f}"
    return Refused(Problem("too_large", Message("The file is larger than {size} MB when unpacked.", size=size)))


def too_many_cells() -> Refused:
    """The error for a sheet with too many cells."""
    message = Message(
        "A sheet of the Excel file is mostly empty or too large: it reaches over more than {count} cells. Delete what "
        "lies far off the table, or save it as CSV.",
        count=MAX_CELLS,
    )
    return Refused(Problem("too_large", message))


def _too_many_elements() -> Refused:
    message = Message("The Excel file has too many cells and formats to be read. Save the table as CSV.")
    return Refused(Problem("too_large", message))


def _check_sizes(parts: Sequence[zipfile.ZipInfo], limit: int) -> None:
    most = min(limit, MAX_UNPACKED_BYTES)
    if sum(part.file_size for part in parts) > most:  # no more than this is ever unpacked
        raise too_large(most)
    if len({part.filename.lower() for part in parts}) < len(parts):
        raise damaged_workbook()


def _copy_parts(archive: zipfile.ZipFile, parts: Sequence[zipfile.ZipInfo], measured: zipfile.ZipFile) -> None:
    strings = _SharedStrings()
    elements = 0
    for part in parts:
        data = archive.read(part)
        elements += data.count(b"</") + data.count(b"/>")
        if elements > MAX_ELEMENTS:
            raise _too_many_elements()
        name = part.filename.lower()
        if name == _STRINGS:
            strings.measure(data)
        elif "sheets/" in name:
            sheet = _CountedSheet(strings.sizes)
            sheet.measure(data)
            data = _ERROR_CELL.sub(rb"\1str\2", data) if sheet.has_errors else data
        else:
            _Lists().measure(data)
        measured.writestr(part.filename, data)


class _Part:
    """A part of a workbook that is being measured. ``begins`` maps element names to handlers; other elements are
    counted."""

    def __init__(self, begins: Mapping[str, Callable[[dict[str, str]], None]]) -> None:
        self.begins = dict.fromkeys(_OF_OTHER_PARTS, _refuse_damaged) | dict(begins)
        self.depth = self.others = self.size = 0

    def measure(self, data: bytes) -> None:
        """Raise ``Refused`` if the part is too large or damaged."""
        if b"\0" in data:  # UTF-16, which calamine reads byte by byte
            raise damaged_workbook()
        parser = expat.ParserCreate("UTF-8")
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.StartDoctypeDeclHandler = _refuse_damaged
        try:
            parser.Parse(data, True)
        except expat.ExpatError:
            raise damaged_workbook() from None

    def end(self, _name: str) -> None:
        self.depth -= 1

    def text(self, data: str) -> None:
        """Handle a piece of text."""

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise damaged_workbook()
        (self.begins.get(name) or self.begins.get(name.rpartition(":")[2], self._count))(attributes)

    def _count(self, _attributes: dict[str, str]) -> None:
        self.others += 1
        if self.others > MAX_OTHER_ELEMENTS:
            raise _too_many_elements()

    def _add_text(self, size: int) -> None:
        self.size += size
        if self.size > MAX_TEXT_BYTES:
            message = Message(
                "The texts in the cells of the Excel file are longer than {size} MB together. Save the table as CSV.",
                size=MAX_TEXT_BYTES // 1_000_000,
            )
            raise Refused(Problem("too_large", message))


class _SharedStrings(_Part):
    """The part with texts to which cells refer by number."""

    def __init__(self) -> None:
        super().__init__({"si": self._begin_string, "t": _count_nothing, "r": _count_nothing})
        self.sizes: list[int] = []

    def text(self, data: str) -> None:
        size = len(data.encode())
        self._add_text(size)
        if self.sizes:
            self.sizes[-1] += size

    def _begin_string(self, _attributes: dict[str, str]) -> None:
        if self.depth != 2:
            raise damaged_workbook()
        self.sizes.append(0)

    def _count(self, _attributes: dict[str, str]) -> None:
        """Formats within a text are not counted."""


class _CountedSheet(_Part):
    """A sheet: counts the extent of its cells and the length of their texts."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__({"sheetData": self._begin_data})
        self.sizes = sizes
        self.depth_of_data = self.row = self.column = self.cell_row = self.width = self.height = 0
        self.is_shared = self.is_number_of_text = self.has_number = self.has_errors = False

    def end(self, _name: str) -> None:
        self.depth -= 1
        self.is_number_of_text = False
        if self.depth < self.depth_of_data:  # calamine reads no cell after the data
            self.begins, self.depth_of_data = dict.fromkeys(_OF_OTHER_PARTS[1:], _refuse_damaged), 0

    def text(self, data: str) -> None:
        if not self.is_number_of_text:
            self._add_text(len(data))
            return
        if self.has_number or not _NUMBER_OF_TEXT.fullmatch(data):
            raise damaged_workbook()
        self.has_number = True
        number = int(data)
        if number < len(self.sizes):
            self._add_text(self.sizes[number])

    def _begin_data(self, _attributes: dict[str, str]) -> None:
        self.depth_of_data = self.depth
        self.begins = {
            **dict.fromkeys(_OF_OTHER_PARTS, _refuse_damaged),
            **dict.fromkeys(("f", "t", "r"), _count_nothing),
            "row": self._begin_row,
            "c": self._begin_cell,
            "v": self._begin_value,
            "is": self._begin_value,
        }

    def _begin_row(self, attributes: dict[str, str]) -> None:
        place = attributes.get("r")
        if self.depth != self.depth_of_data + 1 or not (place is None or _ROW.fullmatch(place)):
            raise damaged_workbook()
        self.row = self.row + 1 if place is None else int(place)
        self.column = 0

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        if self.depth != self.depth_of_data + 2:
            raise damaged_workbook()
        place = attributes.get("r")
        if place is None:
            self.cell_row, self.column = self.row, self.column + 1
        elif found := _PLACE.fullmatch(place):
            self.cell_row, self.column = int(found[2]), _column_number(found[1])
        else:
            raise damaged_workbook()
        kind = attributes.get("t")
        self.is_shared = kind == "s"
        self.has_errors |= kind == "e"

    def _begin_value(self, _attributes: dict[str, str]) -> None:
        """Extend the sheet's extent here, not at the cell, because calamine allocates nothing for a cell without a
        value."""
        self.is_number_of_text, self.has_number = self.is_shared, False
        if self.column > self.width or self.cell_row > self.height:
            self.width, self.height = max(self.width, self.column), max(self.height, self.cell_row)
            if self.width > _LAST_COLUMN or self.height > _LAST_ROW or self.width * self.height > MAX_CELLS:
                raise too_many_cells()


class _Lists(_Part):
    """Styles and the list of sheets; each sheet may be listed once, so that no part is read twice."""

    def __init__(self) -> None:
        super().__init__({"sheet": self._begin_sheet, "Relationship": self._begin_relationship})
        self.seen: set[str] = set()

    def _begin_sheet(self, attributes: dict[str, str]) -> None:
        ids = [value for name, value in attributes.items() if name.rpartition(":")[2] == "id"]
        self._list(ids, attributes.get("name", ""))

    def _begin_relationship(self, attributes: dict[str, str]) -> None:
        target = attributes.get("Target", "")
        self._list(["/".join(target.lower().split("/")[-2:])], target)

    def _list(self, targets: Sequence[str], name: str) -> None:
        if self.seen.intersection(targets):
            message = Message("The Excel file lists one sheet several times. Save it as a new file.")
            raise Refused(broken(message))
        self.seen.update(targets)
        if len(name) > MAX_NAME_CHARACTERS:
            raise damaged_workbook()


def _count_nothing(_attributes: object) -> None:
    """Handler that counts nothing."""


def _refuse_damaged(*_declared: object) -> None:
    raise damaged_workbook()


@lru_cache(maxsize=_LAST_COLUMN)
def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - 64
    return number
