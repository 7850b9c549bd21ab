"""How far the predicted distributions over classes are from the true ones.

Both files have one probability per class, such as the shares of the experts' votes. With $p_{ic}$ the true and
$q_{ic}$ the predicted probability of class $c$ in row $i$,

$$D_{\\mathrm{KL}} = \\frac{1}{n} \\sum_{i=1}^{n} \\sum_{c} p_{ic} \\ln \\frac{p_{ic}}{q_{ic}}$$

- A class with true probability 0 adds nothing. Predicted probabilities below `clip` count as this: a true 1 on which 0
  was said costs 34.5 at `clip` $10^{-15}$. (True ones above 0 too, so that a perfect file always scores 0.)
- Truth 0.5, 0.5 and prediction 0.9, 0.1 give 0.511; the same prediction for the truth 1, 0 gives 0.105. Where every
  truth is sure of one class this is the `multiclass_log_loss`.
- Each row of both files must sum to 1 ± 0.001; others are refused. `normalise` divides the rows by their sums, so
  that no row gains by saying 1.001 in total; off, they are taken as they are, such a row may come out at -0.001, and
  a mean below 0 counts as 0: nothing is nearer to the truth than the truth.

Source: Kaggle's `kullback_leibler_divergence` of HMS Harmful Brain Activity Classification 2024. Its digits for files
that sum to 1 but for the rounding need `normalise` off; a host with votes divides them by their number.
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric, quotient
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .reading.class_columns import ClassProbabilities

Clip = Annotated[float, Range(0, 1e-3, exclusive_minimum=True), "Probabilities below this count as this."]
Normalise = Annotated[bool, "Divide the probabilities of each row by their sum; off: take them as they are."]


def divergence(
    truth: np.ndarray, prediction: np.ndarray, *, clip: Clip = 1e-15, normalise: Normalise = True
) -> np.ndarray:
    if normalise:
        truth = truth / truth.sum(axis=1, keepdims=True)
        prediction = prediction / prediction.sum(axis=1, keepdims=True)
    true, said = np.maximum(truth, clip), np.maximum(prediction, clip)
    lost: np.ndarray = np.where(truth > 0, true * np.log(true / said), 0.0).sum(axis=1)
    # Between distributions it is never negative, except by rounding.
    return np.maximum(lost, 0.0) if normalise else lost


def total(sums: np.ndarray) -> float:
    """The mean, at least 0: it could only be negative because rows do not sum to 1."""
    return max(0.0, quotient(sums))


kl_divergence = Metric(
    title="Kullback-Leibler divergence",
    group="Probabilities",
    direction="minimize",
    truth=ClassProbabilities(whole=True),
    computation=mean_over_rows(divergence, total),
    example=Example(
        truth="id,seizure,other\n1,1,0\n2,0.5,0.5\n3,0.25,0.75\n",
        submission="id,seizure,other\n1,0.8,0.2\n2,0.5,0.5\n3,0.5,0.5\n",
        score=0.11798519575178223,
    ),
)
