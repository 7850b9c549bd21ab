"""Mean absolute error in which each row has its own weight.

$$\\mathrm{WMAE} = \\frac{\\sum_i w_i\\,|\\hat y_i - y_i|}{\\sum_i w_i}$$

The weights are a further column of the truth, which the host names; students never see them. They are at least 0, and
a row of weight 0 does not count. Only their ratios matter: 1 and 5 give the same score as 0.2 and 1. The score is in
the unit of the answers; 0 is perfect. Errors of 1 and 2 with weights 1 and 5 give 1.83; with equal weights it is the
MAE. A split whose weights are all 0 is refused at publication.

Equals scikit-learn's `mean_absolute_error` with `sample_weight`; "Walmart Recruiting: Store Sales Forecasting" on
Kaggle weighted weeks with holidays 5 and others 1.
"""

import numpy as np

from .core.arrays import Answers
from .core.contract import Example, Metric, Role, RowSum, Rules
from .core.messages import Message
from .reading.number_kinds import Number


def rows(truth: Answers, prediction: np.ndarray) -> np.ndarray:
    return np.column_stack([truth["weight"] * np.abs(prediction - truth.answer), truth["weight"]])


def unscorable(truth: Answers) -> str:
    return "" if truth["weight"].any() else Message("all its weights are 0.")


weighted_mae = Metric(
    title="Weighted MAE",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    roles={"weight": Role(Number(minimum=0), "The weight of each row.")},
    computation=RowSum(rows=rows, parts=("weighted_error", "weight")),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,y,weight\n1,10,1\n2,20,5\n3,30,2\n",
        submission="id,y\n1,14\n2,18\n3,30\n",
        score=1.75,
    ),
)
