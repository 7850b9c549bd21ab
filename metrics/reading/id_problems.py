"""Problems of a submission's ids: missing, unknown, repeated, empty; and what ids in another writing stand for.

Ids in another writing (dates in another format, lost zeros, another case) are converted only if asked, and where each
can stand for one of the expected only.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from heapq import nsmallest
from itertools import product
from typing import Any

import numpy as np

from ..core.errors import Problem, shown
from ..core.messages import EXAMPLES, Message, joined, listed
from .column_names import name_key
from .dates import DATES, Form
from .explaining_reader import line_range
from .header_problems import first_cell, other_separator
from .repairs import LATIN_LOOKS
from .tables import Table, blank_rows, line_breaks, pick

MAX_IDS = 200_000
"""The most ids that are compared."""

_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
_MAX_EXPONENT = 15
_EXPONENT = re.compile(r"([0-9]+)(?:\.([0-9]+))?e\+?([0-9]{1,2})")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")


def loose_text(text: str) -> str:
    """The text without case, leading zeros, ``.0``, exponents, invisible characters and runs of white space.

    >>> loose_text("IMG_007"), loose_text("7.0"), loose_text("007"), loose_text("3e+05")
    ('img_7', '7', '7', '300000')
    """
    plain = name_key(text)
    if found := _WHOLE.fullmatch(plain):
        plain = found[1]
    elif (found := _EXPONENT.fullmatch(plain)) and len(found[2] or "") <= int(found[3]) <= _MAX_EXPONENT:
        plain = found[1] + (found[2] or "").ljust(int(found[3]), "0")
    return _ZEROS.sub("", plain)


def written_as_expected(ids: Sequence[str], expected: Sequence[str]) -> Mapping[str, str] | None:
    """Each id that is not expected → the one that it stands for; ``None`` if some stand for none, for one that is there
    already, or for several.

    >>> written_as_expected(["1.3.2026", "2.3.2026"], ["2026-03-01 00:00:00", "2026-03-02 00:00:00"])
    {'1.3.2026': '2026-03-01 00:00:00', '2.3.2026': '2026-03-02 00:00:00'}
    """
    known = set(expected)
    foreign = [name for name in dict.fromkeys(ids) if name not in known]
    if not foreign or len(known) > MAX_IDS:
        return None
    taken = known.intersection(ids)
    found: list[dict[str, str]] = []
    for of_expected, of_ids in [(loose_text, loose_text), *product(DATES.values(), repeat=2)]:
        matched = _match_ids(foreign, expected, of_expected, of_ids)
        if matched and not taken.intersection(matched.values()) and matched not in found:
            found.append(matched)
    return found[0] if len(found) == 1 else None


def _match_ids(foreign: Sequence[str], expected: Sequence[str], of_expected: Form, of_ids: Form) -> dict[str, str]:
    """The expected id of each foreign one; empty if one has none or several, or two have the same."""
    meant: dict[Hashable, str | None] = {}
    for name in expected:
        if (key := of_expected(name)) is not None:
            meant[key] = None if key in meant else name
    keys = [of_ids(name) for name in foreign]
    twins = [None if key is None else meant.get(key) for key in keys]
    found = {name: twin for name, twin in zip(foreign, twins, strict=True) if twin}
    return found if len(found) == len(foreign) == len(set(found.values())) else {}


_DIGITS = re.compile(r"([0-9]{1,300})")


def missing_ids(table: Table, known: Any, rows: np.ndarray, column: str) -> Problem:
    """The problem of ids that are missing: these rows of the ``known`` ones, an Arrow array."""
    # Sorted, because the order of the rows may be that of the answers and would reveal them.
    texts = nsmallest(EXAMPLES, pick(known, rows).to_pylist(), key=_as_counted)
    names = list(map(shown, texts))
    message = Message.counted(
        len(rows),
        "{count} id of {total} missing: {ids}. Add a row for it.",
        "{count} ids of {total} missing: {ids}. Add a row for each.",
        total=len(known),
        ids=listed(names, len(rows)),
    )
    if spans := rows_over_lines(table):
        where = listed(spans, len(spans))
        message = joined([message, Message("Read as one row: {lines}. Is a quote missing there?", lines=where)])
    return Problem("missing_ids", message, column=column, id=texts[0], count=len(rows))


def unknown_ids(table: Table, known: list[str], rows: np.ndarray, column: str) -> Problem:
    """The problem of ids in these rows of a table that are not among the ``known`` ones. These are sorted, and empty if
    they are too many to be compared."""
    ids = table.column(column)
    texts = [ids[int(row)].as_py() for row in rows[:EXAMPLES]]
    names = [on_line(text, table.lines[row]) for text, row in zip(texts, rows, strict=False)]
    message = Message.counted(
        len(rows),
        "{count} id unknown: {ids}. Correct it or delete its row.",
        "{count} ids unknown: {ids}. Correct them or delete their rows.",
        ids=listed(names, len(rows)),
    )
    why = likely_id(known, texts[0]) if known else None
    if len(rows) == len(ids) > 1 and why is None:
        why = Message("No id of the file is known: are these the rows of another data set?")
    message = joined([message, why]) if why is not None else message
    line = int(table.lines[rows[0]])
    return Problem("unknown_ids", message, column=column, line=line, id=texts[0], count=len(rows))


def _as_counted(text: str) -> tuple[list[str | int], str]:
    """A sort key with numbers by value: i2 comes before i10."""
    parts = _DIGITS.split(text)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], text


def blank_ids(table: Table, column: str) -> list[Problem]:
    """Problems of ids that are empty, or that run over several lines because a quote is missing."""
    problems = []
    blank = blank_rows(table.values(column))
    if len(blank):
        names = listed([line_range(line, line) for line in table.lines[blank[:EXAMPLES]].tolist()], len(blank))
        message = Message.counted(
            len(blank),
            "{count} row without an id: {lines}. Add the id or delete the row.",
            "{count} rows without an id: {lines}. Add the ids or delete the rows.",
            lines=names,
        )
        problems.append(Problem("blank_id", message, column=column, line=int(table.lines[blank[0]]), count=len(blank)))
    if table.may_span_lines:
        long, _ = line_breaks(table.column(column))
        if len(long):
            problems.append(over_several_lines(table, column, long))
    return problems


def over_several_lines(table: Table, column: str, rows: np.ndarray) -> Problem:
    """The problem of cells with a line break where none is allowed: almost always a missing quote."""
    array = table.column(column)
    spans = []
    for row in rows[:EXAMPLES]:
        line = int(table.lines[row])
        spans.append(line_range(line, line + array[int(row)].as_py().count("\n")))
    message = Message(
        "A cell of {column} runs over several lines, a quote is missing: {lines}.",
        column=shown(column),
        lines=listed(spans, len(rows)),
    )
    return Problem("line_break", message, column=column, line=int(table.lines[rows[0]]), count=len(rows))


def rows_over_lines(table: Table) -> list[Message]:
    """The rows that run over several lines, in words; free text may do that, but so does a missing quote."""
    found: Counter[int] = Counter()
    for array in table.arrays if table.may_span_lines else ():
        rows, counts = line_breaks(array)
        found.update(dict(zip(rows.tolist(), counts.tolist(), strict=True)))
    return [line_range(int(table.lines[row]), int(table.lines[row]) + many) for row, many in sorted(found.items())]


def repeated_ids(table: Table, column: str, found: np.ndarray, counts: np.ndarray) -> Problem:
    """The problem of ids that are there several times. ``found`` is the known id of each row, ``counts`` how often each
    one was found."""
    ids = table.column(column)
    _, firsts = np.unique(found, return_index=True)
    again = np.setdiff1d(np.flatnonzero(found >= 0), firsts)
    names = []
    for row in again[:EXAMPLES]:
        first = int(table.lines[np.argmax(found == found[row])])
        name, line = shown(ids[int(row)].as_py()), int(table.lines[row])
        names.append(Message("{id} (line {line}, first on {first})", id=name, line=line, first=first))
    times = int((counts > 1).sum())
    lines_text = listed(names, len(again))
    message = Message.counted(
        times,
        "{count} id repeated: {ids}. Keep one row of it.",
        "{count} ids repeated: {ids}. Keep one row of each.",
        ids=lines_text,
    )
    row = int(again[0])
    return Problem("repeated_ids", message, column, int(table.lines[row]), ids[row].as_py(), times)


def on_line(text: str, line: int) -> Message:
    """An id and its line, in words."""
    return Message("{id} (line {line})", id=shown(text), line=int(line))


def likely_id(known: list[str], text: str) -> Message | None:
    """A message about the known id that a text was probably meant to be, or about odd characters; else None."""
    for says, same in _TWINS:
        wanted = same(text)
        if wanted is None:
            continue
        twin = next((other for other in known if same(other) == wanted), None)
        if twin is not None:
            return Message(says, found=shown(text), expected=shown(twin))
    if (first := first_cell(text)) != text and first in known:
        return other_separator(text)
    if any(_is_odd(character) for character in text):
        return Message("The id {id} holds invisible or unusual characters.", id=shown(text))
    return None


def _is_odd(character: str) -> bool:
    return unicodedata.category(character) in ("Cf", "Cc", "Co", "Cn")


def _number(text: str) -> float | None:
    if re.fullmatch(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?", text):
        return float(text)
    return None


_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?")


def _date_numbers(text: str) -> object:
    """The numbers of a date in an order that does not depend on its format; ``None`` for other texts."""
    if not _DATE.fullmatch(text):
        return None
    day, *rest = (list(map(int, re.findall(r"\d+", part))) for part in re.split("[T ]", text, maxsplit=1))
    numbers = [number for part in rest for number in part]
    while numbers and not numbers[-1]:
        numbers.pop()
    return sorted(day), numbers


def _long_number(text: str) -> float | None:
    """A number with more digits than a float holds, rounded to a float; ``None`` for other texts."""
    digits = re.sub(r"\D", "", text)
    return _number(text) if len(digits) > 15 else None


_TWINS = (
    (
        Message("Leading zeros differ: the file has {found}, expected {expected}."),
        lambda text: re.sub(r"(?<![0-9])0+(?=[0-9])", "", text),
    ),
    (
        Message("Upper and lower case differ: the file has {found}, expected {expected}."),
        str.casefold,
    ),
    (
        Message("Digits of a long number are lost (read the ids as text): the file has {found}, expected {expected}."),
        _long_number,
    ),
    (
        Message("Ids are compared as text, not as numbers: the file has {found}, expected {expected}."),
        _number,
    ),
    (
        Message("Ids are written as true and false: the file has {found}, expected {expected}."),
        lambda text: {"true": "1", "false": "0"}.get(text.casefold(), text),
    ),
    (
        Message(
            "Dates are written in another way, and ids are compared as text: the file has {found}, expected {expected}."
        ),
        _date_numbers,
    ),
    (
        Message("Invisible characters differ: the file has {found}, expected {expected}."),
        lambda text: "".join(character for character in text if not _is_odd(character)),
    ),
    (
        Message("The same letters are written with other code points: the file has {found}, expected {expected}."),
        lambda text: unicodedata.normalize("NFKC", text),
    ),
    (
        Message("Letters of another alphabet look alike: the file has {found}, expected {expected}."),
        lambda text: text.translate(LATIN_LOOKS),
    ),
)
