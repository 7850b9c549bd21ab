"""How likely the answers are under a normal distribution with a predicted mean and sigma.

The submission has two columns: the value, named like the truth's column, and `sigma` (or `Confidence`), the standard
deviation that the student expects. With $\\sigma_c = \\max(\\sigma, \\sigma_\\text{min})$,

$$L = -\\frac{1}{n} \\sum_{i=1}^{n} \\left(\\frac{(\\hat y_i - y_i)^2}{2\\,\\sigma_{c,i}^2}
+ \\ln\\left(\\sqrt{2 \\pi}\\,\\sigma_{c,i}\\right)\\right)$$

Higher is better. The best value is $-\\ln(\\sqrt{2 \\pi}\\,\\sigma_\\text{min})$, 5.99 with the default of 0.001 for
`sigma_minimum`: every value right and every sigma at most the smallest that counts. Set it to the precision of the
answers. The best sigma of a row is its error. With sigma 1, an error of 1 scores -1.419 and one of 3 -5.419; with sigma
3 the latter -2.518. There is no lower end, and one row that is sure and wrong can decide everything. A sigma below 0 is
refused.

Source: the logarithmic score (Good 1952). Equals the mean of `logpdf` of scipy's `stats.norm`.
"""

import math
from typing import Annotated

import numpy as np

from .core.contract import ByParameters, Example, Metric, Rules, SubmissionFormat, quotient
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .numerics.log_losses import VALUE_AND_SIGMA, answers_with_sigma, names_with_sigma
from .reading.number_kinds import Number

Sigma = Annotated[float, Range(1e-9, 1e9), "A smaller sigma counts as this one."]


def loss(truth: np.ndarray, prediction: np.ndarray, *, sigma_minimum: Sigma = 0.001) -> np.ndarray:
    """The loss of each row against the best value, at least 0."""
    sigma = np.maximum(prediction[:, 1], sigma_minimum)
    return ((prediction[:, 0] - truth) / sigma) ** 2 / 2 + np.log(sigma / sigma_minimum)


def total(sums: np.ndarray, *, sigma_minimum: Sigma = 0.001) -> float:
    return best_for(sigma_minimum=sigma_minimum) - quotient(sums)


def best_for(*, sigma_minimum: Sigma = 0.001) -> float:
    return -math.log(math.sqrt(2 * math.pi) * sigma_minimum)


gaussian_log_likelihood = Metric(
    title="Gaussian log-likelihood",
    group="Numbers",
    direction="maximize",
    best=best_for(),
    truth=Number(),
    submission=VALUE_AND_SIGMA,
    computation=mean_over_rows(loss, total, "−ln(√(2π) · {sigma_minimum}) − {loss} / {rows}"),
    format=SubmissionFormat(names=names_with_sigma, aliases=("Confidence",)),
    rules=Rules(perfect=answers_with_sigma),
    by_parameters=ByParameters(best=best_for),
    example=Example(
        truth="id,y\n1,10\n2,20\n3,30\n",
        submission="id,y,sigma\n1,11,1\n2,20,2\n3,33,3\n",
        score=-1.8495250229473568,
    ),
)
