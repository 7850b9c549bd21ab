"""Mean absolute percentage error: each error as a share of the true number.

$$\\mathrm{MAPE} = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{|\\hat y_i - y_i|}{|y_i|}$$

0 is perfect; 0.1 means that predictions are 10 % off on average. There is no upper end: 30 instead of 10 gives 2,
while 0 instead of 10 gives only 1. So predicting too little is safer, and 0 everywhere scores 1.

An answer of 0 (or nearer to it than 1e-50) is refused at publication, because no error can be a share of it: leave such
rows out, mark them as Ignored, or choose `smape` or `mae`. (scikit-learn divides by 2.2e-16 instead; one such row then
makes the score 4,503,599,627,370,496 for an error of 1.) With `percent` the score is a hundred times as large.

Equals scikit-learn's `mean_absolute_percentage_error`.
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric, quotient
from .numerics.averages import mean_over_rows
from .reading.number_kinds import NonZero, Number

Percent = Annotated[bool, "Give the score in per cent: 12.5 instead of 0.125."]


def relative_error(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.abs(prediction - truth) / np.abs(truth)


def total(sums: np.ndarray, *, percent: Percent = False) -> float:
    return (100 if percent else 1) * quotient(sums)


def last_line(*, percent: Percent) -> str:
    return "100 · {relative_error} / {rows}" if percent else "{relative_error} / {rows}"


mape = Metric(
    title="MAPE",
    group="Numbers",
    direction="minimize",
    truth=NonZero(),
    submission=Number(),
    computation=mean_over_rows(relative_error, total, last_line),
    example=Example(
        truth="id,y\n1,10\n2,-4\n3,2\n4,8\n",
        submission="id,y\n1,15\n2,-4\n3,1\n4,10\n",
        score=0.3125,
    ),
)
