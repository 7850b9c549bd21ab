"""Numbers with a point between thousands, as German, Italian or Spanish programs write them: ``1.010`` for 1010.

Readers take a point for decimal. One number cannot tell, but a column can: programs write ``1.010`` for a fraction only
where all numbers have three decimals, and ``1.234.567`` never.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import Problem, shown
from ..core.messages import Message, Plural
from .columns import Cells
from .tables import is_text, pick, raw_cells

_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")
_BARE = re.compile(r"[+-]?[0-9]+")
_TRIED = 20
_CHECKED = 1000
_POINT, _ZERO = ord("."), ord("0")

READ_AS_DECIMAL = Plural(
    "{count} value of {column} has a point in front of three digits: {examples}. Points are decimal: 1.010 is read as "
    "1.01. For thousands write 1010.",
    "{count} values of {column} have a point in front of three digits: {examples}. Points are decimal: 1.010 is read "
    "as 1.01. For thousands write 1010.",
)
_READ_AS_DECIMAL = Message(
    "Numbers of {column} have a point in front of three digits. Points are decimal: 1.010 is read as 1.01. For "
    "thousands write 1010."
)
_POINTS = Plural(
    "{count} value of {column} is written with a point between thousands (write 1010, not 1.010): {examples}.",
    "{count} values of {column} are written with a point between thousands (write 1010, not 1.010): {examples}.",
)


@dataclass(frozen=True)
class Grouped:
    """The places of numbers in a column that may have a point between thousands.

    ``all_have_points``: so a program may have written three decimals everywhere. ``has_small``: several numbers below
    1000 have none. ``is_sure``: and others end with a zero that no program writes behind a decimal point then.
    """

    places: np.ndarray
    all_have_points: bool
    has_small: bool
    is_sure: bool


def grouped_numbers(texts: Any, values: np.ndarray) -> Grouped | None:
    """The numbers that may have a point between thousands in an Arrow array with these values; ``None`` if a number of
    the column is no whole one with or without such points."""
    if not is_text(texts) or not all(map(_is_whole, texts[:_TRIED].to_pylist())):
        return None
    offsets, data = raw_cells(texts)
    points = np.count_nonzero(data[offsets[0] : offsets[-1]] == _POINT)
    if not points:
        return None
    ends = offsets[1:]
    long = np.flatnonzero(np.diff(offsets) > 4)
    places = long[data[ends[long] - 4] == _POINT]
    sizes = np.abs(values)
    bare = np.delete(sizes, places)
    is_fraction = len(places) < points or not ((sizes[places] >= 1) & (sizes[places] < 1000)).all()
    if is_fraction or (bare % 1).any() or not all(map(_is_whole, pick(texts, places[:_CHECKED]).to_pylist())):
        return None
    are_padded = bool((data[ends[places] - 1] == _ZERO).any())
    # A single other value may be a code for a missing one, as -999 is.
    has_small = len(np.unique(bare)) > 1 and bool((bare < 1000).all())
    return Grouped(places, not len(bare), has_small, are_padded and has_small)


def _is_whole(text: str) -> bool:
    return bool(_BARE.fullmatch(text) or _GROUPED.fullmatch(text))


def judge_thousands(cells: Cells, values: np.ndarray, sample: Callable[[], str]) -> None:
    """Look at a column of numbers, of which the sample submission has one: refuse points between thousands, warn of
    those that may be meant so, and note others that are read as decimal."""
    if cells.problems or (found := grouped_numbers(cells.values, values)) is None:
        return
    is_whole = "." not in sample()
    if found.is_sure and is_whole:
        cells.refuse("not_a_number", _POINTS, found.places)
    elif found.is_sure or is_whole:
        cells.warn("thousands", READ_AS_DECIMAL, found.places)
    else:  # no line is named, because finding the lines of a long file takes a while
        note = Message(_READ_AS_DECIMAL, column=shown(cells.column))
        cells.warnings.append(Problem("read_decimals", note, cells.column, count=len(found.places)))


def without_marks(texts: Iterable[str], mark: str) -> dict[str, str]:
    """Texts with points or commas between thousands, and the numbers that they mean, if the texts tell that they are no
    decimal ones.

    >>> without_marks(["1.010", "980", "90"], "."), without_marks(["1.010", "1.25"], ".")
    ({'1.010': '1010'}, {})
    """
    filled = [text for text in texts if text]
    grouped = [text for text in filled if _GROUPED.fullmatch(text.replace(mark, ".")) and mark in text]
    bare = [text for text in filled if _BARE.fullmatch(text)]
    is_grouped = any(text.count(mark) > 1 for text in grouped) or (
        len(bare) > 1 and any(text.endswith("0") for text in grouped) and all(abs(int(text)) < 1000 for text in bare)
    )
    if not is_grouped or len(grouped) + len(bare) < len(filled):
        return {}
    return {text: text.replace(mark, "") for text in grouped}
