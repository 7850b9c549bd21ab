"""Share of the predicted positives that are right.

$$\\text{precision} = \\frac{tp}{tp + fp}$$

`positive` says which value counts as found: 1, or 0. `1.0` and `0.0` are read as 1 and 0; everything else is an error.
With no predicted positive the score is 1 if the truth has none either, else 0. It can be had cheaply by predicting only
the surest row; `binary_f1` cannot.

Source: the binary confusion matrix of *evaluations* 0.0.1; equals scikit-learn where that divides by something.
"""

from __future__ import annotations

import numpy as np

from .core.contract import Contributions, Example, Metric, RowSum
from .numerics.contingency import PARTS, Positive, confusion, found_share, two_by_two
from .reading.column_kinds import Binary


def rows(truth: np.ndarray, prediction: np.ndarray, *, positive: Positive = 1) -> Contributions:
    """The cell of the two-by-two table of each row."""
    return confusion(truth, prediction, positive)


def total(sums: np.ndarray) -> float:
    """Precision."""
    tp, _, fp, fn = sums
    return found_share(tp, fp, fn)


precision = Metric(
    title="Precision",
    group="Labels",
    direction="maximize",
    best=1.0,
    worst=0.0,
    truth=Binary(),
    submission=Binary(),
    computation=RowSum(rows=rows, total=total, parts=PARTS, last_line="{tp} / ({tp} + {fp})"),
    figures=two_by_two,
    example=Example(
        truth="id,y\n1,1\n2,1\n3,1\n4,0\n5,0\n",
        submission="id,y\n1,1\n2,0\n3,0\n4,1\n5,0\n",
        score=0.5,
    ),
)
