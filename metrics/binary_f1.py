"""Harmonic mean of precision and recall for answers 0 and 1.

From the two by two table of true positives $tp$, false positives $fp$ and false negatives $fn$,

$$F_1 = \\frac{2\\,tp}{2\\,tp + fp + fn}$$

`positive` says which value counts as found: 1, or 0. `1.0` and `0.0` are read as 1 and 0; everything else is an error.
With no positive in truth and prediction the score is 1; with positives on one side only it is 0.

Source: the binary confusion matrix of *evaluations* 0.0.1; equals scikit-learn where that divides by something.
"""

import numpy as np

from .core.contract import Example, Metric, RowSum
from .numerics.averages import f_beta
from .numerics.contingency import PARTS, confusion, two_by_two
from .reading.number_kinds import Binary


def total(sums: np.ndarray) -> float:
    tp, _, fp, fn = sums
    return f_beta(tp, fp, fn)


binary_f1 = Metric(
    title="Binary F1",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    computation=RowSum(
        rows=confusion,
        total=total,
        parts=PARTS,
        last_line="2·{tp} / (2·{tp} + {fp} + {fn})",
    ),
    figures=two_by_two,
    example=Example(
        truth="id,y\n1,1\n2,1\n3,1\n4,0\n5,0\n",
        submission="id,y\n1,1\n2,1\n3,0\n4,1\n5,0\n",
        score=0.6666666666666666,
    ),
)
