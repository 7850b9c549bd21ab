"""Mean gamma deviance: relative errors of amounts above 0, such as costs or times.

$$D = \\frac{2}{n} \\sum_{i=1}^{n} \\left(\\ln\\frac{\\hat y_i}{y_i} + \\frac{y_i}{\\hat y_i} - 1\\right)$$

Numbers not above 0 are refused in the truth and in the submission. 0 is perfect. Only the ratio counts, so the unit of
the answers does not matter. Predicting too little costs more: half of the answer costs 0.614, twice the answer 0.386.
The best constant answer is the mean of the truth. A prediction below 1e-100 counts as 1e-100; the truth has no such
answers.

Equals scikit-learn's `mean_gamma_deviance`.
"""

import numpy as np

from .core.contract import Example, Metric
from .numerics.averages import mean_over_rows
from .numerics.log_losses import FLOOR, unit_deviance
from .reading.number_kinds import Number


def deviance(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return unit_deviance(truth, prediction, 2)


gamma_deviance = Metric(
    title="Gamma deviance",
    group="Numbers",
    direction="minimize",
    truth=Number(above=0, smallest=FLOOR),
    submission=Number(above=0),
    computation=mean_over_rows(deviance),
    example=Example(
        truth="id,y\n1,1\n2,3\n3,10\n4,2\n",
        submission="id,y\n1,1\n2,3\n3,5\n4,4\n",
        score=0.25000000000000006,
    ),
)
