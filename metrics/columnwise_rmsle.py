"""Mean over target columns of the RMSLE of each column.

$$\\frac{1}{c} \\sum_{j=1}^{c} \\sqrt{\\frac{1}{n} \\sum_{i=1}^{n}
\\left(\\ln(\\hat y_{ij} + 1) - \\ln(y_{ij} + 1)\\right)^2}$$

The truth has any number of target columns of amounts; the submission has the same. Numbers below 0 are refused. Every
column weighs the same, and by the logarithm columns in different units can be compared: a column whose every
$\\hat y + 1$ is twice $y + 1$ has 0.693, whatever its unit. 0 is perfect. With one column it is the RMSLE.

`offset` takes the place of the 1; with 0 plain logarithms are compared, and an answer or a prediction of 0 is refused.

Equals the mean of scikit-learn's `root_mean_squared_log_error` with `multioutput="raw_values"`; "Nomad2018 Predicting
Transparent Conductors" on Kaggle.
"""

import numpy as np

from .core.contract import Example, Metric, RowSum, Rules
from .core.figures import Figure
from .numerics.averages import Unscored, by_column, mean_root, roots_of, squares_of
from .numerics.log_losses import Offset, logarithm, unscorable, verify
from .reading.number_kinds import Amount, Number


def rows(truth: np.ndarray, prediction: np.ndarray, *, offset: Offset = 1.0) -> np.ndarray:
    return squares_of((logarithm(prediction, offset) - logarithm(truth, offset)) ** 2)


def total(sums: np.ndarray, *, unscored: Unscored = None) -> float:
    return mean_root(sums)


def figures(truth: np.ndarray, prediction: np.ndarray, *, offset: Offset) -> list[Figure]:
    sums = rows(truth, prediction, offset=offset).sum(axis=0)
    return by_column("RMSLE of each column", roots_of(sums))


columnwise_rmsle = Metric(
    title="Column-wise RMSLE",
    group="Numbers",
    direction="minimize",
    truth=Number(many=True, minimum=0),
    submission=Amount(many=True),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("rows", "squared_log_errors"),
        last_line="mean over columns of √(squared log errors of the column / {rows})",
    ),
    rules=Rules(verify=verify, unscorable=unscorable),
    figures=figures,
    example=Example(
        truth="id,a,b\n1,1,10\n2,3,20\n",
        submission="id,a,b\n1,3,10\n2,7,20\n",
        score=0.3465735902799726,
    ),
)
