"""Ids that programs change, that look alike or that swallow rows; groups in both parts. Nothing here blocks."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from metrics._errors import counted, listed, shown
from metrics._findings import Finding
from metrics._headers import is_index
from metrics._ids import spanning
from metrics._layout import SPLITS
from metrics._sentences import EXAMPLES
from metrics._truth import Truth

MOST_COMPARED = 200_000
"""Texts of which all pairs that look alike are sought."""

_CHANGING = (
    (
        "leading_zeros",
        r"^0[0-9]+$",
        "with leading zeros",
        "Spreadsheets and pandas drop the zeros; students must read the id column as text.",
    ),
    (
        "ids_like_decimals",
        r"^[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9.]+[eE][+-]?[0-9]+|\+[0-9]+)$",
        "that look like decimal numbers",
        "Spreadsheets and pandas write them in another way (1.50 becomes 1.5), and ids are compared as text.",
    ),
    (
        "long_ids",
        r"^-?[1-9][0-9]{15,}$",
        "with more than 15 digits",
        "Spreadsheets, JavaScript and pandas with a blank cell round them; students must read the column as text.",
    ),
    (
        "ids_like_dates",
        r"^[0-9]{1,4}([-/.])[0-9]{1,2}[-/.][0-9]{1,4}([T ].*)?$",
        "that look like dates",
        "Spreadsheets and pandas write dates in another way, and ids are compared as text.",
    ),
    (
        "ids_like_nothing",
        r"^(?i:na|n/a|nan|null|none|nil|<na>|true|false)$",
        "that programs read as no value or as true and false",
        "pandas reads them as missing or as truth values unless keep_default_na is off.",
    ),
)


def ids_that_change(truth: Truth) -> list[Finding]:
    """Ids that common programs change when they read and write a file."""
    import pyarrow.compute as pc

    found = []
    for code, pattern, what, why in _CHANGING:
        matches = pc.match_substring_regex(truth.ids.array, pattern)
        count = pc.sum(matches).as_py() or 0
        if count:
            line, name = line_and_id(truth, pc.index(matches, True).as_py())
            message = f"{counted(count, 'id')} {what}, such as {shown(name)}."
            found.append(Finding(code, message, truth.id_column, line, name, count, False, why))
    return found


def index_columns(truth: Truth) -> list[Finding]:
    """Ids or answers in a column that pandas calls its index."""
    found = []
    for name in (truth.id_column, *truth.target_columns):
        if is_index(name):
            what = "ids" if name == truth.id_column else "answers"
            message = f'The {what} are in {shown(name)}, which looks like an exported index: write with "index=False".'
            why = "Row numbers would be asked for, or predicted, in place of what the file is about."
            found.append(Finding("index_column", message, name, blocking=False, why=why))
    return found


def same_letters(text: str) -> str:
    """What a reader sees of a text, case apart."""
    visible = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", visible).casefold().split())


def twins(texts: Sequence[str], same: Callable[[str], str]) -> list[tuple[str, str]]:
    """Pairs of different texts that a reader takes for one."""
    first: dict[str, str] = {}
    found = []
    for text in texts:
        twin = first.setdefault(same(text), text)
        if twin != text:
            found.append((twin, text))
    return found


def similar_ids(truth: Truth) -> list[Finding]:
    """Ids that a reader takes for one another."""
    if truth.rows > MOST_COMPARED:
        return []
    pairs = twins(truth.ids.texts, same_letters)
    if not pairs:
        return []
    examples = [f"{shown(one)} and {shown(other)}" for one, other in pairs[:EXAMPLES]]
    message = f"{counted(len(pairs), 'pair')} of ids that look alike: {listed(examples, len(pairs))}."
    why = "Ids are compared as text, so these are different rows, and students will confuse them."
    return [Finding("similar_ids", message, truth.id_column, None, pairs[0][1], len(pairs), False, why)]


def swallowed_rows(truth: Truth) -> list[Finding]:
    """Free text over several lines that hold as many commas as a row: a quote may be missing."""
    width = len(truth.table.names) - 1
    for name in truth.target_columns:
        array = truth.table.column(name)
        for row, text in enumerate(array.to_pylist() if spanning(truth.table) else []):
            if "\n" in text and any(line.count(",") >= width for line in text.split("\n")):
                line, id_text = line_and_id(truth, row)
                message = f"A cell of {shown(name)} runs over lines that look like rows of their own."
                why = "Where a quote is missing, the rows behind it become text, and nobody is asked for them."
                return [Finding("swallowed_rows", message, name, line, id_text, blocking=False, why=why)]
    return []


def split_groups(groups: Sequence[str], parts: Sequence[str], column: str) -> list[Finding]:
    """Groups with rows in both parts; ``parts`` are the words of ``Usage``."""
    seen: dict[str, set[str]] = {}
    for group, part in zip(groups, parts, strict=True):
        if part.casefold() in SPLITS[:2]:
            seen.setdefault(group, set()).add(part.casefold())
    both = sorted(group for group, where in seen.items() if len(where) > 1)
    if not both:
        return []
    message = (
        f"{counted(len(both), 'group')} of {shown(column)} (of {len(seen):,}) in both parts: "
        f"{listed([shown(group) for group in both[:EXAMPLES]], len(both))}."
    )
    why = "What the public score tells about a group helps on its private rows. Split by group."
    return [Finding("group_in_both_parts", message, column, count=len(both), blocking=False, why=why)]


def line_and_id(truth: Truth, row: int) -> tuple[int, str]:
    """Where a row of the file is."""
    return int(truth.table.lines[row]), truth.ids.array[row].as_py()
