"""Sum of absolute errors divided by the sum of absolute answers (weighted absolute percentage error).

$$\\mathrm{WAPE} = \\frac{\\sum_i |\\hat y_i - y_i|}{\\sum_i |y_i|}$$

A share of the answers: 0 is perfect, 0.1 is an error of a tenth of what there was, and predicting 0 everywhere gives 1.
There is no upper end. Unlike the mean of each row's own percentage (`mape`) it allows answers of 0, and large answers
count more: errors of 1 and 10 for answers of 10 and 100 give 0.1, errors of 10 and 1 as well.

The unit does not matter, so errors of columns in different units can be added; `composite_error` does that. A part
whose answers are all 0 is refused at publication.

Source: Kolassa and Schütz 2007 (MAD/Mean ratio); the normalised absolute error of each column of "TReNDS Neuroimaging"
on Kaggle, 2020, whose answers are all above 0.
"""

import numpy as np

from .core.contract import Example, Metric, RowSum, Rules
from .core.messages import Message
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.column_stack([np.abs(prediction - truth), np.abs(truth)])


def unscorable(truth: np.ndarray) -> str:
    return "" if truth.any() else Message("all its answers are 0.")


wape = Metric(
    title="WAPE",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=RowSum(rows=rows, parts=("error", "answers")),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,y\n1,10\n2,100\n3,0\n",
        submission="id,y\n1,12\n2,91\n3,0\n",
        score=0.1,
    ),
)
