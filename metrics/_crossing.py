"""Truth and prediction crossed: how many rows have each pair of a true and a predicted label."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from metrics._arrays import Coded
from metrics._contract import distinct_codes, distinct_pairs
from metrics._figures import Figure, Grid
from metrics._sentences import said

_SHOWN = 12
"""Labels that a drawn table names; the rarer ones share a place."""


@dataclass(frozen=True)
class Crossing:
    """The cells of the confusion matrix that have rows, sorted; nothing is as large as labels × labels.

    ``true``, ``said`` and ``counts`` have one entry per cell: the places in ``labels`` and the number of rows.
    ``of_row`` tells the cell of each row. ``labels`` are those of truth or prediction, in order.
    """

    labels: list[Any]
    true: np.ndarray
    said: np.ndarray
    counts: np.ndarray
    of_row: np.ndarray

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.of_row)

    @cached_property
    def is_right(self) -> np.ndarray:
        """Which cells are on the diagonal."""
        found: np.ndarray = self.true == self.said
        return found

    @cached_property
    def truly(self) -> np.ndarray:
        """Rows that truly have each label."""
        return self._by_label(self.true)

    @cached_property
    def predicted(self) -> np.ndarray:
        """Rows that are predicted to have each label."""
        return self._by_label(self.said)

    @cached_property
    def outcomes(self) -> np.ndarray:
        """tp, fp and fn of each label, shape (labels, 3)."""
        tp = np.bincount(self.true[self.is_right], self.counts[self.is_right], minlength=len(self.labels))
        return np.column_stack([tp, self.predicted - tp, self.truly - tp])

    def _by_label(self, places: np.ndarray) -> np.ndarray:
        return np.bincount(places, self.counts, minlength=len(self.labels)).astype(np.int64)


def cross(truth: Coded, prediction: Coded) -> Crossing:
    """Count the pairs; labels that are equal as values are one label."""
    true, said, of_row = distinct_pairs(truth, prediction)
    labels, (ours, theirs) = _labels_of((truth, true), (prediction, said))
    pairs = ours[true].astype(np.int64) * len(labels) + theirs[said]
    cells, place = distinct_codes(pairs, len(labels) ** 2)
    of_row = place[of_row]
    return Crossing(labels, *np.divmod(cells, max(1, len(labels))), np.bincount(of_row, minlength=len(cells)), of_row)


def _labels_of(*sides: tuple[Coded, np.ndarray]) -> tuple[list[Any], list[np.ndarray]]:
    """The labels that occur, numbers by size before texts by alphabet, and the place of each code of each side."""
    found = [[(code, side.values[code]) for code in np.unique(codes).tolist()] for side, codes in sides]
    labels = sorted({label: None for occurring in found for _, label in occurring}, key=_order)
    place = {label: number for number, label in enumerate(labels)}
    tables = []
    for (side, _), occurring in zip(sides, found, strict=True):
        table = np.zeros(max(1, side.size), np.int64)
        for code, label in occurring:
            table[code] = place[label]
        tables.append(table)
    return labels, tables


def _order(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def one_label(truth: Coded) -> str:
    """Why these answers tell no labels apart, or ``""``."""
    first = truth.values[truth.codes[0]]
    if all(truth.values[code] == first for code in np.unique(truth.codes).tolist()):
        return said("all its answers are the same; two different labels are needed.")
    return ""


def confusion_matrix(truth: Coded, prediction: Coded) -> list[Figure]:
    """The table of truth and prediction; with more than 12 labels the rarest share its last row and column."""
    found = cross(truth, prediction)
    names, place = _shown(found)
    cells = np.zeros((len(names), len(names)), np.int64)
    np.add.at(cells, (place[found.true], place[found.said]), found.counts)
    note, named = "Rows by truth, columns by prediction; the marked cells are right.", len(names)
    if len(names) < len(found.labels):
        named -= 1
        note += f" The {len(found.labels) - named:,} rarest labels are taken together."
    marked = frozenset((label, label) for label in range(named))
    return [Grid("Confusion matrix", names, names, cells.tolist(), corner="truth", marked=marked, note=note)]


_OTHERS = "other labels"


def _shown(found: Crossing) -> tuple[list[str], np.ndarray]:
    """The names of the drawn labels and the place of each label among them."""
    names = [str(label) for label in found.labels]
    if len(names) <= _SHOWN:
        return names, np.arange(len(names))
    often = np.argsort(-(found.truly + found.predicted), kind="stable")[: _SHOWN - 1]
    kept = np.sort(often)
    place = np.full(len(names), len(kept))
    place[kept] = np.arange(len(kept))
    return [*(names[label] for label in kept), _OTHERS], place
