"""Mean over target columns of Spearman's correlation of each column.

$$\\frac{1}{c} \\sum_{j=1}^{c} \\rho_j, \\qquad \\rho_j = \\mathrm{corr}(r_j, \\hat r_j)$$

where $r_j$ and $\\hat r_j$ are the ranks of the answers and of the predictions in column $j$ among the rows of the
split; equal numbers share the middle of their ranks. From -1 to 1; two columns with 1 and 0.2 give 0.6.

A constant column of predictions has no order and counts 0 by decision (the formula would divide 0 by 0, which cost
some Kaggle teams their score). A part of the truth with a column whose answers are all the same (one row, too) is
refused at publication.

Equals the mean of scipy's `spearmanr` over columns; "Google QUEST Q&A Labeling" on Kaggle, 2020.
"""

import numpy as np

from .core.contract import Example, Metric, Rules
from .numerics.averages import each_column, mean_over_columns
from .numerics.correlation import constant, correlation, mid_ranks, rank_correlation_influence
from .reading.number_kinds import Number


def of_column(truth: np.ndarray, prediction: np.ndarray) -> float:
    return correlation(mid_ranks(truth), mid_ranks(prediction))


columnwise_spearman = Metric(
    title="Column-wise Spearman",
    group="Numbers",
    direction="maximize",
    worst=-1.0,
    truth=Number(many=True, largest=np.inf),
    computation=mean_over_columns(of_column, rank_correlation_influence),
    rules=Rules(unscorable=constant),
    figures=each_column("Spearman's correlation of each column", of_column),
    example=Example(
        truth="id,a,b\n1,1,1\n2,2,2\n3,3,3\n4,4,60\n",
        submission="id,a,b\n1,1,0.1\n2,2,0.3\n3,3,0.2\n4,9,0.4\n",
        score=0.9,
    ),
)
