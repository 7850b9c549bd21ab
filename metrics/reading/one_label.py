"""Answers of which one label is sought: 1 where a row has it, else 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.messages import Message
from .column_kinds import Label
from .columns import Cells, to_decimal


def are_label(values: Sequence[Any], label: str) -> np.ndarray:
    """A mask of the values that are this label: as numbers where they are numbers, else as text.

    >>> are_label(["spam", "ham"], " spam").tolist()
    [True, False]
    """
    text = label.strip()
    sought = (text, to_decimal(text))
    return np.array([value in sought for value in values], bool)


class Sought(Label):
    """Labels, as float64 of 1.0 for the sought one and 0.0 for all others."""

    words = Message("label")

    def __init__(self, label: str) -> None:
        self.label = label

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        coded = super().read(columns)
        return are_label(coded.values, self.label).astype(np.float64)[coded.codes]
