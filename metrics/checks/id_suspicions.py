"""Warnings about ids: a row in place of the header, ids that programs change, lookalikes, swallowed rows, groups in
both splits. They never block publication."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import shown
from ..core.messages import EXAMPLES, Message, Plural, listed
from ..core.truth import Truth
from ..reading.headers import NUMBER, SPLITS, is_index
from ..reading.ids import spanning


@dataclass(frozen=True)
class Finding:
    """One result of a check; ``blocking`` ones forbid publication, and ``why`` says what would go wrong."""

    code: str
    message: str
    column: str | None = None
    line: int | None = None
    id: str | None = None
    count: int = 1
    blocking: bool = True
    why: str = ""


MOST_COMPARED = 200_000
"""The most texts among which lookalikes are searched."""

_DIGITS = re.compile("[0-9]+")
_CHANGING = (
    (
        "leading_zeros",
        r"^0[0-9]+$",
        Plural(
            "{count} id with leading zeros, such as {example}.", "{count} ids with leading zeros, such as {example}."
        ),
        Message("Spreadsheets and pandas drop the zeros; students must read the id column as text."),
    ),
    (
        "ids_like_decimals",
        r"^[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9.]+[eE][+-]?[0-9]+|\+[0-9]+)$",
        Plural(
            "{count} id that looks like a decimal number, such as {example}.",
            "{count} ids that look like decimal numbers, such as {example}.",
        ),
        Message("Spreadsheets and pandas write them in another way (1.50 becomes 1.5), and ids are compared as text."),
    ),
    (
        "long_ids",
        r"^-?[1-9][0-9]{15,}$",
        Plural(
            "{count} id with more than 15 digits, such as {example}.",
            "{count} ids with more than 15 digits, such as {example}.",
        ),
        Message(
            "Spreadsheets, JavaScript and pandas with a blank cell round them; students must read the column as text."
        ),
    ),
    (
        "ids_like_dates",
        r"^[0-9]{1,4}([-/.])[0-9]{1,2}[-/.][0-9]{1,4}([T ].*)?$",
        Plural(
            "{count} id that looks like a date, such as {example}.",
            "{count} ids that look like dates, such as {example}.",
        ),
        Message("Spreadsheets and pandas write dates in another way, and ids are compared as text."),
    ),
    (
        "ids_like_nothing",
        r"^(?i:na|n/a|nan|null|none|nil|<na>|true|false)$",
        Plural(
            "{count} id that programs read as no value or as true and false, such as {example}.",
            "{count} ids that programs read as no value or as true and false, such as {example}.",
        ),
        Message("pandas reads them as missing or as truth values unless keep_default_na is off."),
    ),
)


def ids_that_change(truth: Truth) -> list[Finding]:
    """Ids that common programs change when they read and write a file."""
    import pyarrow.compute as pc

    found = []
    for code, pattern, words, why in _CHANGING:
        matches = pc.match_substring_regex(truth.ids.array, pattern)
        count = pc.sum(matches).as_py() or 0
        if count:
            line, name = line_and_id(truth, pc.index(matches, True).as_py())
            message = Message.counted(count, *words, example=shown(name))
            found.append(Finding(code, message, truth.id_column, line, name, count, False, why))
    return found


def header_like_row(truth: Truth) -> list[Finding]:
    """Warnings about a header that may be a row: its id cell looks like an id and another cell is one of the answers,
    or the only target column is named by a number. (A column `spam` may hold `spam` and `ham`.)"""
    import pyarrow.compute as pc

    first: str = truth.ids.array[0].as_py() if truth.rows else ""
    is_like_an_id = _DIGITS.sub("0", first) == _DIGITS.sub("0", truth.id_column)
    why = Message(
        "Are the names of the columns missing? Then the first row is lost, and students would write it as their header."
    )
    found = []
    for name in truth.target_columns:
        is_answer = is_like_an_id and pc.any(pc.equal(truth.table.column(name), name)).as_py()
        if is_answer or (len(truth.target_columns) == 1 and NUMBER.fullmatch(name)):
            message = Message("The column {column} is called like an answer.", column=shown(name))
            found.append(Finding("header_like_row", message, name, 1, blocking=False, why=why))
    return found


_IDS_IN_INDEX = Message('The ids are in {column}, which looks like an exported index: write with "index=False".')
_ANSWERS_IN_INDEX = Message(
    'The answers are in {column}, which looks like an exported index: write with "index=False".'
)


def index_columns(truth: Truth) -> list[Finding]:
    """Warnings about ids or answers in a column that looks like pandas' index."""
    found = []
    for name in (truth.id_column, *truth.target_columns):
        if is_index(name):
            form = _IDS_IN_INDEX if name == truth.id_column else _ANSWERS_IN_INDEX
            message = Message(form, column=shown(name))
            why = Message("Row numbers would be asked for, or predicted, in place of what the file is about.")
            found.append(Finding("index_column", message, name, blocking=False, why=why))
    return found


