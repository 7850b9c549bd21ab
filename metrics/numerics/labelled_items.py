"""Labelled boxes and labelled points in one cell: ``label x y width height …`` and ``label x y …``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random as Dice
from typing import Any

import numpy as np

from ..core.arrays import Coded
from ..core.messages import Message, Plural
from ..reading.columns import GRAMMAR, Cells, Kind
from ..reading.text import LONGEST_MASK_LINE

LARGEST = 1e9
"""No coordinate may be larger."""

Item = tuple[str, tuple[float, ...]]
"""A label with its numbers."""

_NUMBER = re.compile(GRAMMAR)
_NOT_BOXES = Plural(
    '{count} value of {column} is not "label x y width height …" in plain numbers, with sides above 0: {examples}.',
    '{count} values of {column} are not "label x y width height …" in plain numbers, with sides above 0: {examples}.',
)
_NOT_POINTS = Plural(
    '{count} value of {column} is not "label x y …" in plain numbers: {examples}.',
    '{count} values of {column} are not "label x y …" in plain numbers: {examples}.',
)


def items_of(cell: str, numbers: int) -> list[Item] | None:
    """The labels of a cell, each with so many numbers; ``None`` where it is made of something else."""
    words, width = cell.split(), numbers + 1
    if len(words) % width:
        return None
    found = []
    for start in range(0, len(words), width):
        texts = words[start + 1 : start + width]
        if not all(map(_NUMBER.fullmatch, texts)):
            return None
        values = tuple(map(float, texts))
        if not all(abs(value) <= LARGEST for value in values):
            return None
        found.append((words[start], values))
    return found


class LabelledBoxes(Kind):
    """Any number of boxes, each with its label before it; empty means none."""

    words = Message("labelled boxes")
    longest_line = LONGEST_MASK_LINE
    numbers = 4

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        coded = cells.coded()
        wrong = np.array([self._is_wrong(items) for items in coded.map(items_of, self.numbers).values], bool)
        if len(places := np.flatnonzero(wrong[coded.codes]) if len(wrong) else wrong):
            cells.refuse("not_labelled", _NOT_BOXES if self.numbers == 4 else _NOT_POINTS, places)
        return coded

    def _is_wrong(self, items: list[Item] | None) -> bool:
        return items is None or any(min(sides, default=1.0) <= 0 for _, (_, _, *sides) in items)

    def sample(self, truth: Any) -> str:
        return ""

    def random(self, dice: Dice, width: int, truth: Any = None) -> list[str]:
        return [" ".join(self._item(dice) for _ in range(dice.randint(0, 4))) for _ in range(width)]

    def _item(self, dice: Dice) -> str:
        place = f"{dice.choice('ab')} {dice.randint(0, 5)} {dice.randint(0, 5)}"
        return f"{place} {dice.randint(1, 5)} {dice.randint(1, 5)}" if self.numbers == 4 else place


class LabelledPoints(LabelledBoxes):
    """Any number of points, each with its label before it; empty means none."""

    words = Message("labelled points")
    numbers = 2
