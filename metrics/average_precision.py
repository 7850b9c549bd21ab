"""Mean precision at the rows with answer 1, when all rows are ranked by score.

With $P_k$ and $R_k$ precision and recall of the rows from the highest score down to the $k$-th distinct one,

$$\\mathrm{AP} = \\sum_k (R_k - R_{k-1})\\,P_k$$

which is the mean, over the rows with answer 1, of the precision at their score: the area below the steps of precision
over recall, without interpolation.

- Equal scores share one threshold, so the order of the file never matters: a 1 and a 0 at the same highest score both
  have precision 0.5.
- Constant scores give the share of the 1s, as guessing does in the mean: with 2 % of 1s, 0.02. All 1s above all 0s
  gives 1; a single 1 among 100 rows, in the last place, gives 0.01.
- Any finite numbers will do; only their order matters. A split with one class only is refused at publication.

Equals scikit-learn's `average_precision_score`.
"""

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn, quotient
from .numerics.ranks import (
    Ranks,
    average_precision_of,
    one_class,
    only_labels,
    precision_at_ones,
    precision_influence,
    ranks_of,
    recall_curve,
)
from .reading.number_kinds import Binary, RankedScore


def rows(truth: np.ndarray, prediction: np.ndarray | Ranks) -> np.ndarray:
    return np.column_stack([precision_at_ones(truth, prediction), truth])


def relevant_rows(truth: np.ndarray) -> int:
    return int(np.count_nonzero(truth))


average_precision = Metric(
    title="Average precision",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=rows,
        total=quotient,
        score=average_precision_of,
        parts=("precision", "ones"),
        influence=precision_influence,
        relevant_rows=relevant_rows,
        ready=ranks_of,
    ),
    rules=Rules(unscorable=one_class, hint=only_labels),
    figures=recall_curve,
    example=Example(
        truth="id,y\n1,0\n2,0\n3,1\n4,1\n",
        submission="id,y\n1,0.1\n2,0.4\n3,0.35\n4,0.8\n",
        score=0.8333333333333333,
    ),
)
