"""Share of the true positives that were found.

$$\\text{recall} = \\frac{tp}{tp + fn}$$

`positive` says which value counts as found: 1, or 0. `1.0` and `0.0` are read as 1 and 0; everything else is an error.
With no true positive the score is 1 if none was predicted, else 0. Predicting 1 everywhere gives 1; `binary_f1` is not
fooled.

For labels such as `cat`, `dog`, set `average`: each label $k$ has a recall, the share of its $tp_k + fn_k$ rows that
are predicted to be $k$.

- `macro`: the plain mean over every label that occurs in the truth or the predictions of the split; a label that is
  only predicted has a recall of 0 (`balanced_accuracy` leaves it out);
- `weighted`: the mean weighted by how many rows truly have the label, which is the accuracy, as is `micro`, the recall
  of the added counts;
- `label` names one label that counts alone, whatever the average. It must occur in both splits.

With truth `a a a b` and prediction `a a a a`, macro is 0.5 (1 for `a`, 0 for `b`), weighted and micro are 0.75.

Source: the binary confusion matrix of *evaluations* 0.0.1; equals scikit-learn's `recall_score` with the same word for
`average` and `zero_division=0`.
"""

import numpy as np

from .core.contract import ByParameters, Example, Metric, RowSum
from .numerics.averages import RECALL_OR_ZERO, Share
from .numerics.contingency import PARTS, confusion, found_share, two_by_two
from .numerics.label_averages import Average, OneLabel, with_labels
from .reading.number_kinds import Binary


def total(sums: np.ndarray) -> float:
    tp, _, fp, fn = sums
    return found_share(tp, fn, fp)


def share(*, average: Average = "binary", label: OneLabel = None) -> Share:
    return RECALL_OR_ZERO


def adapted(*, average: Average = "binary", label: OneLabel = None) -> Metric:
    return recall if (average, label) == ("binary", None) else with_labels(recall, share)


recall = Metric(
    title="Recall",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    computation=RowSum(rows=confusion, total=total, parts=PARTS, last_line="{tp} / ({tp} + {fn})"),
    by_parameters=ByParameters(metric=adapted),
    figures=two_by_two,
    example=Example(
        truth="id,y\n1,1\n2,1\n3,1\n4,0\n5,0\n",
        submission="id,y\n1,1\n2,0\n3,0\n4,1\n5,0\n",
        score=0.3333333333333333,
    ),
)
