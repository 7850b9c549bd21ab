"""Weighted harmonic mean of precision and recall for answers 0 and 1.

$$F_\\beta = \\frac{(1 + \\beta^2)\\,tp}{(1 + \\beta^2)\\,tp + \\beta^2 fn + fp}$$

`beta` below 1 favours precision, above 1 recall; at 1 this is `binary_f1`.

`positive` says which value counts as found: 1, or 0. `1.0` and `0.0` are read as 1 and 0; everything else is an error.
With no positive in truth and prediction the score is 1; with positives on one side only it is 0.

For labels such as `cat`, `dog`, set `average`: each label $k$ has an F-beta of its counts $tp_k$, $fp_k$ and $fn_k$.

- `macro`: the plain mean over every label that occurs in the truth or the predictions of the split;
- `weighted`: the mean weighted by how many rows truly have the label;
- `micro`: one F-beta of the added counts, which for one label per row is the accuracy;
- `label` names one label that counts alone, whatever the average. It must occur in both splits.

With `beta` 2, truth `a a a b` and prediction `a a a a`, macro is 0.46875 (0.9375 for `a`, 0 for `b`), weighted
0.703125, micro 0.75.

Source: the binary confusion matrix of *evaluations* 0.0.1; equals scikit-learn's `fbeta_score` with the same word for
`average` and `zero_division=0`.
"""

import numpy as np

from .core.contract import ByParameters, Example, Metric, RowSum
from .numerics.averages import Beta, Share, f_beta, f_share
from .numerics.contingency import PARTS, confusion, two_by_two
from .numerics.label_averages import Average, OneLabel, with_labels
from .reading.number_kinds import Binary


def total(sums: np.ndarray, *, beta: Beta = 1.0) -> float:
    tp, _, fp, fn = sums
    return f_beta(tp, fp, fn, beta)


def share(*, average: Average = "binary", label: OneLabel = None, beta: Beta = 1.0) -> Share:
    return f_share(beta)


def adapted(*, average: Average = "binary", label: OneLabel = None) -> Metric:
    return fbeta if (average, label) == ("binary", None) else with_labels(fbeta, share)


fbeta = Metric(
    title="F-beta",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    computation=RowSum(
        rows=confusion,
        total=total,
        parts=PARTS,
        last_line="(1 + {beta}²)·{tp} / ((1 + {beta}²)·{tp} + {beta}²·{fn} + {fp})",
    ),
    by_parameters=ByParameters(metric=adapted),
    figures=two_by_two,
    example=Example(
        truth="id,y\n1,1\n2,1\n3,1\n4,0\n5,0\n",
        submission="id,y\n1,1\n2,0\n3,0\n4,1\n5,0\n",
        score=0.4,
    ),
)
