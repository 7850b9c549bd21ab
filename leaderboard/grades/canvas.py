"""Fill one column of a gradebook exported from Canvas.

The result is the uploaded file byte by byte, except for the cells of that column and for cells that a spreadsheet
would run as a formula: these get an apostrophe, so that a student's name cannot run code on the teacher's computer.
Canvas finds students by ID, so the apostrophe does no harm.
"""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from leaderboard.classroom.roster_titles import is_summary_row, is_test_student
from leaderboard.common.file_formats import FORMULA_STARTS
from leaderboard.common.names import clean_text
from metrics.reading.encodings import guess_encoding

from .students import Student

STUDENT, ID, SIS_USER, SIS_LOGIN, INTEGRATION = "Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID"
LAST_NAME, FIRST_NAME = "LastName", "FirstName"
ASSIGNMENT = re.compile(r".*\S \(\d+\)\s*$", re.DOTALL)
# With which spreadsheets name the separator, in a line above the header.
SEPARATOR_LINE = re.compile(r'"?sep=[^\r\n]"?\s*(?:\r\n|\n|\r)', re.IGNORECASE)
QUOTED = re.compile(r'"((?:[^"]|"")*)"([^"]*)', re.DOTALL)
NUMBER = re.compile(r"[+-]?[\d.,]+%?")
SHORTENED = re.compile(r"\d([.,]\d+)?E\+\d+", re.IGNORECASE)
OTHER_GRADEBOOKS = {
    "Brightspace": re.compile("OrgDefinedId|End-of-Line Indicator"),
    "Blackboard": re.compile(r"\[[^\]]*\] ?\|\d+"),
    "Moodle": re.compile(r"(?i)e-?mail.*\([\w ]+\)"),
}
"""Platform → what only the header of its gradebooks has."""
MAX_GRADEBOOK_BYTES = 5 * 1024 * 1024
MAX_GRADEBOOK_CELLS = 2_000_000
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class BadGradebook(Exception):
    """A file that cannot be read as a Canvas gradebook; the message is shown to the host."""


# --- reading the file without losing a byte ---------------------------------------------------------------------


@dataclass
class CanvasRecord:
    """The raw cells of a line, quotes included, and its line ending."""

    cells: list[str]
    end: str

    def value(self, place: int | None) -> str:
        """The text of a cell; "" if the line is shorter or `place` is None."""
        return _unquote_cell(self.cells[place]) if place is not None and place < len(self.cells) else ""


@dataclass
class CanvasGradebook:
    """A file exported from Canvas, in parts from which `as_bytes` restores it exactly."""

    bom: bytes
    encoding: str
    above: str
    """The line `sep=` above the header, as it is in the file; "" if there is none."""
    delimiter: str
    records: list[CanvasRecord]

    @cached_property
    def header(self) -> list[str]:
        return [self.records[0].value(place).strip() for place in range(len(self.records[0].cells))]

    def place(self, name: str) -> int | None:
        return self.header.index(name) if name in self.header else None

    def text(self, record: CanvasRecord, column: str) -> str:
        """The text of a cell; for `STUDENT` the name as “Last, First”, also if Canvas exported it in two columns."""
        if column == STUDENT and STUDENT not in self.header:
            names = [record.value(self.place(name)).strip() for name in (LAST_NAME, FIRST_NAME)]
            return ", ".join(name for name in names if name)
        return record.value(self.place(column)).strip()

    @property
    def columns(self) -> list[str]:
        """Headers of the columns that can be filled: assignments, which Canvas exports as “Title (number)”."""
        return [name for name in self.header if ASSIGNMENT.match(name)]

    @cached_property
    def students(self) -> list[CanvasRecord]:
        """Lines of students, without Canvas's line “Points Possible” and its test student."""
        return [record for record in self.records[1:] if self._is_student(record)]

    def _is_student(self, record: CanvasRecord) -> bool:
        name = self.text(record, STUDENT)
        return not is_test_student(name) and bool(self.text(record, ID) or (name and self.text(record, SIS_LOGIN)))

    def points_row(self) -> CanvasRecord | None:
        """Canvas's line “Points Possible”, in whatever language: with numbers, and above the first student."""
        nobody = [record for record in self.records[1:] if not self.text(record, ID)]
        named = (record for record in nobody if is_summary_row(self.text(record, STUDENT)))
        above = takewhile(lambda record: not self.text(record, ID), self.records[1:])
        return next(chain(named, filter(self._has_points, above)), None)

    def _has_points(self, record: CanvasRecord) -> bool:
        cells = (record.value(place).strip() for place, name in enumerate(self.header) if ASSIGNMENT.match(name))
        return bool(self.text(record, STUDENT)) and any(map(NUMBER.fullmatch, cells))

    def possible(self, column: str) -> str:
        """The maximum of a column, from Canvas's line “Points Possible”; "" if there is none."""
        row = self.points_row()
        return self.text(row, column) if row else ""

    @property
    def place_for_new_column(self) -> int:
        """The place of the first assignment; the end if there is none.

        Canvas drops as many columns from the left as the course has columns of names, numbers and notes. An assignment
        has points, and notes with a title like “Team (2)” have none.
        """
        row = self.points_row()
        for place, name in enumerate(self.header):
            if ASSIGNMENT.match(name) and (row is None or NUMBER.fullmatch(row.value(place).strip())):
                return place
        return len(self.header)

    @property
    def has_decimal_commas(self) -> bool:
        """Whether the file writes numbers with a decimal comma; Canvas then expects one in the points too."""
        row = self.points_row()
        cells = row.cells if row and self.delimiter != "," else []
        return any(re.fullmatch(r"\s*\d+,\d+\s*", _unquote_cell(cell)) for cell in cells)

    def computed(self) -> int:
        """Number of cells that a spreadsheet would run as a formula."""
        return sum(_is_computed(_unquote_cell(cell)) for record in self.records for cell in record.cells)

    def as_bytes(self) -> bytes:
        lines = (self.delimiter.join(record.cells) + record.end for record in self.records)
        # Only the title of a new column can have a letter that the encoding lacks.
        return self.bom + (self.above + "".join(lines)).encode(self.encoding, errors="replace")


