"""Symmetric percentage error: each error as a share of the mean size of answer and prediction.

$$\\mathrm{SMAPE} = \\frac{200}{n} \\sum_{i=1}^{n} \\frac{|\\hat y_i - y_i|}{|y_i| + |\\hat y_i|}$$

The definition of the M4 competition and of "Web Traffic Time Series Forecasting" on Kaggle: from 0 (perfect) to 200. A
row where both numbers are 0 counts 0; where only one of them is 0, or the signs differ, it counts the full 200. 15
instead of 10 gives 40, 5 instead of 10 gives 66.7. A single row scores its own error.

`scale` is the largest value: 200 or 100 in per cent, 2 or 1 as a share. `offset` is added to both numbers first; with
1 it is the SMAPE+1 that keeps counts of 0 from costing the full scale.

Source: Makridakis, Spiliotis and Assimakopoulos 2020 (M4); the variants with 100 and 1 halve it.
"""

from typing import Annotated, Literal

import numpy as np

from .core.contract import ByParameters, Example, Metric, quotient
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .reading.number_kinds import Number

Scale = Annotated[Literal[200, 100, 2, 1], "The largest value: 200 or 100 in per cent, 2 or 1 as a share."]
Shift = Annotated[float, Range(-1e9, 1e9), "Added to answer and prediction before they are compared."]


def share(truth: np.ndarray, prediction: np.ndarray, *, offset: Shift = 0.0) -> np.ndarray:
    true, said = truth + offset, prediction + offset
    sizes = np.abs(true) + np.abs(said)
    return np.divide(np.abs(said - true), sizes, out=np.zeros(len(true)), where=sizes > 0)


def total(sums: np.ndarray, *, scale: Scale = 200) -> float:
    return scale * quotient(sums)


def worst(*, scale: Scale = 200) -> float:
    return float(scale)


smape = Metric(
    title="SMAPE",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=mean_over_rows(share, total, "{scale} · {share} / {rows}"),
    by_parameters=ByParameters(worst=worst),
    example=Example(
        truth="id,y\n1,10\n2,0\n3,0\n4,1\n",
        submission="id,y\n1,30\n2,0\n3,5\n4,1\n",
        score=75.0,
    ),
)
