"""A few cells that are no numbers among numbers, or empty ones: a typing error, or an answer that somebody forgot, must
not make labels or texts of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import shown
from ..core.messages import EXAMPLES, Message, listed
from ..reading.columns import Cells
from ..reading.numbers import read_numbers
from ..reading.tables import Table

MOST_COLUMNS = 50
_FEW = 30
_RARE_AMONG_FEW = 0.01
_RARE_AMONG_MANY = _RARE_EMPTY = 0.1
"""Up to which share of the cells other texts are strays. Few different numbers may be names of classes, of which a
text can be a rare one; nobody calls classes by many different numbers."""


@dataclass(frozen=True)
class Strays:
    """Rows of a table with such cells (``places``, ascending) and what they are, as a host reads it."""

    places: np.ndarray
    words: str


def strays_of(table: Table, names: Sequence[str], id_column: str) -> Strays | None:
    """The strays of all these columns, ``None`` without any. Many empty cells are none: they may be what is meant."""
    rows: list[int] = []
    examples: list[str] = []
    for name in names[:MOST_COLUMNS]:
        cells = Cells(table, name, id_column)
        places = _strays(cells)
        rows += places.tolist()
        for place in places[:EXAMPLES]:
            line, text = int(table.lines[place]), cells.text(place)
            value = shown(text) if text else Message("empty")
            examples.append(
                Message("line {line} of {column} is {value}", line=line, column=shown(name), value=value)
                if len(names) > 1
                else Message("line {line} is {value}", line=line, value=value)
            )
    if not rows:
        return None
    told = listed(examples, len(rows))
    words = Message.counted(len(rows), "{count} cell ({examples})", "{count} cells ({examples})", examples=told)
    return Strays(np.unique(rows), words)


def _strays(cells: Cells) -> np.ndarray:
    numbers = read_numbers(cells)
    is_none = np.isnan(numbers)
    blank = cells.blank()
    is_none[blank] = False
    count, filled = int(is_none.sum()), len(numbers) - len(blank)
    distinct = len(np.unique(numbers[~np.isnan(numbers)])) if count else 0
    most = _RARE_AMONG_FEW if distinct <= _FEW else _RARE_AMONG_MANY
    if count > max(1, most * filled) or filled < 10 * count:
        is_none[:] = False
    is_none[blank] = len(blank) <= _RARE_EMPTY * filled
    found: np.ndarray = np.flatnonzero(is_none)
    return found
