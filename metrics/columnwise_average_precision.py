"""Mean over target columns of the average precision.

The truth has one 0/1 column per label, the submission one score under the same name; any finite numbers will do.

$$\\mathrm{mAP} = \\frac{1}{L} \\sum_{l=1}^{L} \\mathrm{AP}_l$$

with $\\mathrm{AP}_l$ the `average_precision` of column $l$ by itself: the mean, over its rows with answer 1, of the
precision at their score, equal scores sharing one threshold. Each column counts equally, however rare its 1s are.

- Columns with average precisions of 1 and 0.5 give 0.75. Constant scores give the mean share of 1s.
- A column with one class only in a split is refused at publication, or with `skip` left out of that split.
- `padding`: so many rows with answer 1 and score 1 are added to every column, so that rare labels swing less and
  columns without any 1 can be scored: with `padding` 5 and scores below 1 such a column gets 1. No column is then
  refused or left out.

Source: equals scikit-learn's `average_precision_score` with `average="macro"`; with `padding` 5 the padded cmAP of
BirdCLEF 2023.
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn
from .core.figures import Figure
from .core.parameters import Range
from .numerics.averages import (
    Skip,
    Unscored,
    added_over,
    counted_columns,
    mean_of_columns,
    missing_class,
    table_of_columns,
)
from .numerics.ranks import average_precision_of, precision_at_ones, precision_influence
from .reading.number_kinds import Binary, RankedScore

Padding = Annotated[int, Range(0, 1000), "So many rows with answer 1 and score 1 are added to each column."]


def share(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return precision_at_ones(truth, prediction) / max(1.0, float(truth.sum()))


def rows(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip = False) -> np.ndarray:
    return added_over(truth, prediction, counted_columns(truth, skip), share)[:, None]


def total(sums: np.ndarray, *, padding: Padding = 0, unscored: Unscored = None) -> float | None:
    """The sum of the parts; ``None`` with padding, whose rows are not in the file."""
    return None if padding else float(sums[0])


def values(truth: np.ndarray, prediction: np.ndarray, skip: bool, padding: int) -> dict[int, float]:
    """The average precision of each averaged column, by column index."""
    places = counted_columns(truth, skip and not padding)
    return {place: average_precision_of(truth[:, place], prediction[:, place], padding) for place in places}


def score(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip = False, padding: Padding = 0) -> float:
    return mean_of_columns(list(values(truth, prediction, skip, padding).values()))


def influence(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip, padding: Padding) -> np.ndarray:
    places = counted_columns(truth, skip and not padding)
    return added_over(truth, prediction, places, lambda true, said: precision_influence(true, said, padding))


def figures(truth: np.ndarray, prediction: np.ndarray, *, skip: Skip, padding: Padding) -> list[Figure]:
    return table_of_columns(truth, values(truth, prediction, skip, padding), "average precision")


def last_line(*, padding: Padding) -> str:
    return "" if padding else "{precision}"


def unscorable(truth: np.ndarray, *, skip: Skip, padding: Padding) -> str:
    """The reason why a column (with ``skip``: every column) has one class only, or ``""``; padding adds 1s, so it needs
    none."""
    return "" if padding else missing_class(truth, skip=skip)


columnwise_average_precision = Metric(
    title="Column-wise average precision",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(many=True),
    submission=RankedScore(many=True),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("precision",),
        last_line=last_line,
        influence=influence,
    ),
    rules=Rules(unscorable=unscorable),
    figures=figures,
    example=Example(
        truth="id,robin,wren\n1,0,1\n2,0,0\n3,1,0\n4,1,1\n",
        submission="id,robin,wren\n1,0.1,0.9\n2,0.4,0.3\n3,0.35,0.2\n4,0.8,0.5\n",
        score=0.9166666666666666,
    ),
)
