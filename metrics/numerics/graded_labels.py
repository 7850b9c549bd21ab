"""Relevant labels with grades, `label:3`: how much each is worth when it is found."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from ..core.arrays import Coded
from ..core.errors import shown, words_of
from ..core.messages import Message
from ..reading.numbers import to_decimal
from .blocks import starts_of
from .tokens import Tokens

LEAST, MOST = Decimal("0.001"), 50
"""Grades other than 0, so that two to the power of them keeps its digits when 1 is taken away."""


@dataclass(frozen=True)
class Graded(Tokens):
    """The distinct relevant labels of each distinct cell, and the grade of each; grade 0 is not relevant."""

    grades: np.ndarray
    wrong: dict[int, str]
    """Cells that cannot be read, and why."""


def graded_labels(column: Coded, separator: str | None) -> Graded:
    """Cut the distinct cells of a truth; done once, so in plain Python."""
    cells: list[dict[str, float]] = []
    wrong: dict[int, str] = {}
    for number, text in enumerate(column.values):
        try:
            cells.append(_grades_in(text, separator))
        except ValueError as error:
            wrong[number] = words_of(error)
            cells.append({})
    vocabulary = sorted({label for cell in cells for label in cell})
    rank = {label: place for place, label in enumerate(vocabulary)}
    ordered = [(rank[label], cell[label]) for cell in cells for label in sorted(cell)]
    return Graded(
        starts=starts_of(np.array([len(cell) for cell in cells], np.int64)),
        codes=np.array([code for code, _ in ordered], np.int64),
        vocabulary=vocabulary,
        grades=np.array([grade for _, grade in ordered], np.float64),
        wrong=wrong,
    )


def _grades_in(text: str, separator: str | None) -> dict[str, float]:
    """The labels of a cell with their grades. Raises ``ValueError`` with a reason.

    >>> _grades_in("a:2 b:0 x:y:1", None)
    {'a': 2.0, 'x:y': 1.0}
    """
    found: dict[str, float] = {}
    for part in text.split(separator):
        label, _, grade = part.strip().rpartition(":")
        number = to_decimal(grade)
        if not part.strip():
            continue
        if not label or number is None or not (number == 0 or LEAST <= number <= MOST):
            raise ValueError(
                Message(
                    '{part} is not "label:grade" with a grade of 0 or from {least} to {most}.',
                    part=shown(part),
                    least=f"{LEAST}",
                    most=f"{MOST}",
                )
            )
        if label in found:
            raise ValueError(Message("{label} has two grades in one cell.", label=shown(label)))
        found[label] = float(number)
    return {label: grade for label, grade in found.items() if grade}


def best_first(text: str, separator: str | None) -> str:
    """The labels of a cell, the highest grade first.

    >>> best_first("a:1 b:3", None)
    'b a'
    """
    grades = _grades_in(text, separator)
    return (separator or " ").join(sorted(grades, key=lambda label: (-grades[label], label)))


def ideal(graded: Graded, gains: np.ndarray, discount: np.ndarray) -> np.ndarray:
    """The most that a list of each cell can earn: its gains in falling order, as many as there are discounts."""
    owner = np.repeat(np.arange(len(graded.counts)), graded.counts)
    order = np.lexsort((-gains, owner))
    rank = np.arange(len(order)) - graded.starts[owner]
    counted = rank < len(discount)
    found: np.ndarray = np.bincount(
        owner[counted], gains[order][counted] * discount[rank[counted]], minlength=len(graded.counts)
    )
    return found
