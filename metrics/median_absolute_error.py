"""Median of the absolute errors: half of the rows are at least this close.

$$\\mathrm{MedAE} = \\mathrm{median}\\left(|\\hat y_1 - y_1|, \\ldots, |\\hat y_n - y_n|\\right)$$

In the unit of the answers; 0 is perfect, and is also reached when just over half of the rows are right. Of an even
number of rows it is the mean of the two errors in the middle: errors of 1, 2, 4 and 100 give 3. How large the larger
half of the errors is does not matter at all. A single row scores its own error.

Equals scikit-learn's `median_absolute_error`.
"""

import numpy as np

from .core.contract import Example, Metric, WholeColumn, ratio
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The absolute error of each row; that error again and 1 for the one or two rows in the middle, else 0."""
    errors = np.abs(prediction - truth)
    low, high = (len(errors) - 1) // 2, len(errors) // 2
    middle = np.zeros(len(errors))
    middle[np.argpartition(errors, sorted({low, high}))[low : high + 1]] = 1
    return np.column_stack([errors, errors * middle, middle])


def total(sums: np.ndarray) -> float:
    _, in_the_middle, middle = sums
    return ratio(in_the_middle, middle)


def score(truth: np.ndarray, prediction: np.ndarray) -> float:
    return float(np.median(np.abs(prediction - truth)))


median_absolute_error = Metric(
    title="Median absolute error",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("absolute_error", "error_in_the_middle", "middle"),
        last_line="{error_in_the_middle} / {middle}",
    ),
    example=Example(
        truth="id,y\n1,3\n2,-0.5\n3,2\n4,7\n",
        submission="id,y\n1,2.5\n2,0.0\n3,2\n4,8\n",
        score=0.5,
    ),
)
