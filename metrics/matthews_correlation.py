"""Correlation of true and predicted labels; useful when one label is rare.

For 0/1 labels, with the counts of the two by two table,

$$\\mathrm{MCC} = \\frac{tp \\cdot tn - fp \\cdot fn}{\\sqrt{(tp + fp)(tp + fn)(tn + fp)(tn + fn)}}$$

For any number of labels, with $n$ rows of which $c$ are right, $t_k$ rows truly $k$ and $p_k$ predicted $k$, it is
$(c\\,n - \\sum_k t_k p_k) \\,/\\, \\sqrt{(n^2 - \\sum_k t_k^2)(n^2 - \\sum_k p_k^2)}$, which is the same for two.

1 is perfect and one answer everywhere gives 0. With two labels, all wrong gives -1. Five rows with truth `1 1 1 0 0`
and prediction `1 1 0 0 0` give 0.667. Exchanging the names of the labels changes nothing, and neither does exchanging
truth and prediction. The counts are whole numbers until the last root. A part of the truth with one label only cannot
be scored.

Source: Matthews 1975, Gorodkin 2004. Equals scikit-learn's `matthews_corrcoef`.
"""

import math
from fractions import Fraction

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules, WholeColumn
from .numerics.contingency import Crossing, confusion_matrix, cross, one_label
from .reading.label_kinds import Label


def covariances(found: Crossing) -> tuple[int, int, int]:
    """The covariance of truth and prediction, the variance of the truth and that of the prediction, all times the
    squared number of rows."""
    square = found.rows**2
    right = int(found.counts[found.is_right].sum())
    both = right * found.rows - int((found.truly * found.predicted).sum())
    return both, square - int((found.truly**2).sum()), square - int((found.predicted**2).sum())


def rows(truth: Coded, prediction: Coded) -> Contributions:
    found = cross(truth, prediction)
    true, said = found.truly / found.rows, found.predicted / found.rows
    table = [found.is_right - said[found.true], 1 - true[found.true], 1 - said[found.said]]
    return Contributions(np.column_stack(table), found.of_row)


def total(sums: np.ndarray) -> float:
    together, truth, prediction = sums
    under = math.sqrt(truth * prediction)
    return float(together / under) if under else 0.0


def score(truth: Coded, prediction: Coded) -> float:
    """The correlation, computed from whole numbers."""
    both, true, said = covariances(cross(truth, prediction))
    if not true or not said:
        return 0.0
    return math.copysign(math.sqrt(Fraction(both**2, true * said)), both)


def influence(truth: Coded, prediction: Coded) -> np.ndarray:
    """The derivative by the weight of each row; it depends only on the row's cell of the confusion matrix."""
    found = cross(truth, prediction)
    _, true, said = covariances(found)
    if not true or not said:
        return np.zeros(found.rows)
    right = int(found.counts[found.is_right].sum())
    more_both = right + found.rows * found.is_right - found.predicted[found.true] - found.truly[found.said]
    more_true = 2.0 * (found.rows - found.truly[found.true])
    more_said = 2.0 * (found.rows - found.predicted[found.said])
    value = score(truth, prediction)
    by_cell = more_both / math.sqrt(true * said) - value * (more_true / (2 * true) + more_said / (2 * said))
    return by_cell[found.of_row]


matthews_correlation = Metric(
    title="Matthews correlation",
    group="Labels",
    direction="maximize",
    worst=-1.0,
    truth=Label(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("together", "truth", "prediction"),
        last_line="{together} / √({truth} · {prediction})",
        influence=influence,
    ),
    rules=Rules(unscorable=one_label),
    figures=confusion_matrix,
    example=Example(
        truth="id,y\n1,1\n2,1\n3,1\n4,0\n5,0\n",
        submission="id,y\n1,1\n2,1\n3,0\n4,0\n5,0\n",
        score=0.6666666666666666,
    ),
)
