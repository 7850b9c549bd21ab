"""D²: share of the error of the best constant that is saved, as R² for other errors than squares.

With $\\ell$ the error of a row and $c$ the constant that has the least of it on the split,

$$D^2 = 1 - \\frac{\\sum_i \\ell(y_i, \\hat y_i)}{\\sum_i \\ell(y_i, c)}$$

1 is perfect, and there is no lower end. The best constant scores 0: predicting 2 everywhere where the answers are 1, 2
and 6 scores 0 by absolute errors, predicting 3 everywhere -0.2.

- `loss` `pinball` (default): `quantile` 0.5 is the absolute error, so that $c$ is the median; 0.9 judges forecasts of
  the upper tenth, with $c$ that quantile.
- `loss` `tweedie`: the deviance of `power` 1 (Poisson) to 3 (inverse Gaussian), with $c$ the mean. Answers are at least
  0, and above 0 for a power of 2 or more, and so are predictions.

Each split is measured with its own constant. A part whose answers are all the same cannot be scored.

Source: Hastie, Tibshirani and Wainwright 2015. Equals scikit-learn's `d2_absolute_error_score`, `d2_pinball_score` and
`d2_tweedie_score`.
"""

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from .core.contract import ByParameters, Example, Metric, Rules
from .core.messages import Message
from .core.parameters import Range
from .numerics.correlation import no_variance, share_explained
from .numerics.log_losses import FLOOR, unit_deviance
from .numerics.sums import exact_sum
from .pinball import loss as pinball_loss
from .reading.number_kinds import Amount, Number
from .tweedie_deviance import Power, verify
from .tweedie_deviance import unscorable as forbidden

Loss = Annotated[Literal["pinball", "tweedie"], "pinball: errors of a quantile, 0.5 absolute; tweedie: a deviance."]
Quantile = Annotated[float, Range(0.001, 0.999), "The quantile of the pinball loss; 0.5 is the absolute error."]
_LEAST = 1e-90
"""The least loss of the best constant; divided by less, errors would become too large."""


def rows(
    truth: np.ndarray,
    prediction: np.ndarray,
    *,
    loss: Loss = "pinball",
    quantile: Quantile = 0.5,
    power: Power = 1.5,
) -> np.ndarray:
    if loss == "tweedie":
        mean = np.full(len(truth), float(exact_sum(truth) / len(truth)))
        return np.column_stack([unit_deviance(truth, said, power) for said in (prediction, mean)])
    place = quantile * len(truth)
    ordered = np.sort(truth)
    constant = (ordered[max(0, int(np.ceil(place)) - 1)] + ordered[int(place)]) / 2
    return np.column_stack([pinball_loss(truth, said, quantile=quantile) for said in (prediction, constant)])


def unscorable(truth: np.ndarray, *, loss: Loss, quantile: Quantile, power: Power) -> str:
    wrong = no_variance(truth) or (forbidden(truth, power=power) if loss == "tweedie" else "")
    if wrong or rows(truth, truth, loss=loss, quantile=quantile, power=power)[:, 1].sum() >= _LEAST:
        return wrong
    return Message("its answers differ so little that an error has no size beside them.")


def adapted(*, loss: Loss = "pinball") -> Metric:
    if loss == "pinball":
        return d2
    return replace(
        d2, truth=Number(minimum=0, smallest=FLOOR), submission=Amount(), rules=replace(d2.rules, verify=verify)
    )


d2 = Metric(
    title="D²",
    group="Numbers",
    direction="maximize",
    truth=Number(),
    computation=share_explained(rows, "left", "of_constant"),
    rules=Rules(unscorable=unscorable),
    by_parameters=ByParameters(metric=adapted),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,6\n",
        submission="id,y\n1,1\n2,3\n3,5\n",
        score=0.6,
    ),
)
