"""Normalised Gini coefficient of answers 0 and 1 in which the zeros have a separate weight.

From the highest score down, the share of the ones found so far is compared with the share of all weight gone through.
With $w_i$ = 1 for a one and `zero_weight` for a zero, $W$ the sum of all weights, $n$ the number of ones, and over the
rows in the order of their scores

$$G = \\sum_i w_i \\left(\\frac{\\sum_{j \\le i} y_j}{n} - \\frac{\\sum_{j \\le i} w_j}{W}\\right)$$

the score is $G$ divided by that of the best order. It undoes the drawing of a part of the zeros: of data that kept one
zero in twenty, each stands for 20.

- The best order gives 1. With `zero_weight` 1 this is `gini`, from -1 on; with a larger one the reverse order is a
  little below -1, and a guess a little below 0.
- Only the order of the scores matters. Equal scores share the rows that they hold up, so the order of the file never
  matters.
- A split that has only ones or only zeros is refused at publication.

Source: the first half of "American Express Default Prediction" on Kaggle, 2022 (`zero_weight` 20).
"""

from typing import Annotated

import numpy as np

from ..core.contract import Example, Metric, Rules, WholeColumn, ratio
from ..core.parameters import Range
from ..numerics.ranks import one_class
from ..numerics.sums import exact_sum
from ..reading.number_kinds import Binary, RankedScore

ZeroWeight = Annotated[float, Range(0, 1e6, exclusive_minimum=True), "Weight of a row whose answer is 0; a one has 1."]


def rows(truth: np.ndarray, prediction: np.ndarray, *, zero_weight: ZeroWeight = 1.0) -> np.ndarray:
    weights = np.where(truth > 0, 1.0, zero_weight)
    return np.column_stack([truth * _lead(weights, scores) for scores in (prediction, truth)])


def _lead(weights: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The weight of a row and of all rows below it, equal scores counting half, minus the mean for random scores."""
    _, places = np.unique(scores, return_inverse=True)
    # Sorted by weight, so that the sums of equal scores do not depend on the order of the rows.
    order = np.lexsort((weights, places))
    grouped = np.bincount(places[order], weights[order])
    below = (np.cumsum(grouped) - grouped)[places] + (grouped[places] - weights) / 2
    whole = float(exact_sum(weights))
    return weights + below - (whole + float(exact_sum(weights**2)) / whole) / 2


def total(sums: np.ndarray) -> float:
    return min(ratio(*sums), 1.0)


weighted_gini = Metric(
    title="Weighted Gini",
    group="Probabilities",
    direction="maximize",
    truth=Binary(),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("area", "best_area"),
        last_line="{area} / {best_area}",
    ),
    rules=Rules(unscorable=one_class),
    example=Example(
        truth="id,y\n1,0\n2,1\n3,0\n4,1\n5,0\n",
        submission="id,y\n1,0.2\n2,0.9\n3,0.4\n4,0.3\n5,0.1\n",
        score=0.6666666666666666,
    ),
)
