"""The kinds of column with numbers, read as float64 arrays of shape (n,), or (n, c) where a kind reads many columns;
and every complaint about a cell.

At the end are kinds for special numbers: a latitude beside a longitude, a divisor that must not be 0.
"""

import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.messages import Message, Plural
from .columns import Cells, Kind
from .numbers import read_numbers, set_near_ends
from .thousands import judge_thousands

BELOW = Plural(
    "{count} value of {column} is below {bound}: {examples}.",
    "{count} values of {column} are below {bound}: {examples}.",
)
NOT_ABOVE = Plural(
    "{count} value of {column} is not above {bound}: {examples}.",
    "{count} values of {column} are not above {bound}: {examples}.",
)
ABOVE = Plural(
    "{count} value of {column} is above {bound}: {examples}.",
    "{count} values of {column} are above {bound}: {examples}.",
)
NOT_WITHIN_0_TO_1 = Plural(
    "{count} value of {column} is outside 0 to 1: {examples}.",
    "{count} values of {column} are outside 0 to 1: {examples}.",
)
TOO_LARGE = Plural(
    "{count} value of {column} is too large for a score, which takes numbers from -{bound} to {bound}: {examples}.",
    "{count} values of {column} are too large for a score, which takes numbers from -{bound} to {bound}: {examples}.",
)
_TOO_NEAR_0 = Plural(
    "{count} value of {column} is nearer to 0 than {bound}: {examples}.",
    "{count} values of {column} are nearer to 0 than {bound}: {examples}.",
)
_NOT_BINARY = Plural(
    "{count} value of {column} is neither 0 nor 1: {examples}.",
    "{count} values of {column} are neither 0 nor 1: {examples}.",
)


class Plain(Kind):
    """One column or, with ``many``, as many as the truth has."""

    def __init__(self, *, many: bool = False) -> None:
        self.many = many

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        read = [self.one(cells) for cells in columns]
        return np.column_stack(read) if self.many else read[0]

    def one(self, cells: Cells) -> np.ndarray:
        raise NotImplementedError


_NUMBERS = {
    (): Message("number"),
    ("minimum",): Message("number from {minimum}"),
    ("above",): Message("number above {above}"),
    ("maximum",): Message("number to {maximum}"),
    ("minimum", "maximum"): Message("number from {minimum} to {maximum}"),
    ("above", "maximum"): Message("number above {above} to {maximum}"),
}
"""A number in words, by the bounds that are set."""


LARGEST = 1e100
"""Numbers farther from 0 are refused. Whether a score is finite must not depend on the truth, so a file is
refused by its own numbers: with these the squares of errors, their sums, and their proportions to answers stay within
float64."""


class Number(Plain):
    """Finite numbers, from ``minimum`` to ``maximum``, or greater than ``above``.

    Numbers farther from 0 than ``largest`` are refused; only metrics of order and correlation may raise that limit.
    Numbers other than 0 that are nearer to it than ``smallest`` are refused, for truths that are divisors.
    """

    words = Message("number")

    def __init__(
        self,
        *,
        many: bool = False,
        minimum: float | None = None,
        above: float | None = None,
        maximum: float | None = None,
        smallest: float = 0.0,
        largest: float = LARGEST,
    ) -> None:
        super().__init__(many=many)
        self.minimum, self.above, self.maximum = minimum, above, maximum
        self.smallest, self.largest = smallest, largest
        ends = {"minimum": minimum, "above": above, "maximum": maximum}
        given = {name: f"{end:g}" for name, end in ends.items() if end is not None}
        self.words = Message(_NUMBERS[tuple(given)], **given)

    def one(self, cells: Cells) -> np.ndarray:
        values = read_numbers(cells)
        sizes = np.abs(values)
        cells.refuse(
            "too_large_values", TOO_LARGE, np.flatnonzero(sizes > self.largest), {"bound": f"{self.largest:g}"}
        )
        if self.smallest:
            too_near = np.flatnonzero((sizes < self.smallest) & (sizes > 0))
            cells.refuse("too_small", _TOO_NEAR_0, too_near, {"bound": f"{self.smallest:g}"})
        values = set_near_ends(values, self.minimum, self.maximum)
        checks = (
            (self.minimum, "too_small", BELOW, np.less),
            (self.above, "too_small", NOT_ABOVE, np.less_equal),
            (self.maximum, "too_large", ABOVE, np.greater),
        )
        for bound, code, words, is_out in checks:
            if bound is not None:
                cells.refuse(code, words, np.flatnonzero(is_out(values, bound)), {"bound": f"{bound:g}"})
        return values

    def sample(self, truth: Any) -> str:
        least = repr(float(1 if self.above is not None else self.minimum or 0))
        return least.removesuffix(".0") if truth is None or _are_whole(truth) else least

    def judge(self, columns: Sequence[Cells], values: Any, truth: Any, params: Mapping[str, Any]) -> None:
        # A thousand times as much would be beyond the largest number, so points are decimal.
        for place, cells in enumerate(columns if self.maximum is None or self.maximum >= 1000 else ()):
            numbers = values[:, place] if self.many else values
            judge_thousands(cells, numbers, partial(self.sample, truth))

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        if truth is not None and len(truth):
            low, high = float(np.min(truth)), float(np.max(truth))
            return [repr(round(dice.uniform(low, high), 6)) for _ in range(width)]
        low = self.minimum if self.minimum is not None else self.above if self.above is not None else -300.0
        high = self.maximum if self.maximum is not None else max(low, 0.0) + 300.0
        return [repr(round(dice.uniform(low + 0.01, high), 2)) for _ in range(width)]


