"""Interval score (Winkler): predicted intervals are to be narrow, and pay for each answer missed.

The submission has two columns, `lower` and `upper`, the ends $l_i$ and $u_i$ of an interval that holds the answer with
the probability `level`, 0.9 by default. With $\\alpha = 1 - \\text{level}$,

$$S = \\frac{1}{n} \\sum_{i=1}^{n} \\left((u_i - l_i) + \\frac{2}{\\alpha} \\max(l_i - y_i, 0)
+ \\frac{2}{\\alpha} \\max(y_i - u_i, 0)\\right)$$

In the unit of the answers; lower is better, 0 is perfect. A miss costs its distance times $2 / \\alpha$, 20 at 0.9. An
interval from 10 to 20 costs 10 if it holds the answer, and 50 if the answer is 22. The best ends are the quantiles at
$\\alpha / 2$ and $1 - \\alpha / 2$. Ends in the wrong order only lose: the answer then misses at least one of them.

Source: Winkler 1972; Gneiting and Raftery 2007. Equals the sum of scikit-learn's `mean_pinball_loss` of both ends at
these quantiles, times $2 / \\alpha$.
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric, RowSum, Rules, SubmissionFormat, ratio
from .core.messages import Message
from .core.parameters import Range
from .reading.number_kinds import Fields, Number

Level = Annotated[float, Range(0.01, 0.999), "The share of answers that the intervals should hold."]


def rows(truth: np.ndarray, prediction: np.ndarray, *, level: Level = 0.9) -> np.ndarray:
    lower, upper = prediction.T
    missed = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
    return np.column_stack([upper - lower, missed * (2 / (1 - level)), missed == 0, np.ones(len(truth))])


def total(sums: np.ndarray) -> float:
    width, price, _, count = sums
    return ratio(width + price, count)


def crossed(prediction: np.ndarray) -> str:
    """A hint about intervals whose ends are in the wrong order, or ``""``."""
    count = int((prediction[:, 0] > prediction[:, 1]).sum())
    if not count:
        return ""
    return Message.counted(count, "In {count} row lower is above upper.", "In {count} rows lower is above upper.")


def perfect(truth: np.ndarray) -> list[list[str]]:
    return [[repr(float(value)) for value in truth]] * 2


interval_score = Metric(
    title="Interval score",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    submission=Fields(Message("lower, upper"), lower=Number(), upper=Number()),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("width", "price", "inside", "rows"),
        last_line="({width} + {price}) / {rows}; {inside} of {rows} answers are inside",
    ),
    format=SubmissionFormat(names=("lower", "upper")),
    rules=Rules(perfect=perfect, hint=crossed),
    example=Example(
        truth="id,y\n1,15\n2,22\n",
        submission="id,lower,upper\n1,10,20\n2,10,20\n",
        score=14.0,
        params={"level": 0.5},
    ),
)
