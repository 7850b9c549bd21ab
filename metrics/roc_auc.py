"""Area under the ROC curve: the chance that a 1 gets a higher score than a 0.

$$\\mathrm{AUC} = \\frac{n_\\text{ordered} + \\tfrac12 n_\\text{ties}}{n_1 \\cdot n_0}$$

over all pairs of a row with truth 1 and a row with truth 0. Only the order of the scores matters, so any finite numbers
will do; probabilities are usual. Constant scores give 0.5, reversed ones turn a value $v$ into $1 - v$.

Source: Hanley and McNeil 1982; equals scikit-learn's `roc_auc_score`.
"""

from __future__ import annotations

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn
from .numerics.averages import quotient
from .numerics.ranks import Ranks, one_class, ranks_of, roc_area, roc_curve, roc_effective_size, roc_influence, wins
from .reading.column_kinds import Binary, RankedScore


def rows(truth: np.ndarray, prediction: np.ndarray | Ranks) -> np.ndarray:
    """For each 1 the number of 0s below it, ties counting half, and of all its pairs."""
    return wins(truth, prediction)


def score(truth: np.ndarray, prediction: np.ndarray | Ranks) -> float:
    """The area under the curve."""
    return roc_area(truth, prediction)


roc_auc = Metric(
    title="ROC AUC",
    group="Probabilities",
    direction="maximize",
    best=1.0,
    worst=0.0,
    truth=Binary(),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=rows,
        total=quotient,
        score=score,
        parts=("ordered", "pairs"),
        last_line="{ordered} / {pairs}",
        influence=roc_influence,
        effective_size=roc_effective_size,
        ready=ranks_of,
    ),
    rules=Rules(unscorable=one_class),
    figures=roc_curve,
    example=Example(
        truth="id,y\n1,0\n2,0\n3,1\n4,1\n",
        submission="id,y\n1,0.1\n2,0.4\n3,0.35\n4,0.8\n",
        score=0.75,
    ),
)
