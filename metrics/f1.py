"""F1 of labels, one per row, averaged over the labels.

With $tp_k$ rows rightly predicted to be $k$, $fp_k$ wrongly, and $fn_k$ rows of $k$ predicted to be something else,

$$F_1(k) = \\frac{2\\,tp_k}{2\\,tp_k + fp_k + fn_k} \\qquad
\\text{macro } F_1 = \\frac{1}{|K|} \\sum_{k \\in K} F_1(k)$$

- `macro` (default): the plain mean over $K$, every label that occurs in the truth or the predictions of the split;
- `weighted`: the mean weighted by how many rows truly have the label;
- `micro`: one F1 of the counts added over all labels, which for one label per row is the accuracy.

A predicted label that the truth does not hold joins $K$ with an F1 of 0, so it costs more than its row. With truth
`a a a b` and prediction `a a a a`, macro is 0.429 (0.857 for `a`, 0 for `b`), weighted 0.643, micro 0.75.

`label` scores one label alone, among all others: of `a` in this example 0.857. It must occur in both splits.

For a 0/1 column in which only the 1s are sought, use Binary F1; for several labels per row, Multi-label F1.

Equals scikit-learn's `f1_score` with `average` set to the same word.
"""

from typing import Annotated, Literal

from .core.arrays import Coded
from .core.contract import Example, Metric, Rules
from .core.figures import Figure
from .numerics.averages import F1, Share
from .numerics.contingency import confusion_matrix
from .numerics.label_averages import OneLabel, average_over_labels, by_label, label_missing
from .reading.label_kinds import Label

Average = Annotated[
    Literal["macro", "micro", "weighted"],
    "macro: mean over labels; micro: pooled counts; weighted: mean by a label's true rows.",
]


def share(*, average: Average = "macro", label: OneLabel = None) -> Share:
    return F1


def figures(truth: Coded, prediction: Coded) -> list[Figure]:
    return confusion_matrix(truth, prediction) + by_label(truth, prediction, F1, "F1")


f1 = Metric(
    title="F1",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Label(),
    computation=average_over_labels(share),
    rules=Rules(unscorable=label_missing),
    figures=figures,
    example=Example(
        truth="id,label\n1,cat\n2,cat\n3,dog\n4,dog\n5,bird\n6,bird\n",
        submission="id,label\n1,cat\n2,dog\n3,dog\n4,dog\n5,cat\n6,bird\n",
        score=0.6555555555555556,
    ),
)
