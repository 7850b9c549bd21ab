"""R² over several target columns: the mean of the columns' shares of explained variance, or pooled.

$$R^2 = \\frac{1}{c} \\sum_{j=1}^{c} \\left(1 -
\\frac{\\sum_i (\\hat y_{ij} - y_{ij})^2}{\\sum_i (y_{ij} - \\bar y_j)^2}\\right)$$

The truth has any number of target columns; the submission has the same. With one column it is `r2`. `average`:

- `columns` (default): every column weighs the same;
- `pooled`: numerator and denominator are each added over the columns, so that a column counts by its variance. With 0.9
  of a variance of 9 and 0.5 of one of 1 explained the score is 0.86, the mean over columns 0.7.

1 is perfect, and there is no lower end. Each split is measured with its own means. A column whose answers are all the
same in a split has no variance to explain and is refused at publication. Numbers beyond 1e100 are refused, so that
every square is a finite number.

Equals scikit-learn's `r2_score`, with `pooled` its `multioutput="variance_weighted"`.
"""

from typing import Annotated, Literal

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn, ratio
from .core.figures import Figure
from .numerics.averages import Unscored, by_column
from .numerics.correlation import centred, constant, no_variance, share_left
from .numerics.sums import exact_sum
from .reading.number_kinds import Number

Average = Annotated[Literal["columns", "pooled"], "columns: mean of the columns' R²; pooled: by a column's variance."]


def pairs(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The squared error of each row, and its answer's squared distance from the mean answer; for each column, shape
    (columns, rows, 2)."""
    columns = zip(truth.T, prediction.T, strict=True)
    return np.stack([np.column_stack([(said - true) ** 2, centred(true) ** 2]) for true, said in columns])


def rows(truth: np.ndarray, prediction: np.ndarray, *, average: Average = "columns") -> np.ndarray:
    """Both squares of each row, added over columns; for the mean over columns as shares of the column's variance."""
    found = pairs(truth, prediction)
    if average == "columns" and np.isfinite(found).all():
        found /= np.array([float(exact_sum(column[:, 1])) for column in found])[:, None, None]
    return np.asarray(found.sum(axis=0))


def total(sums: np.ndarray, *, unscored: Unscored = None) -> float:
    return 1 - ratio(*sums)


def influence(truth: np.ndarray, prediction: np.ndarray, *, average: Average) -> np.ndarray:
    if average == "pooled":
        return share_left(rows(truth, prediction, average=average))
    return np.asarray(np.mean([share_left(column) for column in pairs(truth, prediction)], axis=0))


def unscorable(truth: np.ndarray) -> str:
    return constant(truth) or next(filter(None, map(no_variance, truth.T)), "")


def figures(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    return by_column("R² of each column", [total(column.sum(axis=0)) for column in pairs(truth, prediction)])


columnwise_r2 = Metric(
    title="Column-wise R²",
    group="Numbers",
    direction="maximize",
    truth=Number(many=True),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("left", "variance"),
        last_line="1 − {left} / {variance}",
        influence=influence,
    ),
    rules=Rules(unscorable=unscorable),
    figures=figures,
    example=Example(
        truth="id,a,b\n1,1,10\n2,2,20\n3,3,30\n",
        submission="id,a,b\n1,1,20\n2,2,20\n3,4,30\n",
        score=0.5,
    ),
)
