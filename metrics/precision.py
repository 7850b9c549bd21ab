"""Share of the predicted positives that are right.

$$\\text{precision} = \\frac{tp}{tp + fp}$$

`positive` says which value counts as found: 1, or 0. `1.0` and `0.0` are read as 1 and 0; everything else is an error.
With no predicted positive the score is 1 if the truth has none either, else 0. It can be had cheaply by predicting only
the surest row; `binary_f1` cannot.

For labels such as `cat`, `dog`, set `average`: each label $k$ has a precision, with $tp_k$ rows rightly predicted to be
$k$ and $fp_k$ wrongly.

- `macro`: the plain mean over every label that occurs in the truth or the predictions of the split; a label that is
  never predicted has a precision of 0;
- `weighted`: the mean weighted by how many rows truly have the label;
- `micro`: one precision of the added counts, which for one label per row is the accuracy;
- `label` names one label that counts alone, whatever the average. It must occur in both splits.

With truth `a a a b` and prediction `a a a a`, macro is 0.375 (0.75 for `a`, 0 for `b`), weighted 0.5625, micro 0.75.

Source: the binary confusion matrix of *evaluations* 0.0.1; equals scikit-learn's `precision_score` with the same word
for `average` and `zero_division=0`.
"""

import numpy as np

from .core.contract import ByParameters, Example, Metric, RowSum
from .numerics.averages import PRECISION_OR_ZERO, Share
from .numerics.contingency import PARTS, confusion, found_share, two_by_two
from .numerics.label_averages import Average, OneLabel, with_labels
from .reading.number_kinds import Binary


def total(sums: np.ndarray) -> float:
    tp, _, fp, fn = sums
    return found_share(tp, fp, fn)


def share(*, average: Average = "binary", label: OneLabel = None) -> Share:
    return PRECISION_OR_ZERO


def adapted(*, average: Average = "binary", label: OneLabel = None) -> Metric:
    return precision if (average, label) == ("binary", None) else with_labels(precision, share)


precision = Metric(
    title="Precision",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    computation=RowSum(rows=confusion, total=total, parts=PARTS, last_line="{tp} / ({tp} + {fp})"),
    by_parameters=ByParameters(metric=adapted),
    figures=two_by_two,
    example=Example(
        truth="id,y\n1,1\n2,1\n3,1\n4,0\n5,0\n",
        submission="id,y\n1,1\n2,0\n3,0\n4,1\n5,0\n",
        score=0.5,
    ),
)
