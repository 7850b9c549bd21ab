"""F1 of labels, one per row, averaged over the labels.

With $tp_k$ rows rightly predicted to be $k$, $fp_k$ wrongly, and $fn_k$ rows of $k$ predicted to be something else,

$$F_1(k) = \\frac{2\\,tp_k}{2\\,tp_k + fp_k + fn_k} \\qquad
\\text{macro } F_1 = \\frac{1}{|K|} \\sum_{k \\in K} F_1(k)$$

- `macro` (default): the plain mean over $K$, every label that occurs in the truth or the predictions of the split;
- `weighted`: the mean weighted by how many rows truly have the label;
- `micro`: one F1 of the counts added over all labels, which for one label per row is the accuracy.

A predicted label that the truth does not hold joins $K$ with an F1 of 0, so it costs more than its row. With truth
`a a a b` and prediction `a a a a`, macro is 0.429 (0.857 for `a`, 0 for `b`), weighted 0.643, micro 0.75.

For a 0/1 column in which only the 1s are sought, use Binary F1; for several labels per row, Multi-label F1.

Equals scikit-learn's `f1_score` with `average` set to the same word.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, WholeColumn
from .numerics.averages import F1, effects, mean_over_labels, size_of, worth
from .numerics.contingency import confusion_matrix, cross
from .reading.column_kinds import Label

Average = Annotated[
    Literal["macro", "micro", "weighted"],
    "macro: mean over labels; micro: pooled counts; weighted: mean by a label's true rows.",
]


def rows(truth: Coded, prediction: Coded, *, average: Average = "macro") -> Contributions:
    """The contribution of each row: its share of its label's part of the average if it is right, else 0."""
    found = cross(truth, prediction)
    added = worth(found.outcomes, F1, average)[found.true] * found.is_right
    return Contributions(added[:, None], found.of_row)


def total(sums: np.ndarray) -> float:
    """The sum."""
    return float(sums[0])


def score(truth: Coded, prediction: Coded, *, average: Average = "macro") -> float:
    """The average, from whole counts."""
    return mean_over_labels(cross(truth, prediction).outcomes, F1, average)


def influence(truth: Coded, prediction: Coded, *, average: Average = "macro") -> np.ndarray:
    """The influence of each row: a right one is a tp of its label, a wrong one a fn of its true and a fp of its
    predicted label."""
    found = cross(truth, prediction)
    tp, fp, fn = effects(found.outcomes, F1, average).T
    return np.where(found.is_right, tp[found.true], fn[found.true] + fp[found.said])[found.of_row]


def effective_size(truth: Coded, prediction: Coded, *, average: Average = "macro") -> float | None:
    """The number of rows with equally frequent labels that would be as certain; small if a label is rare."""
    return size_of(cross(truth, prediction).outcomes, F1, average)


f1 = Metric(
    title="F1",
    group="Labels",
    direction="maximize",
    best=1.0,
    worst=0.0,
    truth=Label(),
    submission=Label(),
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
        truth="id,label\n1,cat\n2,cat\n3,dog\n4,dog\n5,bird\n6,bird\n",
        submission="id,label\n1,cat\n2,dog\n3,dog\n4,dog\n5,cat\n6,bird\n",
        score=0.6555555555555556,
    ),
)
