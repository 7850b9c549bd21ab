"""Root of the mean squared error of the logarithms: ratios count, not differences.

$$\\mathrm{RMSLE} = \\sqrt{\\frac{1}{n} \\sum_{i=1}^{n} \\left(\\ln(\\hat y_i + 1) - \\ln(y_i + 1)\\right)^2}$$

For amounts and counts: numbers below 0 are refused in the truth and in the submission. 0 is perfect; a file whose
every $\\hat y + 1$ is twice (or half) of $y + 1$ scores $\\ln 2 = 0.693$, whatever the size of the answers. Predicting
too little costs more than predicting too much by the same difference: 5 instead of 9 gives 0.511, 13 instead of 9
gives 0.336.

`offset` takes the place of the 1. With 0 it is the RMSE of plain logarithms, as competitions about prices of houses
and flats use it; an answer or a prediction of 0 is then refused, because it has no logarithm.

Equals scikit-learn's `root_mean_squared_log_error`.
"""

import numpy as np

from .core.contract import Example, Metric, Rules
from .numerics.averages import root_mean_over_rows
from .numerics.log_losses import Offset, logarithm, unscorable, verify
from .reading.number_kinds import Amount, Number


def squared_log_error(truth: np.ndarray, prediction: np.ndarray, *, offset: Offset = 1.0) -> np.ndarray:
    return (logarithm(prediction, offset) - logarithm(truth, offset)) ** 2


rmsle = Metric(
    title="RMSLE",
    group="Numbers",
    direction="minimize",
    truth=Number(minimum=0),
    submission=Amount(),
    computation=root_mean_over_rows(squared_log_error),
    rules=Rules(verify=verify, unscorable=unscorable),
    example=Example(
        truth="id,y\n1,3\n2,0\n3,9\n4,99\n",
        submission="id,y\n1,7\n2,0\n3,4\n4,99\n",
        score=0.4901290717342736,
    ),
)
