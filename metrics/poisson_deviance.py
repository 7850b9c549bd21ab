"""Mean Poisson deviance: errors of counts, weighed by how large a count was expected.

$$D = \\frac{2}{n} \\sum_{i=1}^{n} \\left(y_i \\ln\\frac{y_i}{\\hat y_i} - y_i + \\hat y_i\\right)$$

For counts and rates: numbers below 0 are refused in the truth and in the submission. 0 is perfect. The same difference
costs less where much was expected: 12 instead of 10 costs 0.354, 102 instead of 100 costs 0.0395. The best constant
answer is the mean of the truth. Where the answer is 0, a row costs twice its prediction. A prediction of 0 where
something happened would be endlessly wrong; below 1e-100 it counts as 1e-100, which costs 458.5 for an answer of 1.

Equals scikit-learn's `mean_poisson_deviance`, which refuses predictions of 0.
"""

import numpy as np

from .core.contract import Example, Metric
from .numerics.averages import mean_over_rows
from .numerics.log_losses import FLOOR, unit_deviance
from .reading.number_kinds import Number


def deviance(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return unit_deviance(truth, prediction, 1)


poisson_deviance = Metric(
    title="Poisson deviance",
    group="Numbers",
    direction="minimize",
    truth=Number(minimum=0, smallest=FLOOR),
    submission=Number(minimum=0),
    computation=mean_over_rows(deviance),
    example=Example(
        truth="id,y\n1,0\n2,1\n3,2\n4,5\n",
        submission="id,y\n1,0.5\n2,1\n3,1\n4,5\n",
        score=0.4431471805599453,
    ),
)
