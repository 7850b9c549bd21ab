"""Pinball loss: how well the predictions hit a quantile such as the upper tenth.

$$L_q = \\frac{1}{n} \\sum_{i=1}^{n} \\max\\left(q\\,(y_i - \\hat y_i),\\ (q - 1)\\,(y_i - \\hat y_i)\\right)$$

In the unit of the answers; 0 is perfect. With `quantile` $q = 0.9$ an answer above its prediction costs nine times as
much as one below: 10 too little costs 9, 10 too much costs 1. The best constant answer is that quantile of the truth.
With $q = 0.5$ (the default) it is half of the MAE, and with 0 or 1 one side costs nothing at all.

Equals scikit-learn's `mean_pinball_loss` with `alpha` set to the quantile.
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .reading.number_kinds import Number

Quantile = Annotated[float, Range(0, 1), "Share of the answers that should lie below their predictions."]


def loss(truth: np.ndarray, prediction: np.ndarray, *, quantile: Quantile = 0.5) -> np.ndarray:
    gaps = truth - prediction
    return np.maximum(quantile * gaps, (quantile - 1) * gaps)


pinball = Metric(
    title="Pinball loss",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=mean_over_rows(loss),
    example=Example(
        truth="id,y\n1,30\n2,20\n3,5\n4,10\n",
        submission="id,y\n1,20\n2,30\n3,5\n4,14\n",
        score=2.6,
        params={"quantile": 0.9},
    ),
)
