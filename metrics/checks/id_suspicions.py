"""Warnings about the ids of a truth: writings that programs change, lookalikes, rows that a quote has swallowed."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from ..core.errors import shown
from ..core.messages import EXAMPLES, Message, Plural, listed
from ..core.truth import Truth
from ..reading.column_names import NUMBER
from ..reading.header_problems import is_index
from ..reading.id_problems import rows_over_lines
from .findings import Finding, place_of, warning

MAX_COMPARED = 200_000
"""The most texts among which lookalikes are searched."""


def id_suspicions(truth: Truth) -> Iterator[Finding]:
    """All warnings about the ids of a truth that the metric can read."""
    for look in (_header_like_row, _index_columns, _ids_that_change, _similar_ids, _swallowed_rows):
        yield from look(truth)


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


def _ids_that_change(truth: Truth) -> Iterator[Finding]:
    """Ids that common programs change when they read and write a file."""
    import pyarrow.compute as pc

    for code, pattern, words, why in _CHANGING:
        matches = pc.match_substring_regex(truth.ids.array, pattern)
        if count := pc.sum(matches).as_py() or 0:
            place = place_of(truth, pc.index(matches, True).as_py())
            message = Message.counted(count, *words, example=shown(place[1]))
            yield warning(code, message, why, truth.id_column, place)


def _header_like_row(truth: Truth) -> Iterator[Finding]:
    """Warnings about a header that may be a row: its id cell looks like an id and another cell is one of the answers,
    or the only target column is named by a number. (A column `spam` may hold `spam` and `ham`.)"""
    import pyarrow.compute as pc

    first: str = truth.ids.array[0].as_py() if truth.rows else ""
    is_like_an_id = _DIGITS.sub("0", first) == _DIGITS.sub("0", truth.id_column)
    why = Message(
        "Are the names of the columns missing? Then the first row is lost, and students would write it as their header."
    )
    for name in truth.target_columns:
        is_answer = is_like_an_id and pc.any(pc.equal(truth.table.column(name), name)).as_py()
        if is_answer or (len(truth.target_columns) == 1 and NUMBER.fullmatch(name)):
            message = Message("The column {column} is called like an answer.", column=shown(name))
            yield warning("header_like_row", message, why, name, (1, None))


_IDS_IN_INDEX = Message('The ids are in {column}, which looks like an exported index: write with "index=False".')
_ANSWERS_IN_INDEX = Message(
    'The answers are in {column}, which looks like an exported index: write with "index=False".'
)


def _index_columns(truth: Truth) -> Iterator[Finding]:
    """Warnings about ids or answers in a column that looks like pandas' index."""
    for name in (truth.id_column, *truth.target_columns):
        if is_index(name):
            form = _IDS_IN_INDEX if name == truth.id_column else _ANSWERS_IN_INDEX
            message = Message(form, column=shown(name))
            why = Message("Row numbers would be asked for, or predicted, in place of what the file is about.")
            yield warning("index_column", message, why, name)


def _similar_ids(truth: Truth) -> Iterator[Finding]:
    """A warning about ids that look the same to a reader."""
    pairs = look_alikes(truth.ids.texts) if truth.rows <= MAX_COMPARED else []
    if pairs:
        message = Message.counted(
            len(pairs),
            "{count} pair of ids that look alike: {examples}.",
            "{count} pairs of ids that look alike: {examples}.",
            examples=in_pairs(pairs),
        )
        why = Message("Ids are compared as text, so these are different rows, and students will confuse them.")
        yield warning("similar_ids", message, why, truth.id_column, (None, pairs[0][1]))


_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")


def look_alikes(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different texts that look the same to a reader.

    >>> look_alikes(["01", "Cat", "1", "cat", "dog"])
    [('01', '1'), ('Cat', 'cat')]
    """
    first: dict[str, str] = {}
    found = []
    for text in texts:
        visible = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Cc"))
        seen = " ".join(unicodedata.normalize("NFKC", visible).casefold().split())
        seen = _LEADING_ZEROS.sub("", seen)
        twin = first.setdefault(seen, text)
        if twin != text:
            found.append((twin, text))
    return found


def in_pairs(pairs: Sequence[tuple[str, str]]) -> Message:
    """The first pairs in words."""
    examples = [Message("{one} and {other}", one=shown(one), other=shown(other)) for one, other in pairs[:EXAMPLES]]
    return listed(examples, len(pairs))


def _swallowed_rows(truth: Truth) -> Iterator[Finding]:
    """A warning about free text over several lines with as many commas as a row: a quote may be missing."""
    width = len(truth.table.names) - 1
    for name in truth.target_columns if rows_over_lines(truth.table) else ():
        for row, text in enumerate(truth.table.column(name).to_pylist()):
            if "\n" in text and any(line.count(",") >= width for line in text.split("\n")):
                message = Message(
                    "A cell of {column} runs over lines that look like rows of their own.", column=shown(name)
                )
                why = Message("Where a quote is missing, the rows behind it become text, and nobody is asked for them.")
                yield warning("swallowed_rows", message, why, name, place_of(truth, row))
                return
