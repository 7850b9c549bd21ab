"""What every row contributed, for people who hold the truth: the home scorer and the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from metrics._contract import Contributions
from metrics._evaluate import row_contributions
from metrics._layout import USAGE
from metrics._tables import Source
from metrics._truth import SPLITS, Truth, csv_bytes


def rows_csv(truth: Truth, submission: Source) -> bytes:
    """One line per scored row: id, ``Usage`` (if split), the true and the predicted cells and, where the metric is a
    sum over rows, the row's contributions. Raises ``SubmissionError``."""
    prediction, table, places = truth.read_submission(submission)
    names = [name for name in table.names if name != truth.id_column]
    header = [truth.id_column, *([USAGE] if truth.has_split else [])]
    columns: list[list[Any]] = [[truth.ids.texts[row] for row in truth.scored]]
    if truth.has_split:
        columns.append([SPLITS[truth.usage[row]].capitalize() for row in truth.scored])
    for name in truth.target_columns:
        header.append(f"truth {name}")
        texts = truth.table.column(name).to_pylist()
        columns.append([texts[row] for row in truth.scored])
    for name in names:
        header.append(f"prediction {name}")
        texts = table.column(name).to_pylist()
        columns.append([texts[place] if place >= 0 else "" for place in places])
    if truth.metric.rows is not None:
        header += truth.metric.parts
        columns += _contributions(truth, prediction)
    return csv_bytes(header, zip(*columns, strict=True))


def _contributions(truth: Truth, prediction: Any) -> list[list[Any]]:
    found = row_contributions(truth.metric, truth.target, prediction, truth.params)
    dense = found.dense() if isinstance(found, Contributions) else found
    return [_short(dense[:, place]) for place in range(min(dense.shape[1], len(truth.metric.parts)))]


def _short(column: np.ndarray) -> list[Any]:
    return [int(value) if value == int(value) else value for value in column.tolist()]
