"""Mean over target columns of the RMSE of each column.

$$\\mathrm{MCRMSE} = \\frac{1}{c} \\sum_{j=1}^{c} \\sqrt{\\frac{1}{n} \\sum_{i=1}^{n} (\\hat y_{ij} - y_{ij})^2}$$

The truth has any number of target columns; the submission has the same. Every column counts the same in the mean, so
a column in large units decides it: with RMSEs of 0.1 and 100 the score is 50.05. 0 is perfect. With one column the
score is the RMSE. Numbers beyond 1e100 are refused, so that every square is a finite number.

`average` `pooled` is one RMSE of all cells: with RMSEs of 3 and 4 it is 3.536, the mean over columns 3.5.

Equals the mean of scikit-learn's `root_mean_squared_error` with `multioutput="raw_values"`; "Africa Soil Property
Prediction Challenge" and "OpenVaccine" on Kaggle.
"""

from typing import Annotated, Literal

import numpy as np

from .core.contract import Example, Metric, RowSum, ratio, root
from .core.figures import Figure
from .numerics.averages import Unscored, by_column, mean_root, roots_of, squares_of
from .reading.number_kinds import Number

Average = Annotated[Literal["columns", "pooled"], "columns: mean of the columns' RMSEs; pooled: one RMSE of all cells."]


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return squares_of((prediction - truth) ** 2)


def total(sums: np.ndarray, *, average: Average = "columns", unscored: Unscored = None) -> float:
    if average == "columns":
        return mean_root(sums)
    count, squares, *columns = sums
    return root(ratio(squares, count * len(columns)))


def last_line(*, average: Average) -> str:
    if average == "columns":
        return "mean over columns of √(squared errors of the column / {rows})"
    return "√({squared_errors} / ({rows} · columns))"


def figures(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    return by_column("RMSE of each column", roots_of(rows(truth, prediction).sum(axis=0)))


columnwise_rmse = Metric(
    title="Column-wise RMSE",
    group="Numbers",
    direction="minimize",
    truth=Number(many=True),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("rows", "squared_errors"),
        last_line=last_line,
    ),
    figures=figures,
    example=Example(
        truth="id,a,b\n1,1,10\n2,2,20\n",
        submission="id,a,b\n1,2,10\n2,3,20\n",
        score=0.5,
    ),
)
