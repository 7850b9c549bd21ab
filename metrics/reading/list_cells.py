"""Cells of frames and Parquet files that hold several values, and what is known of a table before it is read."""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from ..core.errors import Problem, Refused, shown
from ..core.messages import Message

_SCALARS = (str, numbers.Number, date, time, timedelta, np.bool_, np.datetime64, UUID, type(None))
"""Objects that a CSV file holds as a text that means the same."""


@dataclass(frozen=True)
class ListFormat:
    """How a metric reads several labels in one cell: the text between them (``None`` for white space), and whether
    their order counts."""

    separator: str | None
    are_ordered: bool


@dataclass(frozen=True)
class Wanted:
    """Facts about a frame or a Parquet file before it is read: the id column, the columns of a submission (empty for a
    truth), and how its cells may hold lists (``None``: not at all)."""

    id_column: str | None = None
    columns: Sequence[str] = ()
    lists: ListFormat | None = None


UNKNOWN = Wanted(lists=ListFormat(None, are_ordered=True))
"""Lists are joined where no metric is known yet."""


def is_nested(kind: Any) -> bool:
    """Whether cells of this Arrow type are lists, records or bytes."""
    import pyarrow.types as types

    return bool(
        types.is_nested(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
    )


_NESTED = Message("A cell of {column} is {kind}, in line {line}: {advice}")
_ONE_VALUE = Message("each cell needs one number or text.")
_DECODE = Message("decode it ({how}).", how="\"column.str.decode('utf-8')\"")
_NO_ORDER = Message("it has no order, and the best label comes first. Give a list.")
_EMPTY_ITEM = Message("one of its items is empty.")
_ITEM = Message(
    'its item {item} would be read as several or none. Set the parameter "separator" to a text that no item has.'
)


def joined_cells(cells: list[Any], column: str, lists: ListFormat | None) -> list[Any]:
    """The cells with lists, tuples, sets and arrays joined as the metric reads them; the same list if there are none.
    Raises ``Refused`` for cells whose text would mean something else."""
    kinds = set(map(type, cells))
    if all(issubclass(kind, _SCALARS) or kind.__module__.startswith("pandas.") for kind in kinds):
        return cells
    return [_text_of_cell(cell, row + 2, column, lists) for row, cell in enumerate(cells)]


def _text_of_cell(cell: Any, line: int, column: str, lists: ListFormat | None) -> Any:
    def refused(advice: str) -> Refused:
        kind = shown(type(cell).__qualname__)
        message = Message(_NESTED, column=shown(column), kind=kind, line=line, advice=advice)
        return Refused(Problem("nested_cells", message, column, line))

    if isinstance(cell, np.ndarray) and not cell.ndim:
        cell = cell[()]
    if isinstance(cell, bytes):
        raise refused(_DECODE)
    if _is_scalar(cell):
        return cell
    is_set = isinstance(cell, set | frozenset)
    items = list(cell) if is_set or isinstance(cell, list | tuple | np.ndarray) else None
    if items is None or lists is None or not all(map(_is_scalar, items)):
        raise refused(_ONE_VALUE)
    if is_set and lists.are_ordered:
        raise refused(_NO_ORDER)
    texts = [str(item).strip() for item in items]
    for item, text in zip(items, texts, strict=True):
        if item is None or item != item or not text:
            raise refused(_EMPTY_ITEM)
        if len(text.split(lists.separator)) > 1:
            raise refused(Message(_ITEM, item=shown(text)))
    return (lists.separator or " ").join(sorted(texts) if is_set else texts)


def _is_scalar(cell: Any) -> bool:
    is_pandas = type(cell).__module__.partition(".")[0] == "pandas" and not hasattr(cell, "__len__")
    return is_pandas or isinstance(cell, _SCALARS)
