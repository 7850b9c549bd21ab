"""Largest absolute error: only the worst row counts.

$$\\mathrm{max\\ error} = \\max_{i} |\\hat y_i - y_i|$$

In the unit of the answers; 0 is perfect. Errors of 0, 0 and 7 score as badly as three errors of 7. The best constant
answer lies halfway between the smallest and the largest truth. A single row scores its own error.

Unseen rows can always be worse. The standard error is the distance between the largest and the second largest error:
about the variation of the largest one, if errors become rarer exponentially the larger they are.

Equals scikit-learn's `max_error`.
"""

import numpy as np

from .core.contract import Example, Metric, WholeColumn, ratio
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The absolute error of each row, the same error for the largest alone (else 0), and 1 for the largest (else 0)."""
    errors = np.abs(prediction - truth)
    largest = np.zeros(len(errors))
    largest[np.argmax(errors)] = 1
    return np.column_stack([errors, errors * largest, largest])


def total(sums: np.ndarray) -> float:
    _, error, largest = sums
    return ratio(error, largest)


def score(truth: np.ndarray, prediction: np.ndarray) -> float:
    return float(np.abs(prediction - truth).max())


def influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The change without the worst row, which leaves the second largest error; 0 for all other rows."""
    errors = np.abs(prediction - truth)
    effects = np.zeros(len(errors))
    if len(errors) > 1:
        second, first = np.partition(errors, len(errors) - 2)[-2:]
        effects[np.argmax(errors)] = first - second
    return effects


max_error = Metric(
    title="Max error",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("absolute_error", "largest_error", "largest"),
        last_line="{largest_error} / {largest}",
        influence=influence,
    ),
    example=Example(
        truth="id,y\n1,3\n2,-0.5\n3,2\n4,7\n",
        submission="id,y\n1,2.5\n2,0.0\n3,2\n4,8\n",
        score=1.0,
    ),
)
