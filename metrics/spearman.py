"""Spearman's correlation: whether predictions and answers put the rows in the same order.

$$\\rho = \\frac{\\sum_i (r_i - \\bar r)(\\hat r_i - \\bar{\\hat r})}
{\\sqrt{\\sum_i (r_i - \\bar r)^2 \\, \\sum_i (\\hat r_i - \\bar{\\hat r})^2}}$$

where $r_i$ and $\\hat r_i$ are the ranks of answer and prediction among the rows of the split; equal numbers share the
middle of their ranks. From -1 (reversed) to 1 (the same order). Any rising function of the predictions scores the
same: 1, 10, 1000 for 1, 2, 3 scores 1.

Constant predictions have no order; they score 0 by decision (a formula would divide 0 by 0). A part of the truth whose
answers are all the same (one row, too) is refused at publication.

Equals scipy's `spearmanr`, which gives no number for constant predictions.
"""

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn
from .numerics.correlation import constant, correlation_of, correlation_rows, mid_ranks, rank_correlation_influence
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return correlation_rows(mid_ranks(truth), mid_ranks(prediction))


spearman = Metric(
    title="Spearman correlation",
    group="Numbers",
    direction="maximize",
    worst=-1.0,
    truth=Number(largest=np.inf),
    computation=WholeColumn(
        rows=rows,
        total=correlation_of,
        parts=("product", "truth_squared", "prediction_squared"),
        last_line="{product} / √({truth_squared} · {prediction_squared})",
        influence=rank_correlation_influence,
    ),
    rules=Rules(unscorable=constant),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,3\n4,60\n",
        submission="id,y\n1,0.1\n2,0.3\n3,0.2\n4,0.4\n",
        score=0.8,
    ),
)
