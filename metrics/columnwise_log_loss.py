"""Mean log loss over several columns of answers 0 and 1.

The truth has one 0/1 column per label, the submission one probability under the same name. With $p_{il}$ the
probability given to the true answer of row $i$ and label $l$,

$$\\mathrm{LogLoss} = -\\frac{1}{n\\,L} \\sum_{i=1}^{n} \\sum_{l=1}^{L} \\ln \\max(p_{il}, c)$$

where `clip` is $c$. All columns have the same rows, so the mean over all cells is also the mean of the columns' own log
losses. With one column this is `log_loss`. Answering 0.5 everywhere gives 0.693, sure and right everywhere 0; one sure
and wrong cell among 100 costs 0.345 at $c = 10^{-15}$. The probabilities of a row need not sum to 1.

Source: the first metric of the Toxic Comment Classification Challenge 2018; Mechanisms of Action 2020.
"""

import numpy as np

from .core.contract import Example, Metric, RowSum, quotient
from .numerics.averages import Unscored
from .numerics.log_losses import Clip, surprise
from .reading.number_kinds import Binary, Probability


def rows(truth: np.ndarray, prediction: np.ndarray, *, clip: Clip = 1e-15) -> np.ndarray:
    lost = surprise(truth, prediction, clip=clip).sum(axis=1)
    return np.column_stack([lost, np.full(len(truth), truth.shape[1])])


def total(sums: np.ndarray, *, unscored: Unscored = None) -> float:
    return quotient(sums)


columnwise_log_loss = Metric(
    title="Column-wise log loss",
    group="Probabilities",
    direction="minimize",
    truth=Binary(many=True),
    submission=Probability(many=True),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("surprise", "cells"),
        last_line="{surprise} / {cells}",
    ),
    example=Example(
        truth="id,toxic,insult\n1,1,0\n2,0,0\n3,1,1\n",
        submission="id,toxic,insult\n1,0.8,0.5\n2,0.1,0.2\n3,0.5,0.25\n",
        score=0.5540393900876711,
    ),
)
