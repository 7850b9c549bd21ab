"""Root of the mean squared error: large errors weigh more.

$$\\mathrm{RMSE} = \\sqrt{\\frac{1}{n} \\sum_{i=1}^{n} (\\hat y_i - y_i)^2}$$

In the unit of the answers; 0 is perfect. One error of 10 costs as much as a hundred errors of 1. Numbers beyond 1e100
are refused, so that every square is a finite number.

Equals scikit-learn's `root_mean_squared_error`.
"""

import numpy as np

from .core.contract import Example, Metric
from .numerics.averages import root_mean_over_rows
from .reading.number_kinds import Number


def squared_error(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return (prediction - truth) ** 2


rmse = Metric(
    title="RMSE",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=root_mean_over_rows(squared_error),
    example=Example(
        truth="id,y\n1,3\n2,-0.5\n3,2\n4,7\n",
        submission="id,y\n1,2.5\n2,0.0\n3,2\n4,8\n",
        score=0.6123724356957945,
    ),
)
