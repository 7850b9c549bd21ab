"""Mean absolute error: every unit of error weighs the same.

$$\\mathrm{MAE} = \\frac{1}{n} \\sum_{i=1}^{n} |\\hat y_i - y_i|$$

In the unit of the answers; 0 is perfect. The best constant answer is the median of the truth.

Equals scikit-learn's `mean_absolute_error`.
"""

from __future__ import annotations

import numpy as np

from .core.contract import Example, Metric, RowSum, ratio
from .reading.column_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The absolute error of each row, and 1 for the row."""
    return np.column_stack([np.abs(prediction - truth), np.ones(len(truth))])


def total(sums: np.ndarray) -> float:
    """The mean."""
    return ratio(*sums)


mae = Metric(
    title="MAE",
    group="Numbers",
    direction="minimize",
    best=0.0,
    truth=Number(),
    submission=Number(),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("absolute_error", "rows"),
        last_line="{absolute_error} / {rows}",
    ),
    example=Example(
        truth="id,y\n1,3\n2,-0.5\n3,2\n4,7\n",
        submission="id,y\n1,2.5\n2,0.0\n3,2\n4,8\n",
        score=0.5,
    ),
)
