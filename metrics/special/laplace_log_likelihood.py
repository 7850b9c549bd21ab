"""How likely the answers are under a value and a confidence: being sure and wrong costs most.

The submission has two columns: the value, named like the truth's column, and `sigma` (or `Confidence`), the standard
deviation that the student expects. With $\\sigma_c = \\max(\\sigma, \\sigma_\\text{min})$ and
$\\Delta = \\min(|\\hat y - y|, \\Delta_\\text{max})$,

$$L = -\\frac{1}{n} \\sum_{i=1}^{n} \\left(\\frac{\\sqrt 2\\,\\Delta_i}{\\sigma_{c,i}}
+ \\ln\\left(\\sqrt 2\\,\\sigma_{c,i}\\right)\\right)$$

Higher is better. Values are mostly negative; the best one, $-\\ln(\\sqrt 2\\,\\sigma_\\text{min})$, is reached if every
value is right and no sigma is above $\\sigma_\\text{min}$ (`sigma_minimum`). With `sigma_minimum` 70 and
`error_maximum` 1000 (the defaults) that is -4.595. A row with an error of 100 and sigma 70 scores -6.615, with sigma
200 -6.352; the best sigma is $\\sqrt 2$ times the error. Errors above 1000 cost no more. Without `error_maximum` errors
are not cut. A sigma below 0 is refused.

Source: "OSIC Pulmonary Fibrosis Progression" on Kaggle, 2020 (forced vital capacity in ml).
"""

import math
from typing import Annotated

import numpy as np

from ..core.contract import ByParameters, Example, Metric, Rules, SubmissionFormat, quotient
from ..core.parameters import Range
from ..numerics.averages import mean_over_rows
from ..numerics.log_losses import VALUE_AND_SIGMA, Sigma, answers_with_sigma, names_with_sigma
from ..reading.number_kinds import Number

Error = Annotated[float | None, Range(0, 1e9), "A larger error counts as this one; empty means no limit."]


def loss(
    truth: np.ndarray, prediction: np.ndarray, *, sigma_minimum: Sigma = 70.0, error_maximum: Error = 1000.0
) -> np.ndarray:
    """How far each row's likelihood is below the best one, at least 0."""
    sigma = np.maximum(prediction[:, 1], sigma_minimum)
    error = np.minimum(np.abs(prediction[:, 0] - truth), np.inf if error_maximum is None else error_maximum)
    return math.sqrt(2) * error / sigma + np.log(sigma / sigma_minimum)


def total(sums: np.ndarray, *, sigma_minimum: Sigma = 70.0) -> float:
    return best_for(sigma_minimum=sigma_minimum) - quotient(sums)


def best_for(*, sigma_minimum: Sigma = 70.0) -> float:
    return -math.log(math.sqrt(2) * sigma_minimum)


laplace_log_likelihood = Metric(
    title="Laplace log-likelihood",
    group="Numbers",
    direction="maximize",
    best=best_for(),
    truth=Number(),
    submission=VALUE_AND_SIGMA,
    computation=mean_over_rows(loss, total, "−ln(√2 · {sigma_minimum}) − {loss} / {rows}"),
    format=SubmissionFormat(names=names_with_sigma, aliases=("Confidence",)),
    rules=Rules(perfect=answers_with_sigma),
    by_parameters=ByParameters(best=best_for),
    example=Example(
        truth="id,FVC\n1,2000\n2,2500\n3,3000\n4,1800\n",
        submission="id,FVC,sigma\n1,2000,70\n2,2600,200\n3,2900,50\n4,3800,700\n",
        score=-6.620099876551361,
    ),
)
