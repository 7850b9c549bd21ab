"""Share of the truth's variance that the predictions explain.

$$R^2 = 1 - \\frac{\\sum_i (\\hat y_i - y_i)^2}{\\sum_i (y_i - \\bar y)^2}$$

1 is perfect. Predicting the mean of the truth everywhere scores 0, every other constant less, and there is no lower
end: predicting 3, 2, 1 for 1, 2, 3 scores -3. Each split is measured with its own mean $\\bar y$, so the overall value
is not a mean of the two. A part of the truth whose answers are all the same (one row, too) has no variance to explain
and is refused at publication. Numbers beyond 1e100 are refused, so that every square is a finite number.

Equals scikit-learn's `r2_score`.
"""

import numpy as np

from .core.contract import Example, Metric, Rules
from .numerics.correlation import centred, no_variance, share_explained
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.column_stack([(prediction - truth) ** 2, centred(truth) ** 2])


r2 = Metric(
    title="R²",
    group="Numbers",
    direction="maximize",
    truth=Number(),
    computation=share_explained(rows, "squared_error", "squared_distance"),
    rules=Rules(unscorable=no_variance),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,3\n4,6\n",
        submission="id,y\n1,1\n2,2\n3,5\n4,5\n",
        score=0.6428571428571428,
    ),
)
