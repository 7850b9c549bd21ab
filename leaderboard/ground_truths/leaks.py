"""Check whether a file for students contains the answers. Reads CSV files, also gzipped or zipped.

Found are also: ids in a column of another name or without leading zeros, rows without ids in the order of the truth,
and answers with decimal commas, rounded, or in a column of another name.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, KeysView, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import PurePath

from django.utils.functional import cached_property

import metrics
from leaderboard.common.file_formats import BROKEN_ARCHIVE_ERRORS
from metrics.reading.column_names import MAX_LINES, clean_name, header_place

MAX_CHARACTERS = 500_000_000
MAX_LINE_CHARACTERS = 1_000_000
BLOCK_ROWS = 500
LEAK_SHARE = 0.9
# A column of another name counts as a copy if all answers are equal and at least this many are not the commonest one.
MIN_INFORMATIVE_ANSWERS = 3
# Numbers with fewer digits do not count as rounded answers: many sample submissions are full of zeros.
MIN_DIGITS = 2
# Errors of damaged archives, which are skipped: students cannot read them either.
UNREADABLE = (OSError, *BROKEN_ARCHIVE_ERRORS)
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
DECIMAL = re.compile(r"[+-]?([0-9]*)(?:[.,]([0-9]*))?")
OTHER_TABLES = re.compile(
    r"\.(arrow|avro|db|dta|feather|h5|hdf5|jsonl?|mat|ndjson|np[yz]|ods|orc|parquet|p(?:ickle|kl)|rda|rdata|rds|sav|sqlite"
    r"|xls[bmx]?|xml)",
    re.IGNORECASE,
)

Answers = dict[str, dict[str, str]]
"""Column → id → cell."""


def is_table_unread(name: str) -> bool:
    """Whether a file of this name is a table that `describe_leak` cannot read."""
    return OTHER_TABLES.fullmatch(PurePath(name).suffix) is not None


class TruthAnswers:
    """The answers of a ground truth, read once and compared with any number of files.

    Files may contain the `other_columns` of the truth (`non_answer_columns`), which students often need.
    """

    def __init__(self, truth: bytes, id_column: str, other_columns: Iterable[str] = ()) -> None:
        self.file, self.id_column, self.other_columns = truth, id_column, frozenset(other_columns)

    @cached_property
    def columns(self) -> Answers:
        return _read_columns(next(_tables_in(self.file)), self.id_column, without=self.other_columns)

    @cached_property
    def ids(self) -> _TruthIds:
        return _TruthIds(next((answers.keys() for answers in self.columns.values()), {}.keys()))

    @cached_property
    def in_order(self) -> list[list[str]]:
        """The columns that a file without ids may hold."""
        return [list(answers.values()) for answers in self.columns.values()]


def describe_leak(offered: bytes, truth: TruthAnswers) -> str:
    """Description of the answers that a file contains, as the predicate of a sentence about it; "" if it contains
    none."""
    if offered == truth.file:
        return metrics.Message("is the answer file itself")
    # Three passes over the same table: the column of the ids, if any, is only known after the last row.
    tables = zip(_tables_in(offered), _tables_in(offered), _tables_in(offered), strict=False)
    for for_ids, table, in_order in tables:
        leak = _answers_by_id(table, _ids_in(for_ids, truth.id_column, truth.ids), truth)
        leak = leak or _answers_in_order(in_order, truth.in_order)
        if leak:
            name, number = leak
            return metrics.Message(
                "contains the answers of {number} scored ids in the column “{name}”", number=number, name=name
            )
    return ""


class _TruthIds:
    """The ids of a truth, also found as programs change them: `007` saved as `7`, `7` saved as `7.0`."""

    def __init__(self, ids: KeysView[str]) -> None:
        self._exact = ids

    @cached_property
    def _plain(self) -> dict[str, str]:
        plain = {_normalised_cell(key): key for key in self._exact}
        return plain if len(plain) == len(self._exact) else {}

    def resolve_id(self, cell: str) -> str:
        """The id that a cell stands for; the cell itself if it is no id."""
        return cell if cell in self._exact else self._plain.get(_normalised_cell(cell), cell)

    def resolve_ids(self, cells: list[str]) -> list[str]:
        return cells if all(map(self._exact.__contains__, cells)) else list(map(self.resolve_id, cells))

    def __contains__(self, name: str) -> bool:
        return name in self._exact


def _normalised_cell(cell: str) -> str:
    return (cell.removesuffix(".0").lstrip("0") or "0") if cell[:1].isdigit() else cell


def _answers_by_id(lines: Iterator[str], id_column: str, truth: TruthAnswers) -> tuple[str, int] | None:
    """(column, number of ids) for the first column with answers in rows with their ids; None without one."""
    for name, cells in _read_columns(lines, id_column, truth).items():
        for target, answers in truth.columns.items():
            number = _leaked_by_id(answers, cells) if name == target else _leaked_by_copy(answers, cells)
            if number:
                return name, number
    return None


def _answers_in_order(lines: Iterator[str], sought: Sequence[Sequence[str]]) -> tuple[str, int] | None:
    """(column, number of answers) for a column with all answers in the order of the truth, with or without a header;
    None without one. Such a file needs no ids."""
    candidates: list[tuple[int, Sequence[str], int]] = []
    row, header = -1, list[str]()
    try:
        header, reader = open_table(lines)
        candidates = [(place, answers, named) for place in range(len(header)) for answers in sought for named in (0, 1)]
        for row, cells in enumerate(filter(None, chain([header], reader))):
            candidates = [candidate for candidate in candidates if _continues_order(candidate, row, cells)]
            if not candidates:
                return None
    except (csv.Error, *UNREADABLE):
        return None
    whole = [(place, answers) for place, answers, named in candidates if row + 1 - named == len(answers)]
    found = [(header[place], len(answers)) for place, answers in whole if _are_informative(answers)]
    return found[0] if found else None


def _continues_order(candidate: tuple[int, Sequence[str], int], row: int, cells: Sequence[str]) -> bool:
    """Whether a row of a candidate column has the answer that is next in order."""
    place, answers, named = candidate
    if row < named:
        return True
    return (
        row - named < len(answers) and place < len(cells) and _says_answer(answers[row - named], cells[place].strip())
    )


def _are_informative(answers: Sequence[str]) -> bool:
    """Whether enough answers are not the commonest one."""
    return len(answers) - max(Counter(answers).values(), default=0) >= MIN_INFORMATIVE_ANSWERS


def _leaked_by_id(truth: dict[str, str], offered: dict[str, str]) -> int:
    """Number of shared ids with the right answer; 0 if that may be chance.

    A sample submission, or training data with the same ids, agrees on the commonest answer at most.
    """
    shared = truth.keys() & offered.keys()
    # More wrong ones than these are no leak, however many more follow.
    most_wrong = round((1 - LEAK_SHARE) * len(shared)) + 1
    wrong = list(islice((key for key in shared if not _says_answer(truth[key], offered[key])), most_wrong))
    same = len(shared) - len(wrong)
    if same <= LEAK_SHARE * len(shared):
        return 0
    commonest, number = Counter(truth[key] for key in shared).most_common(1)[0]
    informative = len(shared) - number
    same_informative = informative - sum(truth[key] != commonest for key in wrong)
    return same if informative and same_informative > LEAK_SHARE * informative else 0


def _leaked_by_copy(truth: dict[str, str], offered: dict[str, str]) -> int:
    """Number of answers in a column of another name; 0 if a single cell differs.

    A column that only predicts the answers well is a feature, as data files should have.
    """
    if not all(key in truth and _says_answer(truth[key], cell) for key, cell in offered.items()):
        return 0
    commonest = Counter(truth.values()).most_common(1)[0][0] if truth else ""
    informative = sum(truth[key] != commonest for key in offered)
    return len(offered) if informative >= MIN_INFORMATIVE_ANSWERS else 0


def _says_answer(answer: str, cell: str) -> bool:
    """Whether a cell equals the answer, as text or as a number, which may have a decimal comma or be rounded."""
    if answer == cell:
        return True
    try:
        first, second = float(answer), float(cell.replace(",", "."))
    except ValueError:
        return False
    return math.isclose(first, second, rel_tol=1e-13) or abs(first - second) <= _rounding_error(answer, cell)


def _rounding_error(answer: str, cell: str) -> float:
    """The largest rounding error of a cell with fewer decimals than the answer; 0 if it cannot be a rounded answer."""
    first, second = DECIMAL.fullmatch(answer), DECIMAL.fullmatch(cell)
    if not first or not second:
        return 0.0
    fine, coarse = len(first[2] or ""), len(second[2] or "")
    digits = (second[1] + (second[2] or "")).lstrip("0")
    return 0.5000001 * 10.0**-coarse if coarse < fine and len(digits) >= MIN_DIGITS else 0.0


def _read_columns(
    lines: Iterator[str], id_column: str, truth: TruthAnswers | None = None, without: frozenset[str] = frozenset()
) -> Answers:
    """Column → id → cell, without the ids, `Usage` and the columns in `without`; {} if there is no `id_column`.

    With a `truth` only its ids, and only columns that have the names of its answers or equal one of them cell by cell,
    because a file for students may be far larger than the answers.
    """
    try:
        header, reader = open_table(lines)
    except (csv.Error, *UNREADABLE):
        return {}
    if id_column not in header:
        return {}
    place = header.index(id_column)
    places = {name: at for at, name in enumerate(header) if name not in {id_column, "Usage", ""} | without}
    columns: Answers = {name: {} for name in places}
    for block in _blocks_of(reader):
        rows = [row for row in block if place < len(row)]
        keys = [row[place].strip() for row in rows]
        keys = truth.ids.resolve_ids(keys) if truth else keys
        for name in list(columns):
            at = places[name]
            cells = [(key, row[at].strip()) for key, row in zip(keys, rows, strict=True) if at < len(row)]
            _add_cells(columns, name, cells, truth)
        if not columns:
            break
    return columns


def _blocks_of(reader: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    """The rows of a table in blocks, up to its end or its damage."""
    is_over = False
    while not is_over:
        block: list[list[str]] = []
        with suppress(csv.Error, *UNREADABLE):
            block.extend(islice(reader, BLOCK_ROWS))
        is_over = len(block) < BLOCK_ROWS
        yield block


def open_table(lines: Iterator[str]) -> tuple[list[str], Iterator[list[str]]]:
    """(names of the columns, rows) of a table, without the titles above it."""
    first: list[str] = []
    with suppress(csv.Error, *UNREADABLE):  # the lines before the damage are used
        first.extend(islice(lines, MAX_LINES))
    filled = [(number, line.rstrip("\r\n")) for number, line in enumerate(first, 1) if line.strip()]
    start = filled[header_place(filled)][0] - 1 if filled else 0
    delimiter = max(",;\t|", key=first[start].count) if filled else ","
    reader = csv.reader(chain(first[start:], lines), delimiter=delimiter)
    return list(map(clean_name, next(reader, []))), reader


def _ids_in(lines: Iterator[str], id_column: str, ids: _TruthIds) -> str:
    """Name of the column with the ids: `id_column`, else the column that has most of them without repetition."""
    try:
        header, reader = open_table(lines)
        if id_column in header:
            return id_column
        ids_by_column: dict[str, set[str]] = {name: set() for name in header if name not in ("", "Usage")}
        for row in reader:
            for name, cell in zip(header, row, strict=False):
                if name in ids_by_column and (key := ids.resolve_id(cell.strip())) in ids:
                    if key in ids_by_column[name]:
                        del ids_by_column[name]  # not unique, so it identifies no row
                    else:
                        ids_by_column[name].add(key)
    except (csv.Error, *UNREADABLE):
        return id_column
    best = max(ids_by_column, key=lambda name: len(ids_by_column[name]), default=id_column)
    return best if len(ids_by_column.get(best, ())) >= MIN_INFORMATIVE_ANSWERS else id_column


def _add_cells(columns: Answers, name: str, cells: list[tuple[str, str]], truth: TruthAnswers | None) -> None:
    """Add cells to a column. One of another name is dropped at its first cell that equals no answer."""
    if truth is None:
        columns[name].update(cells)
    elif name in truth.columns:
        answers_by_id = truth.columns[name]
        columns[name].update([pair for pair in cells if pair[0] in answers_by_id])
    else:
        for key, cell in cells:
            answers = [column[key] for column in truth.columns.values() if key in column]
            if answers and not any(_says_answer(answer, cell) for answer in answers):
                del columns[name]
                return
            if answers:
                columns[name][key] = cell


def _tables_in(data: bytes) -> Iterator[Iterator[str]]:
    """An iterator over lines for the file, or for each file in a gzip or zip; at most `MAX_CHARACTERS` in total."""
    left = MAX_CHARACTERS

    def lines_of(part: gzip.GzipFile | zipfile.ZipExtFile | io.BufferedReader) -> Iterator[str]:
        # Read line by line: reading ahead would meet damage at the end of the file too early.
        nonlocal left
        encoding = "utf-16" if part.peek(2)[:2] in UTF_16 else "utf-8-sig"
        text = io.TextIOWrapper(part, encoding, errors="replace", newline="")
        while left > 0 and (line := text.readline(MAX_LINE_CHARACTERS)):
            left -= len(line)
            yield line

    try:
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as file:
                yield lines_of(file)
        elif data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for member in archive.infolist():
                    with archive.open(member) as part:
                        yield lines_of(part)  # type: ignore[arg-type]
        else:
            encoding = "utf-16" if data[:2] in UTF_16 else "utf-8-sig"
            yield io.TextIOWrapper(io.BytesIO(data[:MAX_CHARACTERS]), encoding, errors="replace", newline="")
    except UNREADABLE:
        return