def _are_whole(values: Any) -> bool:
    return not isinstance(values, np.ndarray) or not (values % 1).any()


class RankedScore(Plain):
    """Finite numbers of any size, of which only the order matters."""

    words = Message("score (any number, higher means more likely)")

    def one(self, cells: Cells) -> np.ndarray:
        return read_numbers(cells)

    def judge(self, columns: Sequence[Cells], values: Any, truth: Any, params: Mapping[str, Any]) -> None:
        for place, cells in enumerate(columns):
            judge_thousands(cells, values[:, place] if self.many else values, partial(self.sample, truth))

    def sample(self, truth: Any) -> str:
        return "0.5"

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        return [repr(round(dice.random(), 2)) for _ in range(width)]


class Probability(RankedScore):
    """Numbers from 0 to 1."""

    words = Message("probability (0 to 1)")

    def one(self, cells: Cells) -> np.ndarray:
        values = set_near_ends(read_numbers(cells), 0.0, 1.0)
        cells.refuse("not_a_probability", NOT_WITHIN_0_TO_1, np.flatnonzero((values < 0) | (values > 1)))
        return values


class Binary(Plain):
    """0 or 1."""

    words = Message("0 or 1")

    def one(self, cells: Cells) -> np.ndarray:
        values = read_numbers(cells)
        places = np.flatnonzero((values != 0) & (values != 1) & ~np.isnan(values))
        cells.refuse("not_binary", _NOT_BINARY, places)
        return values

    def sample(self, truth: Any) -> str:
        return "0"

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        return [dice.choice("01") for _ in range(width)]


class TimeAndEvent(Kind):
    """Two columns: the time until the event or the end of observation, and 1 if the event was seen, else 0."""

    words = Message("time, event (0 or 1)")
    columns = 2

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        names = [cells.column.casefold() for cells in columns]
        if names == ["event", "time"]:
            columns = columns[::-1]
        return np.column_stack([Number().one(columns[0]), Binary().one(columns[1])])

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        return [str(dice.randint(0, 9)), dice.choice("01")]


_ZERO = Plural(
    "{count} value of {column} is 0, and an error in per cent of 0 is endless: {examples}.",
    "{count} values of {column} are 0, and an error in per cent of 0 is endless: {examples}.",
)
_COMPARED_LETTERS = 3
"""The number of first letters by which columns are recognised: lat, lon, azi, zen."""


class NonZero(Number):
    """Finite numbers other than 0, and not nearer to it than 1e-50: squares of errors are divided by their squares."""

    def __init__(self) -> None:
        super().__init__(smallest=1e-50)
        self.words = Message("number other than 0")

    def one(self, cells: Cells) -> np.ndarray:
        values = super().one(cells)
        cells.refuse("zero", _ZERO, np.flatnonzero(values == 0))
        return values


class Amount(Number):
    """Numbers from 0 on, for metrics with parameters that forbid 0: the sample is 1, which all of them allow."""

    def __init__(self, *, many: bool = False) -> None:
        super().__init__(many=many, minimum=0)

    def sample(self, truth: Any) -> str:
        return "1"


class Fields(Kind):
    """One column for each named kind of number, read as a matrix, shape (n, fields).

    ``words`` name the fields for people. The columns are in the order of the fields. With ``by_name`` two columns are
    swapped if their names begin like those of the fields in reverse order (``lon``, ``lat``).
    """

    def __init__(self, words: str, *, by_name: bool = False, **fields: Number) -> None:
        self.words, self.fields, self.by_name = words, fields, by_name
        self.columns = len(fields)

    def read(self, columns: Sequence[Cells], truth: Any = None) -> np.ndarray:
        columns = self._in_order(columns)
        return np.column_stack([kind.one(cells) for kind, cells in zip(self.fields.values(), columns, strict=True)])

    def _in_order(self, columns: Sequence[Cells]) -> Sequence[Cells]:
        """The columns in the order of the fields: reversed if more names fit that order than the given one."""
        if not self.by_name:
            return columns
        names = [cells.column.casefold() for cells in columns]
        tells = [name[:_COMPARED_LETTERS] for name in self.fields]
        starts = [name[:_COMPARED_LETTERS] for name in names]
        backward = sum(one == other for one, other in zip(starts, reversed(tells), strict=True))
        is_reversed = backward > sum(one == other for one, other in zip(starts, tells, strict=True))
        return columns[::-1] if is_reversed else columns

    def judge(self, columns: Sequence[Cells], values: np.ndarray, truth: Any, params: Mapping[str, Any]) -> None:
        for kind, cells, numbers in zip(self.fields.values(), self._in_order(columns), values.T, strict=True):
            judge_thousands(cells, numbers, partial(kind.sample, truth))

    def sample(self, truth: Any) -> list[str]:
        return [kind.sample(truth) for kind in self.fields.values()]

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        given: Sequence[np.ndarray] = ()
        if truth is not None:
            given = list(truth.T) if truth.ndim == 2 else [truth]
        return [
            kind.random(dice, 1, given[place] if place < len(given) else None)[0]
            for place, kind in enumerate(self.fields.values())
        ]
