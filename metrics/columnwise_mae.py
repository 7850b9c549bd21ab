"""Mean over target columns of the MAE of each column, which is the MAE of all cells pooled.

$$\\mathrm{MAE} = \\frac{1}{c} \\sum_{j=1}^{c} \\frac{1}{n} \\sum_{i=1}^{n} |\\hat y_{ij} - y_{ij}|$$

The truth has any number of target columns; the submission has the same. Every cell weighs the same, so a column in
large units decides everything: with MAEs of 0.1 and 100 the score is 50.05. 0 is perfect. With one column it is `mae`.

Equals scikit-learn's `mean_absolute_error` of several columns.
"""

import numpy as np

from .core.contract import Example, Metric, RowSum, ratio
from .core.figures import Figure
from .numerics.averages import Unscored, by_column
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    errors = np.abs(prediction - truth)
    return np.column_stack([errors.sum(axis=1), np.full(len(errors), float(errors.shape[1]))])


def total(sums: np.ndarray, *, unscored: Unscored = None) -> float:
    return ratio(*sums)


def figures(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    return by_column("MAE of each column", np.abs(prediction - truth).mean(axis=0).tolist())


columnwise_mae = Metric(
    title="Column-wise MAE",
    group="Numbers",
    direction="minimize",
    truth=Number(many=True),
    computation=RowSum(
        rows=rows, total=total, parts=("absolute_error", "cells"), last_line="{absolute_error} / {cells}"
    ),
    figures=figures,
    example=Example(
        truth="id,a,b\n1,1,10\n2,2,20\n",
        submission="id,a,b\n1,2,10\n2,3,24\n",
        score=1.5,
    ),
)
