"""Mean over the labels of the share of their rows that is right: rare labels count fully.

$$\\text{balanced accuracy} = \\frac{1}{|K|} \\sum_{k \\in K}
\\frac{|\\{i : y_i = k \\text{ and } \\hat y_i = k\\}|}{|\\{i : y_i = k\\}|}$$

$K$ are the labels that the truth of the split holds. It is the macro average of recall; with equally frequent labels
it is the accuracy.

- Answering one label everywhere gives $1 / |K|$: 0.5 with two labels, however rare one of them is.
- A predicted label that the truth does not hold is wrong for its row and changes nothing else (scikit-learn says so
  in a warning).
- With truth `a a a b` and prediction `a a a a` the accuracy is 0.75 and this is 0.5.

Equals scikit-learn's `balanced_accuracy_score`.
"""

from __future__ import annotations

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, WholeColumn
from .numerics.averages import RECALL, effects, mean_over_labels, size_of, worth
from .numerics.contingency import confusion_matrix, cross
from .reading.column_kinds import Label


def rows(truth: Coded, prediction: Coded) -> Contributions:
    """The contribution of each row: 1 / (true rows of its label × labels) if it is right, else 0."""
    found = cross(truth, prediction)
    added = worth(found.outcomes, RECALL, "macro")[found.true] * found.is_right
    return Contributions(added[:, None], found.of_row)


def total(sums: np.ndarray) -> float:
    return float(sums[0])


def score(truth: Coded, prediction: Coded) -> float:
    return mean_over_labels(cross(truth, prediction).outcomes, RECALL, "macro")


def influence(truth: Coded, prediction: Coded) -> np.ndarray:
    found = cross(truth, prediction)
    tp, _, fn = effects(found.outcomes, RECALL, "macro").T
    return np.where(found.is_right, tp[found.true], fn[found.true])[found.of_row]


def effective_size(truth: Coded, prediction: Coded) -> float | None:
    """The number of rows with equally frequent labels that would be as certain; small if a label is rare."""
    return size_of(cross(truth, prediction).outcomes, RECALL, "macro")


balanced_accuracy = Metric(
    title="Balanced accuracy",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Label(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        score=score,
        parts=("share",),
        last_line="{share}",
        influence=influence,
        effective_size=effective_size,
    ),
    figures=confusion_matrix,
    example=Example(
        truth="id,label\n1,a\n2,a\n3,a\n4,a\n5,b\n6,b\n",
        submission="id,label\n1,a\n2,a\n3,a\n4,b\n5,b\n6,a\n",
        score=0.625,
    ),
)
