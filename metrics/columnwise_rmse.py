"""Mean over target columns of the RMSE of each column.

$$\\mathrm{MCRMSE} = \\frac{1}{c} \\sum_{j=1}^{c} \\sqrt{\\frac{1}{n} \\sum_{i=1}^{n} (\\hat y_{ij} - y_{ij})^2}$$

The truth has any number of target columns; the submission has the same. Every column weighs the same, so a column in
large units decides everything: with RMSEs of 0.1 and 100 the score is 50.05. 0 is perfect. With one column it is the
RMSE. Numbers beyond 1e100 are refused, so that every square is a finite number.

Equals the mean of scikit-learn's `root_mean_squared_error` with `multioutput="raw_values"`; "Africa Soil Property
Prediction Challenge" and "OpenVaccine" on Kaggle.
"""

from __future__ import annotations

import numpy as np

from .core.contract import Example, Metric, RowSum
from .core.figures import Figure
from .numerics.averages import Unscored, by_column, mean_root, roots_of, squares_of
from .reading.column_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """1 for the row, and the squared errors of its columns: their sum, then each."""
    return squares_of((prediction - truth) ** 2)


def total(sums: np.ndarray, *, unscored: Unscored = None) -> float:
    """The mean of the roots."""
    return mean_root(sums)


def figures(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    """The RMSE of each column."""
    return by_column("RMSE of each column", roots_of(rows(truth, prediction).sum(axis=0)))


columnwise_rmse = Metric(
    title="Column-wise RMSE",
    group="Numbers",
    direction="minimize",
    best=0.0,
    truth=Number(many=True),
    submission=Number(many=True),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("rows", "squared_errors"),
        last_line="mean over columns of √(squared errors of the column / {rows})",
    ),
    figures=figures,
    example=Example(
        truth="id,a,b\n1,1,10\n2,2,20\n",
        submission="id,a,b\n1,2,10\n2,3,20\n",
        score=0.5,
    ),
)
