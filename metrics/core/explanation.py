"""Contributions of every row, for people who have the truth: worked examples, the home scorer and the host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..reading.sources import Source
from ..reading.split_words import SPLITS, USAGE
from ..reading.tables import csv_bytes
from .arrays import take
from .contract import chosen, last_line_of
from .evaluate import contributions_of
from .figures import Figure
from .prepare import prepare
from .result import OVERALL, Result
from .truth import Truth

_quietly = np.errstate(over="ignore", invalid="ignore")
"""Overflow is ignored here: values that are too large for the score were refused before."""


@dataclass(frozen=True)
class Explanation:
    """The score of one submission, explained row by row.

    ``header`` and ``rows`` are the files' cells as text (id, split, true and predicted cells); ``parts`` names the
    columns of ``contributions``, which has one list per row; ``sums`` are their sums, without those that are not
    finite: a score may do without them. ``last_line`` is the formula of the score from the sums in names, ``worked``
    the same in numbers. All of these except ``result`` may be empty.
    """

    result: Result
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    parts: Sequence[str] = ()
    contributions: Sequence[Sequence[float]] = ()
    sums: Mapping[str, float] = field(default_factory=dict)
    last_line: str = ""
    worked: str = ""
    figures: Sequence[Figure] = ()


@_quietly
def explain(
    key: str,
    truth: Source,
    submission: Source,
    params: Mapping[str, Any] | None = None,
    id_column: str | None = None,
) -> Explanation:
    """Score a submission and explain the score; see ``prepare`` and ``Truth.evaluate``. It also makes figures, so it is
    meant for tens of rows."""
    prepared = prepare(key, truth, params, id_column)
    metric, how = prepared.metric, prepared.metric.computation
    result = prepared.evaluate(submission)
    header, columns, prediction = _cells_of_rows(prepared, submission)
    contributions = _row_contributions(prepared, prediction)
    added = {name: _short_number(values.sum()) for name, values in zip(how.parts, contributions, strict=False)}
    # Only finite numbers, because JSON has no others.
    sums = dict(result.parts.get(OVERALL, {})) or {name: value for name, value in added.items() if np.isfinite(value)}
    line = last_line_of(how, prepared.params)
    known = {**prepared.params, **added, **sums}
    in_words = {name: f"{value:.10g}" if isinstance(value, float) else str(value) for name, value in known.items()}
    figures: Sequence[Figure] = ()
    if metric.figures is not None:
        figures = metric.figures(prepared.answers, prediction, **chosen(metric.figures, prepared.params))
    return Explanation(
        result=result,
        header=header,
        rows=list(zip(*columns, strict=True)),
        parts=how.parts if contributions else (),
        contributions=list(zip(*map(_short_numbers, contributions), strict=True)),
        sums=sums,
        last_line=line.format(**{name: name for name in (*how.parts, *prepared.params)}),
        worked=line.format(**in_words),
        figures=figures,
    )


@_quietly
def rows_csv(truth: Truth, submission: Source) -> bytes:
    """One line per scored row: id, ``Usage`` (if split), the true and the predicted cells and the row's contributions,
    if the metric has them. Raises ``SubmissionError``.

    In a metric of the whole column the contribution of a row depends on its split and is computed within the split.
    """
    header, columns, prediction = _cells_of_rows(truth, submission)
    how = truth.metric.computation
    if how.is_whole and how.rows is not None and truth.parts:
        contributions = [np.zeros(len(truth.scored)) for _ in how.parts]
        for name, rows in truth.parts.items():
            found = _row_contributions(truth, take(prediction, rows), truth.part_answers[name])
            for column, values in zip(contributions, found, strict=False):
                column[rows] = values
    else:
        contributions = _row_contributions(truth, prediction)
    names = how.parts if contributions else ()
    return csv_bytes([*header, *names], zip(*columns, *map(_short_numbers, contributions), strict=True))


def _cells_of_rows(truth: Truth, submission: Source) -> tuple[list[str], list[list[Any]], Any]:
    """Header and columns of the two files' cells for each scored row, and the prediction."""
    prediction, table, places = truth.read_submission(submission)
    header = [truth.id_column, *([USAGE] if truth.has_split else [])]
    columns: list[list[Any]] = [[truth.ids.texts[row] for row in truth.scored]]
    if truth.has_split:
        columns.append([SPLITS[truth.usage[row]].capitalize() for row in truth.scored])
    for name in (*truth.target_columns, *truth.role_columns.values()):
        header.append(f"truth {name}")
        texts = truth.table.column(name).to_pylist()
        columns.append([texts[row] for row in truth.scored])
    for name in (name for name in table.names if name != truth.id_column):
        header.append(f"prediction {name}")
        texts = table.column(name).to_pylist()
        columns.append([texts[place] if place >= 0 else "" for place in places])
    return header, columns, prediction


def _row_contributions(truth: Truth, prediction: Any, answers: Any = None) -> list[np.ndarray]:
    """The named columns of the rows' contributions; empty if the metric has none."""
    how = truth.metric.computation
    if how.rows is None:
        return []
    return list(contributions_of(truth, prediction, answers).T[: len(how.parts)])


def _short_numbers(column: np.ndarray) -> list[float]:
    return [_short_number(value) for value in column.tolist()]


def _short_number(value: float) -> float:
    """A whole number as int, so that it is shown without a point."""
    return int(value) if abs(value) < 2**53 and value == int(value) else float(value)
