"""Advice about values that a metric refuses: the usual metrics that read values of this kind.

It follows from the refused values alone, so a student may read it.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..reading.tables import Table
from .errors import Problem
from .messages import Message, joined

_LABELS = Message("These are labels, which Accuracy and F1 read; this metric reads numbers.")
_PROBABILITIES = Message("These are probabilities, which ROC AUC and log loss read; this metric reads 0 and 1.")
_SCORES = Message("These are scores of any size, which ROC AUC reads; this metric reads probabilities.")
_PERCENT = Message("If these are percent, divide them by 100; this metric reads probabilities.")
_MOST_CELLS = 1000


def with_advice(problems: Sequence[Problem], table: Table) -> list[Problem]:
    """The problems of a submission; one of a whole column names the metrics that read such values."""
    return [_with_advice_of_column(problem, table) for problem in problems]


def _with_advice_of_column(problem: Problem, table: Table) -> Problem:
    # A few refused values among others are errors of writing.
    if problem.column not in table.names or 2 * problem.count <= table.rows:
        return problem
    cells = [cell for cell in table.column(problem.column)[:_MOST_CELLS].to_pylist() if cell]
    advice = _advice_for(problem.code, cells)
    return problem if advice is None else replace(problem, message=joined([problem.message, advice]))


def _advice_for(code: str, cells: Sequence[str]) -> Message | None:
    match code:
        case "not_a_number" if 2 * sum(map(_is_word, cells)) > len(cells):
            return _LABELS
        case "not_binary" if all(cell[0] in "01." for cell in cells):
            return _PROBABILITIES
        case "not_a_probability":
            return _PERCENT if all(map(_is_percent, cells)) else _SCORES
    return None


def _is_percent(cell: str) -> bool:
    try:
        return 0 <= float(cell) <= 100
    except ValueError:
        return False


def _is_word(cell: str) -> bool:
    return cell[0].isalpha() and cell.casefold() not in ("true", "false")