def twins(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different texts that look the same to a reader."""
    first: dict[str, str] = {}
    found = []
    for text in texts:
        visible = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Cc"))
        seen = " ".join(unicodedata.normalize("NFKC", visible).casefold().split())
        twin = first.setdefault(seen, text)
        if twin != text:
            found.append((twin, text))
    return found


def in_pairs(pairs: Sequence[tuple[str, str]]) -> Message:
    """The first pairs in words."""
    examples = [Message("{one} and {other}", one=shown(one), other=shown(other)) for one, other in pairs[:EXAMPLES]]
    return listed(examples, len(pairs))


def similar_ids(truth: Truth) -> list[Finding]:
    """A warning about ids that look the same to a reader."""
    if truth.rows > MOST_COMPARED:
        return []
    pairs = twins(truth.ids.texts)
    if not pairs:
        return []
    message = Message.counted(
        len(pairs),
        "{count} pair of ids that look alike: {examples}.",
        "{count} pairs of ids that look alike: {examples}.",
        examples=in_pairs(pairs),
    )
    why = Message("Ids are compared as text, so these are different rows, and students will confuse them.")
    return [Finding("similar_ids", message, truth.id_column, None, pairs[0][1], len(pairs), False, why)]


def swallowed_rows(truth: Truth) -> list[Finding]:
    """A warning about free text over several lines with as many commas as a row: a quote may be missing."""
    width = len(truth.table.names) - 1
    for name in truth.target_columns:
        array = truth.table.column(name)
        for row, text in enumerate(array.to_pylist() if spanning(truth.table) else []):
            if "\n" in text and any(line.count(",") >= width for line in text.split("\n")):
                line, id_text = line_and_id(truth, row)
                message = Message(
                    "A cell of {column} runs over lines that look like rows of their own.", column=shown(name)
                )
                why = Message("Where a quote is missing, the rows behind it become text, and nobody is asked for them.")
                return [Finding("swallowed_rows", message, name, line, id_text, blocking=False, why=why)]
    return []


def split_groups(groups: Sequence[str], parts: Sequence[str], column: str) -> list[Finding]:
    """A warning about groups with rows in both splits; ``parts`` are the cells of ``Usage``."""
    seen: dict[str, set[str]] = {}
    for group, part in zip(groups, parts, strict=True):
        if part.casefold() in SPLITS[:2]:
            seen.setdefault(group, set()).add(part.casefold())
    both = sorted(group for group, where in seen.items() if len(where) > 1)
    if not both:
        return []
    message = Message.counted(
        len(both),
        "{count} group of {column} (of {total}) in both parts: {groups}.",
        "{count} groups of {column} (of {total}) in both parts: {groups}.",
        column=shown(column),
        total=len(seen),
        groups=listed([shown(group) for group in both[:EXAMPLES]], len(both)),
    )
    why = Message("What the public score tells about a group helps on its private rows. Split by group.")
    return [Finding("group_in_both_parts", message, column, count=len(both), blocking=False, why=why)]


def line_and_id(truth: Truth, row: int) -> tuple[int, str]:
    """The line and the id of a row of the truth."""
    return int(truth.table.lines[row]), truth.ids.array[row].as_py()
