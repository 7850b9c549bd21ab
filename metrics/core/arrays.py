"""The arrays that metrics receive: columns of few distinct values, and labels with confidences."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Coded:
    """A column of repeated values: row i holds ``values[codes[i]]``.

    Results of ``once`` depend only on the values and are shared by all parts of a column, so a truth is parsed once.
    """

    def __init__(self, codes: np.ndarray, values: Sequence[Any] | None = None, *, array: Any = None) -> None:
        self.codes = codes
        self.array = array
        self.size = len(array) if array is not None else len(values or ())
        self._made: dict[Hashable, Any] = {} if values is None else {"values": values}
        self._compared: tuple[Coded, Any, Any] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> Sequence[Any]:
        """The distinct values, converted from ``array`` (their Arrow array) at the first use."""
        if "values" not in self._made:
            self._made["values"] = self.array.to_pylist()
        found: Sequence[Any] = self._made["values"]
        return found

    def take(self, rows: np.ndarray) -> "Coded":
        taken = Coded(self.codes[rows], array=self.array)
        taken.size, taken._made = self.size, self._made
        return taken

    def map(self, function: Callable[..., Any], *args: Hashable) -> "Coded":
        """Apply a function to each distinct value."""
        return Coded(self.codes, self.once(_map_values, function, *args))

    def once(self, function: Callable[..., Any], *args: Hashable) -> Any:
        """``function(self, *args)``, which must depend only on the distinct values; computed once."""
        key = (function, *args)
        if key not in self._made:
            self._made[key] = function(self, *args)
        return self._made[key]

    def with_truth(self, truth: "Coded", function: "Callable[[Coded, Coded], T]") -> T:
        """``function(truth, self)``; the last result is kept, because a score and its uncertainty need the same."""
        if self._compared is None or self._compared[:2] != (truth, function):
            self._compared = (truth, function, function(truth, self))
        found: T = self._compared[2]
        return found


def _map_values(coded: Coded, function: Callable[..., Any], *args: Hashable) -> list[Any]:
    return [function(value, *args) for value in coded.values]


@dataclass(frozen=True)
class Ranked:
    """One label with a confidence per row; code -1 means no answer."""

    codes: np.ndarray
    confidence: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: np.ndarray) -> "Ranked":
        return Ranked(self.codes[rows], self.confidence[rows])


class Answers:
    """The answers and further columns that a metric reads: ``truth.answer``, ``truth["weight"]``."""

    def __init__(self, answer: Any, roles: Mapping[str, Any]) -> None:
        self.answer = answer
        self.roles = dict(roles)

    def __len__(self) -> int:
        return len(self.answer)

    def __getitem__(self, role: str) -> Any:
        return self.roles[role]

    def take(self, rows: np.ndarray) -> "Answers":
        return Answers(take(self.answer, rows), {name: take(values, rows) for name, values in self.roles.items()})


def take(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else values.take(rows)
