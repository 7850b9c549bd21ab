"""CRPS: how far a predicted distribution is from the answer, in the unit of the answers.

With $F_i$ the predicted distribution function of row $i$,

$$\\mathrm{CRPS} = \\frac{1}{n} \\sum_{i=1}^{n} \\int \\left(F_i(x) - [x \\ge y_i]\\right)^2 dx$$

Lower is better, 0 is perfect; for a distribution at one point it is the absolute error. `form` says how a submission
gives the distribution:

- `gaussian` (default): two columns, the mean under the truth's name and `sigma` (or `Confidence`), at least 0. With
  $z = (y - \\mu) / \\sigma$ it is $\\sigma\\,(z\\,(2 \\Phi(z) - 1) + 2 \\varphi(z) - 1/\\sqrt\\pi)$: a right mean costs
  0.234 sigmas, one that is a sigma off 0.602.
- `ensemble`: `members` equally likely values, in the columns `member_1`, `member_2` …, in any order within a row:
  $\\frac{1}{m} \\sum_j |x_j - y| - \\frac{1}{2 m^2} \\sum_{j, k} |x_j - x_k|$.
- `quantiles`: a column for each of `quantiles`, such as `q0.1`, `q0.5`, `q0.9`. It is twice the mean of their `pinball`
  losses, which approaches the integral as they become dense. They need not ascend.

Source: Matheson and Winkler 1976; Gneiting and Raftery 2007. `quantiles` equals twice the mean of scikit-learn's
`mean_pinball_loss`.
"""

import math
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from .core.contract import ByParameters, Example, Metric, Rules, SubmissionFormat
from .core.figures import numbers_in
from .core.messages import Message
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .numerics.log_losses import VALUE_AND_SIGMA, answers_with_sigma, names_with_sigma
from .reading.number_kinds import Number


def levels_in(text: str) -> tuple[float, ...]:
    """Different numbers between 0 and 1. Raises ``ValueError`` with a message."""
    found = numbers_in(text)
    if not all(0 < level < 1 for level in found) or len(set(found)) < len(found):
        raise ValueError(Message("Write different numbers between 0 and 1."))
    return found


Form = Annotated[Literal["gaussian", "ensemble", "quantiles"], "gaussian: mean and sigma; ensemble; quantiles."]
Members = Annotated[int, Range(1, 1000), "The number of values of an ensemble."]
Quantiles = Annotated[str, levels_in, "The quantiles, separated by commas."]
DECILES = "0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9"


def gaussian(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The CRPS of normal distributions."""
    error, sigma = np.abs(prediction[:, 0] - truth), prediction[:, 1]
    z = error / np.where(sigma > 0, sigma, 1.0)
    inside = np.fromiter(map(math.erf, (z / math.sqrt(2)).tolist()), np.float64, len(z))
    spread = sigma * (math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) - 1 / math.sqrt(math.pi))
    return np.where(sigma > 0, error * inside + spread, error)


def ensemble(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The CRPS of equally likely values: half the mean difference of two of them is a weighted sum of the sorted."""
    members = prediction.shape[1]
    weights = (2 * np.arange(1, members + 1) - members - 1) / members**2
    apart = np.abs(prediction - truth[:, None]).mean(axis=1)
    between = (np.sort(prediction - truth[:, None], axis=1) * weights).sum(axis=1)
    return np.maximum(apart - between, 0.0)


def loss(
    truth: np.ndarray, prediction: np.ndarray, *, form: Form = "gaussian", quantiles: Quantiles = DECILES
) -> np.ndarray:
    if form != "quantiles":
        return (gaussian if form == "gaussian" else ensemble)(truth, prediction)
    gaps, levels = truth[:, None] - prediction, np.array(levels_in(quantiles))
    return 2 * np.maximum(levels * gaps, (levels - 1) * gaps).mean(axis=1)


def adapted(*, form: Form = "gaussian", members: Members = 10, quantiles: Quantiles = DECILES) -> Metric:
    if form == "gaussian":
        return crps
    names = tuple(f"member_{place + 1}" for place in range(members))
    if form == "quantiles":
        names = tuple(f"q{level:g}" for level in levels_in(quantiles))

    def answers(truth: np.ndarray) -> list[list[str]]:
        return [[repr(float(value)) for value in truth]] * len(names)

    return replace(
        crps, submission=Number(many=True), format=SubmissionFormat(names=names), rules=Rules(perfect=answers)
    )


crps = Metric(
    title="CRPS",
    group="Numbers",
    direction="minimize",
    truth=Number(),
    submission=VALUE_AND_SIGMA,
    computation=mean_over_rows(loss),
    format=SubmissionFormat(names=names_with_sigma, aliases=("Confidence",)),
    rules=Rules(perfect=answers_with_sigma),
    by_parameters=ByParameters(metric=adapted),
    example=Example(
        truth="id,y\n1,10\n2,20\n3,30\n",
        submission="id,y,sigma\n1,10,1\n2,22,2\n3,33,0\n",
        score=1.4795258975034473,
    ),
)
