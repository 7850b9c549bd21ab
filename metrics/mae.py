"""Mean absolute error: every unit of error weighs the same.

$$\\mathrm{MAE} = \\frac{1}{n} \\sum_{i=1}^{n} |\\hat y_i - y_i|$$

In the unit of the answers; 0 is perfect. The best constant answer is the median of the truth.

Equals scikit-learn's `mean_absolute_error`.
"""

import numpy as np

from .core.contract import Example, Metric
from .numerics.averages import mean_over_rows
from .reading.number_kinds import Number


def absolute_error(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.abs(prediction - truth)


mae = Metric(
    title="MAE",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=mean_over_rows(absolute_error),
    example=Example(
        truth="id,y\n1,3\n2,-0.5\n3,2\n4,7\n",
        submission="id,y\n1,2.5\n2,0.0\n3,2\n4,8\n",
        score=0.5,
    ),
)
