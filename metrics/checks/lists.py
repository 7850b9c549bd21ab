"""Lists in the cells of answers: the separator that they have, and findings where a metric reads another one."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import shown
from ..core.messages import Message, Plural
from ..core.truth import Truth
from ..reading.columns import to_decimal
from ..reading.foreign import lists_among
from ..reading.headers import TRUTH_HEADER
from ..reading.label_kinds import Label, LabelSet
from ..reading.sources import Source, read_source
from ..reading.tables import csv_bytes, plain
from ..reading.text import LONGEST_MASK_LINE
from ..reading.writings import (
    SEPARATORS,
    Writing,
    WrittenList,
    items_joined_by_words,
    joining_words,
    read_list,
    writings_of,
)
from .findings import Finding, place_of, warning

SEPARATOR = "separator"
"""The parameter of metrics that read lists."""

WRAPPED_LISTS = "wrapped_lists"
"""The code of a finding that ``write_plain_lists`` cures."""

_MOST_CELLS = 20_000
_WORDS_OF_ITEM = 2
_FEW_CLASSES = 30
PLAIN = Writing()

_SET_SEPARATOR = Plural(
    "{count} cell of {column} is a list with {separators}, such as {example}. Set the parameter separator to {mark}.",
    "{count} cells of {column} are lists with {separators}, such as {example}. Set the parameter separator to {mark}.",
)
_OTHER_SEPARATOR = Plural(
    "{count} cell of {column} is a list with {separators}, such as {example}. Write {cure} as in the other rows.",
    "{count} cells of {column} are lists with {separators}, such as {example}. Write {cure} as in the other rows.",
)
_WRITE_PLAINLY = Plural(
    "{count} cell of {column} is a list {writing}, such as {example}. Write {cure}.",
    "{count} cells of {column} are lists {writing}, such as {example}. Write {cure}.",
)
_JOINED_BY_WORDS = Plural(
    "{count} cell of {column} has a word or mark between labels, such as {example}, and is read with other labels. "
    "Write {cure}.",
    "{count} cells of {column} have words or marks between labels, such as {example}, and are read with other labels. "
    "Write {cure}.",
)
_LISTS_AS_LABELS = Plural(
    "{count} cell of {column} looks like a list, such as {example}, and is scored as one label.",
    "{count} cells of {column} look like lists, such as {example}, and each is scored as one label.",
)
_WHY_AS_LABELS = Message("Multi-label F1 and MAP@k score the labels of a list.")
_DECIMAL_LABELS = Plural(
    "{count} label of {column} is written as a decimal, such as {example}. Write {cure}.",
    "{count} labels of {column} are written as decimals, such as {example}. Write {cure}.",
)
_WHY_DECIMAL = Message("Students read class numbers as whole numbers, and labels may be compared as text.")
_DECIMAL = re.compile(r"[+-]?[0-9]+\.0*")
_ZEROS = re.compile(r"(?<=[0-9])\.0*(?![0-9])")
_WHY = Message("Each cell would be cut at other places than you mean, and no student could be right.")


def is_wrapped(writing: Writing | None) -> bool:
    """Whether lists are in brackets or quotes, which no metric reads."""
    return writing is not None and bool(writing.brackets or writing.quoted)


def writing_of_lists(cells: Sequence[str]) -> Writing | None:
    """The writing of most cells that hold several labels; ``None`` if it is white space, or if cells are no lists.

    >>> writing_of_lists(["cat, dog", "cat", "dog, bird"])
    Writing(separator=',', brackets='', quoted=False)
    >>> writing_of_lists(["A good day, and a long one.", "Nothing, as I have said before."]) is None
    True
    """
    filled = [cell for cell in cells[:_MOST_CELLS] if cell]
    found = writings_of(filled)
    writing, count = found.most_common(1)[0] if found else (PLAIN, 0)
    if writing == PLAIN or 2 * count <= found.total():
        return None
    read = [one for one in map(read_list, filled) if one.writing == writing]
    return writing if is_wrapped(writing) or _are_labels(filled, read) else None


def _are_labels(filled: Sequence[str], read: Sequence[WrittenList]) -> bool:
    """Whether what stands between separators are labels: short, not prose, and not parts of a few names of classes."""
    items = [item for one in read for item in one.items]
    if sum(len(item.split()) for item in items) > _WORDS_OF_ITEM * len(items):
        return False
    alone = {cell for cell in filled if len(read_list(cell).items) == 1}
    is_class = len({*filled}) <= _FEW_CLASSES and 10 * len({*filled}) <= len(filled)
    return not is_class or len({len(one.items) for one in read}) > 1 or not alone.isdisjoint(items)


def plain_cell(cell: str, separator: str | None = None) -> str:
    """A list without brackets and quotes, with this ``separator``, else white space, else semicolons.

    >>> plain_cell("['cat', 'big dog']"), plain_cell("[0, 1]"), plain_cell("[0, 1]", ",")
    ('cat;big dog', '0 1', '0,1')
    """
    items = read_list(cell).items
    return (separator or (";" if any(" " in item for item in items) else " ")).join(items)


def list_findings(truth: Truth) -> Iterator[Finding]:
    """Findings about lists that the metric does not read as they are written, and about labels such as ``10.0``."""
    if not isinstance(truth.metric.truth, Label | LabelSet):
        return
    for name in truth.target_columns:
        encoded = truth.table.column(name).dictionary_encode()
        cells = encoded.dictionary.to_pylist()[:_MOST_CELLS]
        of_row = plain(encoded.indices, np.int32)
        yield from _list_findings(truth, name, cells, of_row)
        yield from _decimal_labels(truth, name, cells, of_row)


def _rows_with(places: Sequence[int], of_row: np.ndarray) -> np.ndarray:
    """The rows that have some of the distinct cells; ``of_row`` is the cell of each row."""
    return np.flatnonzero(np.isin(of_row, places))


def _list_findings(truth: Truth, name: str, cells: Sequence[str], of_row: np.ndarray) -> Iterator[Finding]:
    if SEPARATOR not in truth.params:
        if writing_of_lists(truth.table.column(name).slice(0, _MOST_CELLS).to_pylist()) is not None:
            written = [code for code, cell in enumerate(cells) if read_list(cell).writing != PLAIN]
            rows, example = _rows_with(written, of_row), shown(cells[written[0]])
            message = Message.counted(len(rows), *_LISTS_AS_LABELS, column=shown(name), example=example)
            yield warning("lists_as_labels", message, _WHY_AS_LABELS, name, place_of(truth, rows[0]))
        return
    separator = truth.params[SEPARATOR] or None
    yield from _joined_by_words(truth, name, cells, of_row)
    if codes := [code for code, cell in enumerate(cells) if _is_foreign(cell, separator)]:
        others = sum(len(cell.split(separator)) > 1 for cell in cells) - len(codes)
        lists = [cells[code] for code in codes]
        yield _finding_of_lists(truth, name, _rows_with(codes, of_row), lists, separator, are_most=len(lists) > others)


def _joined_by_words(truth: Truth, name: str, cells: Sequence[str], of_row: np.ndarray) -> Iterator[Finding]:
    """A warning if words such as "and", or marks, join labels."""
    separator = truth.params[SEPARATOR] or None
    lists = [list(map(str.strip, cell.split(separator))) for cell in cells]
    if separator is None:
        words = joining_words(lists)
        lone = [[item for item in items if item not in words] for items in lists]
        labels = list({item for items in lone for item in items})
        parted = {labels[place]: fault.cured or "" for place, fault in lists_among(labels, None).items()}
        plain_lists = [[parted.get(item, item) for item in items] for items in lone]
    else:
        known = {item for items in lists for item in items}
        plain_lists = [[part for item in items for part in _known_parts(item, known)] for items in lists]
    differ = [code for code, items in enumerate(lists) if items != plain_lists[code]]
    if codes := [code for code in differ if not _is_foreign(cells[code], separator)]:
        rows, cure = _rows_with(codes, of_row), (separator or " ").join(plain_lists[codes[0]])
        facts = {"column": shown(name), "example": shown(cells[codes[0]]), "cure": shown(cure)}
        message = Message.counted(len(rows), *_JOINED_BY_WORDS, **facts)
        yield warning("joined_lists", message, _WHY, name, place_of(truth, rows[0]))


def _known_parts(item: str, known: Collection[str]) -> list[str]:
    """The parts of an item that words join, if each is an item elsewhere."""
    parts = items_joined_by_words(item)
    return parts if all(part in known for part in parts) else [item]


def _decimal_labels(truth: Truth, name: str, cells: Sequence[str], of_row: np.ndarray) -> Iterator[Finding]:
    """A warning if labels are numbers with ``.0``, as pandas writes whole numbers beside a missing one."""
    separator = truth.params.get(SEPARATOR) or None
    is_list = SEPARATOR in truth.params
    labels = [cell.split(separator) if is_list else [cell] for cell in cells]
    codes = [code for code, found in enumerate(labels) if any(map(_DECIMAL.fullmatch, map(str.strip, found)))]
    if codes and all(to_decimal(label.strip()) is not None for found in labels for label in found if label.strip()):
        rows, example = _rows_with(codes, of_row), cells[codes[0]]
        cure = _ZEROS.sub("", example)
        message = Message.counted(
            len(rows), *_DECIMAL_LABELS, column=shown(name), example=shown(example), cure=shown(cure)
        )
        yield warning("labels_like_decimals", message, _WHY_DECIMAL, name, place_of(truth, rows[0]))


def _is_foreign(cell: str, separator: str | None) -> bool:
    writing = read_list(cell).writing
    if is_wrapped(writing):
        return True
    return writing.separator not in (None, separator) and (separator is None or separator not in cell)


def _finding_of_lists(
    truth: Truth, column: str, rows: np.ndarray, lists: Sequence[str], separator: str | None, *, are_most: bool
) -> Finding:
    writing = writings_of(lists).most_common(1)[0][0]
    example = next(cell for cell in lists if read_list(cell).writing == writing)
    facts: dict[str, Any] = {"column": shown(column), "example": shown(example)}
    if is_wrapped(writing):
        words = _WRITE_PLAINLY
        facts |= {"writing": writing.words, "cure": shown(plain_cell(example, separator))}
    else:
        words = _SET_SEPARATOR if are_most else _OTHER_SEPARATOR
        mark = writing.separator or ""
        facts |= {"separators": SEPARATORS[mark], "mark": shown(mark), "cure": shown(plain_cell(example, separator))}
    message = Message.counted(len(rows), *words, **facts)
    code = WRAPPED_LISTS if is_wrapped(writing) else "list_separator"
    return replace(
        warning(code, message, _WHY, column, place_of(truth, rows[0])), blocking=is_wrapped(writing) and are_most
    )


def write_plain_lists(truth: Source, columns: Collection[str]) -> bytes:
    """The truth's CSV text with the lists of these columns without brackets and quotes, with white space between the
    labels, or semicolons if a label holds white space."""
    table = read_source(truth, TRUTH_HEADER, longest_line=LONGEST_MASK_LINE)
    cells = {name: table.column(name).to_pylist() for name in table.names}
    for name in columns:
        lists = [read_list(cell).items for cell in cells[name]]
        between = ";" if any(" " in item for items in lists for item in items) else " "
        cells[name] = [between.join(items) for items in lists]
    return csv_bytes(table.names, zip(*cells.values(), strict=True))
