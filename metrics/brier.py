"""Mean squared distance of the predicted probabilities from answers 0 and 1.

$$\\mathrm{Brier} = \\frac{1}{n} \\sum_{i=1}^{n} (p_i - y_i)^2$$

0 is perfect, 1 is sure and wrong everywhere; answering 0.5 everywhere gives 0.25, and always answering the share $q$ of
the 1s gives $q(1 - q)$. A single sure and wrong answer costs 1, not infinitely much as under `log_loss`. The best a
team can do is to say what it believes. Probabilities outside 0 to 1 are refused.

Source: Brier 1950; equals scikit-learn's `brier_score_loss`.
"""

import numpy as np

from .core.contract import Example, Metric
from .numerics.averages import mean_over_rows
from .reading.number_kinds import Binary, Probability


def squared_error(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return (prediction - truth) ** 2


brier = Metric(
    title="Brier score",
    group="Probabilities",
    direction="minimize",
    worst=1.0,
    truth=Binary(),
    submission=Probability(),
    computation=mean_over_rows(squared_error),
    example=Example(
        truth="id,y\n1,0\n2,1\n3,1\n4,0\n",
        submission="id,y\n1,0.25\n2,0.75\n3,1\n4,0.5\n",
        score=0.09375,
    ),
)
