"""Kinds of column for numbers with a part to play: a latitude beside a longitude, a divisor that must not be 0."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.messages import Message, Plural
from .column_kinds import Number
from .columns import Cells, Kind

_ZERO = Plural(
    "{count} value of {column} is 0, and an error in per cent of 0 is endless: {examples}.",
    "{count} values of {column} are 0, and an error in per cent of 0 is endless: {examples}.",
)
_TELLING = 3
"""So many first letters of a column's name tell which part it plays: lat, lon, azi, zen."""


class NonZero(Number):
    """Finite numbers other than 0, and not nearer to it than 1e-50: squares of errors are divided by their squares."""

    def __init__(self) -> None:
        super().__init__(smallest=1e-50)
        self.words = Message("number other than 0")

    def one(self, cells: Cells) -> np.ndarray:
        values = super().one(cells)
        if len(places := np.flatnonzero(values == 0)):
            cells.refuse("zero", _ZERO, places)
        return values


class Amount(Number):
    """Numbers from 0 on, where some parameters of a metric allow no 0: the sample is 1, which all of them allow."""

    def __init__(self, *, many: bool = False) -> None:
        super().__init__(many=many, minimum=0)

    def sample(self, truth: Any) -> str:
        return "1"


class Fields(Kind):
    """One column for each named kind of number, read as a matrix, shape (n, fields).

    ``words`` name the fields for people. The columns come in the order of the fields. With ``by_name`` two columns
    whose names begin like those of the fields in reverse (``lon``, ``lat``) are turned.
    """

    def __init__(self, words: str, *, by_name: bool = False, **fields: Number) -> None:
        self.words, self.fields, self.by_name = words, fields, by_name
        self.columns = len(fields)

    def read(self, columns: Sequence[Cells], truth: Any = None) -> np.ndarray:
        if self.by_name and self._is_reversed([cells.column.casefold() for cells in columns]):
            columns = columns[::-1]
        return np.column_stack([kind.one(cells) for kind, cells in zip(self.fields.values(), columns, strict=True)])

    def _is_reversed(self, names: Sequence[str]) -> bool:
        """Whether names tell of the reverse order, and none of the given one."""
        tells = [name[:_TELLING] for name in self.fields]
        told = [name[:_TELLING] for name in names]
        backward = sum(one == other for one, other in zip(told, reversed(tells), strict=True))
        return backward > sum(one == other for one, other in zip(told, tells, strict=True))

    def sample(self, truth: Any) -> list[str]:
        return [kind.sample(truth) for kind in self.fields.values()]

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        given = _columns_of(truth)
        return [
            kind.random(dice, 1, given[place] if place < len(given) else None)[0]
            for place, kind in enumerate(self.fields.values())
        ]


def _columns_of(truth: Any) -> Sequence[np.ndarray]:
    if truth is None:
        return ()
    columns: Sequence[np.ndarray] = list(truth.T) if truth.ndim == 2 else [truth]
    return columns
