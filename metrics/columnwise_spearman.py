"""Mean over target columns of Spearman's correlation of each column.

$$\\frac{1}{c} \\sum_{j=1}^{c} \\rho_j, \\qquad \\rho_j = \\mathrm{corr}(r_j, \\hat r_j)$$

where $r_j$ and $\\hat r_j$ are the ranks of the answers and of the predictions in column $j$ among the rows of the
split; equal numbers share the middle of their ranks. From -1 to 1; two columns with 1 and 0.2 give 0.6.

A constant column of predictions has no order and counts 0 by decision (the formula would divide 0 by 0, which cost
some Kaggle teams their score). A part of the truth with a column whose answers are all the same (one row, too) is
refused at publication.

Equals the mean of scipy's `spearmanr` over columns; "Google QUEST Q&A Labeling" on Kaggle, 2020.
"""

from __future__ import annotations

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn, ratio
from .core.figures import Figure
from .numerics.averages import Unscored, added_over, by_column
from .numerics.correlation import constant, correlation, mid_ranks, rank_correlation_influence
from .reading.column_kinds import Number


def of_columns(truth: np.ndarray, prediction: np.ndarray) -> list[float]:
    """Spearman's correlation of each column."""
    return [correlation(mid_ranks(true), mid_ranks(said)) for true, said in zip(truth.T, prediction.T, strict=True)]


def score(truth: np.ndarray, prediction: np.ndarray, *, unscored: Unscored = None) -> float:
    """The mean over columns."""
    found = of_columns(truth, prediction)
    return ratio(sum(found), len(found))


def influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The influence of each row on the mean of the columns' correlations."""
    return added_over(truth, prediction, range(truth.shape[1]), rank_correlation_influence)


def figures(truth: np.ndarray, prediction: np.ndarray) -> list[Figure]:
    """The correlation of each column."""
    return by_column("Spearman's correlation of each column", of_columns(truth, prediction))


columnwise_spearman = Metric(
    title="Column-wise Spearman",
    group="Numbers",
    direction="maximize",
    best=1.0,
    worst=-1.0,
    truth=Number(many=True, largest=np.inf),
    submission=Number(many=True, largest=np.inf),
    computation=WholeColumn(score=score, influence=influence),
    rules=Rules(unscorable=constant),
    figures=figures,
    example=Example(
        truth="id,a,b\n1,1,1\n2,2,2\n3,3,3\n4,4,60\n",
        submission="id,a,b\n1,1,0.1\n2,2,0.3\n3,3,0.2\n4,9,0.4\n",
        score=0.9,
    ),
)