def read_canvas_gradebook(data: bytes) -> CanvasGradebook:
    """Read a file exported from Canvas, with any of its separators, line ends and encodings. Raises `BadGradebook`."""
    if len(data) > MAX_GRADEBOOK_BYTES:
        raise BadGradebook(
            _("This gradebook is too large. The limit is %(size)s MB.") % {"size": MAX_GRADEBOOK_BYTES // 1_048_576}
        )
    bom, encoding = next(((bom, name) for bom, name in BOMS if data.startswith(bom)), (b"", "utf-8"))
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        if bom:
            raise BadGradebook(_("The file is damaged: its characters can't be read.")) from None
        text, encoding = guess_encoding(data)
        if text.encode(encoding) != data:
            # Latin-1 maps every byte to a character and back, so no file is damaged.
            encoding = "latin-1"
            text = data.decode(encoding)
    separator_line = SEPARATOR_LINE.match(text)
    above = separator_line.group() if separator_line else ""
    text = text[len(above) :]
    for delimiter in (",", ";", "\t"):
        first = CanvasGradebook(bom, encoding, above, delimiter, [next(_split_records(text, delimiter))])
        names = set(first.header)
        if ID in names and (STUDENT in names or {LAST_NAME, FIRST_NAME} <= names):
            return _with_whole_ids(replace(first, records=list(_split_records(text, delimiter))))
    if kind := next(
        (name for name, pattern in OTHER_GRADEBOOKS.items() if pattern.search(text.partition("\n")[0])), ""
    ):
        raise BadGradebook(
            _("This is a gradebook of %(kind)s. Download the grades for %(kind)s, or as CSV.") % {"kind": kind}
        )
    if data.startswith(b"PK"):
        raise BadGradebook(_("This is a workbook. Upload the CSV file as Canvas exported it."))
    what = _("This isn't a Canvas gradebook: the first row has no columns “Student” and “ID”.")
    where = _("In Canvas, choose Grades, then Export.")
    raise BadGradebook(f"{what} {where}")


def _with_whole_ids(book: CanvasGradebook) -> CanvasGradebook:
    """The gradebook. Raises `BadGradebook` if a spreadsheet has shortened the IDs, by which Canvas finds students."""
    ids = (book.text(record, ID) for record in book.records[1:])
    if short := next(filter(SHORTENED.fullmatch, ids), ""):
        raise BadGradebook(
            _("A spreadsheet has shortened the IDs, such as %(id)s. Upload the file as Canvas exported it.")
            % {"id": short[:30]}
        )
    return book


def _split_records(text: str, delimiter: str) -> Iterator[CanvasRecord]:
    mark = re.escape(delimiter)
    cell = re.compile(rf'"(?:[^"]|"")*"[^{mark}\r\n]*|[^{mark}\r\n]*')
    place, cells, count = 0, [], 0
    while True:
        match = cell.match(text, place)
        assert match is not None, "the pattern matches nothing as well"
        if match.group().startswith('"') and not QUOTED.match(match.group()):
            raise BadGradebook(
                _("A quotation mark in the file is never closed: %(text)s…") % {"text": match.group()[:30]}
            )
        cells.append(match.group())
        count += 1
        if count > MAX_GRADEBOOK_CELLS:
            raise BadGradebook(_("The file has too many cells for a gradebook."))
        place = match.end()
        if text.startswith(delimiter, place):
            place += 1
            continue
        end = "\r\n" if text.startswith("\r\n", place) else text[place : place + 1]
        yield CanvasRecord(cells, end)
        place, cells = place + len(end), []
        if place >= len(text):
            return


def _unquote_cell(cell: str) -> str:
    """The text of a raw cell, as spreadsheets read it: text after the closing quotation mark is kept."""
    quoted = QUOTED.fullmatch(cell)
    return quoted[1].replace('""', '"') + quoted[2] if quoted else cell


def _quote_cell(text: str, delimiter: str) -> str:
    if any(c in text for c in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _is_computed(text: str) -> bool:
    return text.startswith(FORMULA_STARTS) and text.strip("-+ \t\r\n\0") != "" and not NUMBER.fullmatch(text)


# --- matching lines and students --------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudentMatch:
    """A line of the gradebook, the student it belongs to, and the column by which they matched."""

    record: CanvasRecord
    student: Student
    by: str


@dataclass
class GradebookMatching:
    """The matched students, and those without a match on either side."""

    matches: list[StudentMatch] = field(default_factory=list)
    records: list[CanvasRecord] = field(default_factory=list)
    students: list[Student] = field(default_factory=list)

    @property
    def to_review(self) -> list[StudentMatch]:
        """Matches by names that the students chose themselves, because they are not on the class list."""
        return [match for match in self.matches if not match.student.is_listed]


def match_students(book: CanvasGradebook, students: Sequence[Student]) -> GradebookMatching:
    """Match lines and students by ID, then SIS User ID, then login, then name; only unique matches count."""
    matching = GradebookMatching(records=list(book.students), students=list(students))
    for key in _KEYS:
        _match_by_key(book, matching, key)
    return matching


@dataclass(frozen=True)
class _Key:
    """A column by which lines are matched with students."""

    column: str
    names_of: Callable[[Student], Iterable[str]]
    """What a student may be called in the column."""
    normalized: Callable[[str], str]
    """The text by which both are compared; "" matches none."""
    needs_name: bool = False
    """Whether a match counts only if the names have a word in common."""


def _match_by_key(book: CanvasGradebook, matching: GradebookMatching, key: _Key) -> None:
    lines: dict[str, list[CanvasRecord]] = defaultdict(list)
    for record in matching.records:
        lines[key.normalized(book.text(record, key.column))].append(record)
    owners: dict[str, list[Student]] = defaultdict(list)
    for student in matching.students:
        for text in {key.normalized(name) for name in key.names_of(student)} - {""}:
            owners[text].append(student)
    taken: set[int] = set()
    for text, students in owners.items():
        if len(students) != 1 or len(lines.get(text, ())) != 1 or id(students[0]) in taken:
            continue
        (student,), (record,) = students, lines[text]
        if not key.needs_name or _share_a_word(student.name, book.text(record, STUDENT)):
            matching.matches.append(StudentMatch(record, student, key.column))
            taken |= {id(student), id(record)}
    matching.students = [student for student in matching.students if id(student) not in taken]
    matching.records = [record for record in matching.records if id(record) not in taken]


def _text_key(text: str) -> str:
    return clean_text(text).casefold()


def _number_key(text: str) -> str:
    """Key to compare numbers of which a spreadsheet has dropped the leading zeros."""
    number = _text_key(text)
    return number.lstrip("0") if number.isdecimal() else ""


def _name_key(text: str) -> str:
    """Key to compare names: “Rivera, Ana” and “Ana Rivera” have the same."""
    last, comma, first = text.partition(",")
    return _text_key(f"{first} {last}" if comma else text)


def _share_a_word(name: str, other: str) -> bool:
    return bool(set(_name_key(name).split()) & set(_name_key(other).split()))


def _listed_numbers(student: Student) -> list[str]:
    return [student.sis_user_id, student.student_id] if student.is_listed else []


_KEYS = (
    _Key(ID, lambda student: [student.student_id] if student.is_listed else [], _text_key),
    _Key(SIS_USER, _listed_numbers, _text_key),
    _Key(SIS_USER, _listed_numbers, _number_key, needs_name=True),
    _Key(INTEGRATION, _listed_numbers, _text_key),
    _Key(SIS_LOGIN, lambda student: [student.login, student.email], _text_key),
    _Key(STUDENT, lambda student: [student.name], _name_key),
)


# --- filling ----------------------------------------------------------------------------------------------------


def fill_gradebook(book: CanvasGradebook, matching: GradebookMatching, *, column: str, title: str, most: str) -> bytes:
    """The file with the points of the matched students in `column`, or in a new column `title` if that is "".

    Cells with “EX” (excused), and cells of students without a grade, are not changed. `most` is the maximum that a new
    column gets in Canvas's line “Points Possible”.
    """
    points = {id(match.record): match.student.points for match in matching.matches if match.student.points is not None}
    place = book.place(column) if column else None
    is_new = place is None
    if place is None:
        place = book.place_for_new_column
    top = book.points_row()
    records = []
    for number, record in enumerate(book.records):
        cells = list(record.cells)
        if is_new and any(cells):
            cells += [""] * (place - len(cells))
            cells.insert(place, _quote_cell(title, book.delimiter) if number == 0 else most if record is top else "")
        text = points.get(id(record))
        if text is not None:
            cells += [""] * (place + 1 - len(cells))
            if _unquote_cell(cells[place]).strip().upper() != "EX":
                text = text.replace(".", ",") if book.has_decimal_commas else text
                cells[place] = _quote_cell(text, book.delimiter)
        records.append(CanvasRecord([_safe_cell(cell, book.delimiter) for cell in cells], record.end))
    return replace(book, records=records).as_bytes()


def _safe_cell(cell: str, delimiter: str) -> str:
    text = _unquote_cell(cell)
    return _quote_cell("'" + text, delimiter) if _is_computed(text) else cell
