"""Mean squared error: an error twice as large costs four times as much.

$$\\mathrm{MSE} = \\frac{1}{n} \\sum_{i=1}^{n} (\\hat y_i - y_i)^2$$

In the squared unit of the answers; 0 is perfect. The best constant answer is the mean of the truth, and it scores the
variance of the truth. Errors of 1, 1 and 10 give 34. The order of two files is the same as under the RMSE, its root.
Numbers beyond 1e100 are refused, so that every square is a finite number.

Equals scikit-learn's `mean_squared_error`.
"""

import numpy as np

from .core.contract import Example, Metric
from .numerics.averages import mean_over_rows
from .reading.number_kinds import Number


def squared_error(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return (prediction - truth) ** 2


mse = Metric(
    title="MSE",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=mean_over_rows(squared_error),
    example=Example(
        truth="id,y\n1,3\n2,-0.5\n3,2\n4,7\n",
        submission="id,y\n1,2.5\n2,0.0\n3,2\n4,8\n",
        score=0.375,
    ),
)
