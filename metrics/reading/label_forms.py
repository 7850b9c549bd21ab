"""Whether the labels of a submission are written like the one of the sample submission: ``TRUE`` where it has ``True``,
or 1 and 0 where it has words, is scored as wrong in every row.

Nothing is compared with the truth, which would tell a student for nothing which labels it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..core.arrays import Coded
from ..core.errors import Problem, shown
from ..core.messages import EXAMPLES, Message, listed
from .column_kinds import Label, LabelSet
from .numbers import to_decimal

if TYPE_CHECKING:
    from ..core.truth import Truth

MOST = 1000
"""Distinct labels that are looked at; a file with more has no classes, and is not told anything."""

_BETWEEN = re.compile(r"[\s|,;/]+")
_RUN = re.compile(r"(.)\1+")


def form_of(label: str) -> str:
    """How a label is written: numbers alike, letters by their case, digits as such, each run as one.

    >>> form_of("True"), form_of("TRUE"), form_of("class_10"), form_of("-1.50")
    ('Aa', 'A', 'a_9', '9')
    """
    if to_decimal(label) is not None:
        return "9"
    return _RUN.sub(r"\1", "".join(map(_sort_of, label)))


def _sort_of(character: str) -> str:
    if character.isdigit():
        return "9"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character


class ForeignLabels:
    """Looks through the labels of a submission, piece by piece, until one is written like the sample's."""

    def __init__(self, truth: Truth) -> None:
        kind = truth.metric.submission
        cell = truth.dull_cells[0] if type(kind) in (Label, LabelSet) else ""
        self._are_sets = type(kind) is LabelSet
        self._column = truth.submission_columns[-1]
        self._form = form_of(cell)
        self._is_over = not cell
        self._met: dict[str, None] = {}

    def add(self, prediction: object) -> None:
        """Look at what was read of some rows."""
        if self._is_over or not isinstance(prediction, Coded):
            return
        for label in self._labels(prediction):
            if label in self._met:
                continue
            if form_of(label) == self._form or len(self._met) >= MOST:
                self._is_over = True
                return
            self._met[label] = None

    def _labels(self, prediction: Coded) -> Iterator[str]:
        for value in prediction.values:
            yield from filter(None, _BETWEEN.split(str(value))) if self._are_sets else [str(value)]

    def warnings(self) -> tuple[Problem, ...]:
        """One sentence, if there were labels and none is written like the sample's."""
        if self._is_over or not self._met:
            return ()
        few = list(map(shown, self._met))[:EXAMPLES]
        message = Message(
            "No label of {column} is written like the one in sample_submission.csv: the file has {labels}. Labels are "
            "compared as text, so one that is written otherwise is a wrong answer.",
            column=shown(self._column),
            labels=listed(few, len(self._met)),
        )
        return (Problem("foreign_labels", message, self._column),)
