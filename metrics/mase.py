"""Mean absolute scaled error (MASE): errors of forecasts as multiples of those of a naive forecast.

With $q_i$ the scale of row $i$, the mean absolute error of a naive forecast on the training part of its series,

$$\\mathrm{MASE} = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{|\\hat y_i - y_i|}{q_i}$$

The scale is a further column of the truth, which the host names; students never see it there. For a series
$x_1 \\dots x_T$ and a season of $m$ steps it is the mean of $|x_t - x_{t-m}|$ over its training part, the same in each
of its rows. Below 1 the forecasts are better than the naive one was; 0 is perfect. As errors have no unit, series of
different sizes can be averaged. Errors of 2 and 3 at scales of 4 and 2 give (0.5 + 1.5) / 2 = 1.

Every row counts the same. For the mean over series of different lengths use `mean_error_by_group`. A scale of 0, of a
series that never changes, is refused.

Source: Hyndman and Koehler 2006; equals scikit-learn's `mean_absolute_error` of both columns divided by the scale.
"""

import numpy as np

from .core.arrays import Answers
from .core.contract import Example, Metric, Role
from .numerics.averages import mean_over_rows
from .reading.number_kinds import Number


def scaled_error(truth: Answers, prediction: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.abs(prediction - truth.answer) / truth["scale"]
    return found


mase = Metric(
    title="MASE",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    roles={"scale": Role(Number(above=0, smallest=1e-50), "The error of a naive forecast of the row's series.")},
    computation=mean_over_rows(scaled_error),
    example=Example(
        truth="id,y,scale\n1,10,4\n2,20,2\n",
        submission="id,y\n1,12\n2,17\n",
        score=1.0,
    ),
)
