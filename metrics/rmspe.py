"""Root of the mean squared percentage error: large errors in proportion to the true number weigh more.

$$\\mathrm{RMSPE} = \\sqrt{\\frac{1}{n} \\sum_{i=1}^{n} \\left(\\frac{\\hat y_i - y_i}{y_i}\\right)^2}$$

0 is perfect; 0.1 means that predictions are about 10 % off. There is no upper end: 30 instead of 10 gives 2, while 0
instead of 10 gives only 1, so predicting too little is safer. One row that is 50 % off among 100 right ones gives 0.05.

An answer of 0 (or nearer to it than 1e-50) is refused at publication, because no error can be a share of it: leave such
rows out or mark them as Ignored, which is what the competition below did with days without sales.

Source: Rossmann Store Sales 2015; Optiver Realized Volatility Prediction 2021.
"""

import numpy as np

from .core.contract import Example, Metric
from .numerics.averages import root_mean_over_rows
from .reading.number_kinds import NonZero, Number


def squared_relative_error(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return ((prediction - truth) / truth) ** 2


rmspe = Metric(
    title="RMSPE",
    group="Numbers",
    direction="minimize",
    truth=NonZero(),
    submission=Number(),
    computation=root_mean_over_rows(squared_relative_error),
    example=Example(
        truth="id,y\n1,10\n2,-4\n3,2\n4,8\n",
        submission="id,y\n1,15\n2,-4\n3,1\n4,10\n",
        score=0.375,
    ),
)
