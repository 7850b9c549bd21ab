"""Mean Huber loss: squared for small errors, absolute for large ones, so that outliers do not decide.

With $e_i = |\\hat y_i - y_i|$ and $\\delta$ the parameter `delta`,

$$\\frac{1}{n} \\sum_{i=1}^{n} \\left(\\tfrac12 \\min(e_i, \\delta)^2 + \\delta \\max(e_i - \\delta, 0)\\right)$$

so an error up to $\\delta$ costs half of its square, and every unit beyond $\\delta$. `delta` is in the unit of the
answers, 1 by default: with it errors of 0.5 and 3 cost 0.125 and 2.5. With a large `delta` it is half of `mse`, with a
small one $\\delta$ times `mae`. 0 is perfect. Numbers beyond 1e100 are refused.

Source: Huber 1964. Equals the mean of `scipy.special.huber`.
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .reading.number_kinds import Number

Delta = Annotated[float, Range(0, 1e9, exclusive_minimum=True), "Errors beyond this size count linearly."]


def loss(truth: np.ndarray, prediction: np.ndarray, *, delta: Delta = 1.0) -> np.ndarray:
    size = np.abs(prediction - truth)
    return np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))


huber = Metric(
    title="Huber loss",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    computation=mean_over_rows(loss),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,3\n",
        submission="id,y\n1,1.5\n2,5\n3,3\n",
        score=0.875,
    ),
)
