"""The slow CSV reader: walks record by record, keeps the good rows and explains the problems of the others."""

import re
from dataclasses import dataclass

import numpy as np

from ..core.errors import Problem
from ..core.messages import EXAMPLES, Message, joined, listed
from .header_problems import other_separator

_CELL = rb'(?:"(?:[^"]|"")*"|[^",\n]*)'
_RECORD = re.compile(_CELL + rb"(?:," + _CELL + rb")*")
_ONE = re.compile(_CELL + rb"(?:,|$)")
_ROW_NAME = re.compile(rb'"\d+"|\d+')
_NUMBER = re.compile(rb"[+-]?[\d.]+([eE][+-]?\d+)?")
_WHOLE_PAIR = re.compile(rb",\s*[+-]?\d+,\d+\s*(?:,|$)")
"""Whole numbers behind the first cell that a decimal comma may have parted."""
_DECIMAL_COMMA = re.compile(rb"(?:^|,)\s*[+-]?\d+,\d+\s*(?:,|$)")


@dataclass
class _Record:
    text: bytes
    line: int
    last_line: int
    is_open: bool

    def width(self) -> int:
        """The number of cells; 0 if the quotes are broken."""
        if b'"' not in self.text:
            return self.text.count(b",") + 1
        if not _RECORD.fullmatch(self.text):
            return 0
        count, place = 0, 0
        while match := _ONE.match(self.text, place):
            count += 1
            place = match.end()
            if not match[0].endswith(b",") or place > len(self.text):
                break
        return count


def read_records(data: bytes, body: int, width: int) -> tuple[bytes, np.ndarray, list[Problem]]:
    """The records of ``data`` from offset ``body`` on that have ``width`` proper cells, as CSV bytes without header;
    their line numbers; and the problems of the other records."""
    good: list[bytes] = []
    lines: list[int] = []
    ragged: list[tuple[_Record, int]] = []
    broken: list[_Record] = []
    never_closed: list[Problem] = []
    for record in _split_records(data, body):
        found = record.width()
        if record.is_open:
            message = Message("A quote that was opened on or after line {line} is never closed.", line=record.line)
            never_closed.append(Problem("quote_open", message, line=record.line))
        elif found == width:
            good.append(record.text)
            lines.append(record.line)
        elif not found:
            broken.append(record)
        else:
            ragged.append((record, found))
    problems = (
        _broken_quotes(broken)
        + _ragged_problems(ragged, width, are_all=not (good or broken or never_closed))
        + never_closed
    )
    return b"\n".join(good), np.array(lines, np.int64), problems


def _split_records(data: bytes, body: int) -> list[_Record]:
    rows = data[body:].split(b"\n")
    first = data.count(b"\n", 0, body) + 1
    records: list[_Record] = []
    place = 0
    while place < len(rows):
        start = place
        parts = [rows[place]]
        is_open = rows[place].count(b'"') % 2 == 1
        while is_open and place + 1 < len(rows):
            place += 1
            parts.append(rows[place])
            is_open ^= rows[place].count(b'"') % 2 == 1
        if len(parts) > 1 or parts[0].strip(b" \t"):
            records.append(_Record(b"\n".join(parts), first + start, first + place, is_open))
        place += 1
    return records


def _broken_quotes(records: list[_Record]) -> list[Problem]:
    if not records:
        return []
    places = [line_range(record.line, record.last_line) for record in records[:EXAMPLES]]
    message = Message.counted(
        len(records),
        "{count} row with a quote in the wrong place (text before or after the quotes of a cell, or a quote missing): "
        "{lines}. Put the whole cell in quotes and double the inner ones.",
        "{count} rows with a quote in the wrong place (text before or after the quotes of a cell, or a quote missing): "
        "{lines}. Put the whole cell in quotes and double the inner ones.",
        lines=listed(places, len(records)),
    )
    return [Problem("quote", message, line=records[0].line, count=len(records))]


def line_range(first: int, last: int) -> Message:
    """One line or several, in words."""
    if last > first:
        return Message("lines {first}–{last}", first=first, last=last)
    return Message("line {line}", line=first)


def _begin_with_names(ragged: list[tuple[_Record, int]], width: int) -> bool:
    """Whether rows have one value more than the header names, and begin with numbers in quotes or count themselves;
    where a decimal comma may part the rest, they must do both."""
    firsts = [record.text.partition(b",")[0].strip() for record, _ in ragged]
    if any(found != width + 1 for _, found in ragged) or not all(map(_ROW_NAME.fullmatch, firsts)):
        return False
    if all(record.text.rstrip().endswith(b",") for record, _ in ragged):
        return False
    are_quoted = all(first.startswith(b'"') for first in firsts)
    numbers = [first.strip(b'"') for first in firsts]
    do_count = any(all(one == b"%d" % place for place, one in enumerate(numbers, start)) for start in (0, 1))
    if all(_WHOLE_PAIR.search(record.text) for record, _ in ragged):
        return are_quoted and do_count
    return are_quoted or do_count


def _ragged_problems(ragged: list[tuple[_Record, int]], width: int, *, are_all: bool) -> list[Problem]:
    """The problem of rows with another number of cells than the header; ``are_all`` if no row is otherwise."""
    if not ragged:
        return []
    record, found = ragged[0]
    if len(ragged) > 1:
        places = [
            # Translators: one row of a list, with the number of its values: line 3 has 4
            Message("{line} has {values}", line=line_range(one.line, one.last_line), values=many)
            for one, many in ragged[:EXAMPLES]
        ]
        message = Message(
            "{rows} rows have another number of values than the header ({width}): {lines}.",
            rows=len(ragged),
            width=width,
            lines=listed(places, len(ragged)),
        )
    elif record.last_line > record.line:
        message = Message.counted(
            found,
            "Lines {first}–{last} have {count} value; the header names {width}.",
            "Lines {first}–{last} have {count} values; the header names {width}.",
            first=record.line,
            last=record.last_line,
            width=width,
        )
    else:
        message = Message.counted(
            found,
            "Line {line} has {count} value; the header names {width}.",
            "Line {line} has {count} values; the header names {width}.",
            line=record.line,
            width=width,
        )
    if are_all and _begin_with_names(ragged, width):
        why: Message | None = Message('The rows seem to begin with row names: in R, write with "row.names = FALSE".')
    else:
        why = _hint_about_record(record, found, width)
        if why is None and are_all and all(_NUMBER.fullmatch(one.text.strip()) for one, _ in ragged):
            why = Message("Each row is one number only: ids or predictions are missing.")
    if why is not None:
        message = joined([message, why])
    return [Problem("row_width", message, line=record.line, count=len(ragged))]


def _hint_about_record(record: _Record, found: int, width: int) -> Message | None:
    if record.last_line > record.line:
        return Message("These lines are read as one row: a quote is missing.")
    if found == width + 1 and record.text.rstrip().endswith(b","):
        return Message("The row ends with a comma.")
    if found == 1 and (why := other_separator(record.text.decode(errors="replace"))) is not None:
        return why
    if found == 1 and record.text.startswith(b'"') and b"," in record.text:
        return Message("The whole row is one cell in quotes: leave out the quotes around it.")
    if found > width and _DECIMAL_COMMA.search(record.text):
        return Message("If the comma is a decimal sign, write 0.5 instead of 0,5.")
    return None
