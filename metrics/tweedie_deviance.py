"""Mean Tweedie deviance: for amounts that are often exactly 0, such as insurance claims or rain.

$$D_p = \\frac{2}{n} \\sum_{i=1}^{n} \\left(\\frac{y_i^{2-p}}{(1-p)(2-p)} - \\frac{y_i\\,\\hat y_i^{1-p}}{1-p}
+ \\frac{\\hat y_i^{2-p}}{2-p}\\right)$$

`power` $p$ lies between 1, the Poisson deviance, and 2, the gamma deviance; up to 3, the inverse Gaussian, it weighs
large amounts still less. At 1 and 2 the formula's limits hold. (0 would be `mse`; below 1 nothing else is of use.)
0 is perfect; the best constant answer is the mean of the truth.

Numbers below 0 are refused. From $p = 2$ on, 0 is refused too, in the truth and in the submission. Below 2, a row
whose answer is 0 costs $2\\hat y^{2-p}/(2-p)$, at 1.5 for a prediction of 4 this is 8. A prediction below 1e-100 where
the answer is above 0 counts as 1e-100 in the middle term: at 1.5 an answer of 1 then costs 4e50.

Equals scikit-learn's `mean_tweedie_deviance`, which refuses predictions of 0.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from .core.contract import Example, Metric, Rules
from .core.messages import Message
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .numerics.log_losses import FLOOR, unit_deviance
from .reading.columns import Cells
from .reading.number_kinds import NOT_ABOVE, Amount, Number

Power = Annotated[float, Range(1, 3), "From 1 (Poisson) over 2 (gamma) to 3 (inverse Gaussian)."]


def deviance(truth: np.ndarray, prediction: np.ndarray, *, power: Power = 1.5) -> np.ndarray:
    return unit_deviance(truth, prediction, power)


def verify(columns: Sequence[Cells], prediction: np.ndarray, *, power: Power) -> None:
    if power >= 2 and len(places := np.flatnonzero(prediction == 0)):
        columns[0].refuse("too_small", NOT_ABOVE, places, {"bound": "0"})


def unscorable(truth: np.ndarray, *, power: Power) -> str:
    if power >= 2 and (truth == 0).any():
        return Message("it holds an answer of 0, which needs a power below 2.")
    return ""


tweedie_deviance = Metric(
    title="Tweedie deviance",
    group="Numbers",
    direction="minimize",
    truth=Number(minimum=0, smallest=FLOOR),
    submission=Amount(),
    computation=mean_over_rows(deviance),
    rules=Rules(verify=verify, unscorable=unscorable),
    example=Example(
        truth="id,y\n1,0\n2,4\n3,1\n4,9\n",
        submission="id,y\n1,4\n2,4\n3,4\n4,1\n",
        score=6.5,
    ),
)
