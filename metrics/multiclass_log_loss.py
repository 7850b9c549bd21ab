"""How surprised the predicted probabilities are by the true class, one column per class.

The truth is one column of labels, or one 0/1 column per class with exactly one 1 in each row. The submission has one
probability per class, in columns named like the classes; these are all labels of the truth file, sorted, ignored rows
included. With $p_i$ the probability given to the true class of row $i$ and $S_i$ the sum of the row's probabilities,

$$\\mathrm{LogLoss} = -\\frac{1}{n} \\sum_{i=1}^{n} \\ln \\max\\left(\\frac{p_i}{S_i}, c\\right)$$

- `normalise` (default): each row is divided by its sum, so 0.5, 0.5, 1 means 0.25, 0.25, 0.5. A row of zeros counts as
  equal probabilities. Off: $S_i$ is left out, and rows that do not sum to 1 ± 0.001 are refused.
- `clip` is $c$: a sure and wrong answer costs 34.5 at $c = 10^{-15}$, 6.9 at 0.001.
- Equal probabilities give 1.099 for 3 classes, 2.303 for 10; sure and right everywhere gives 0.
- `average` `classes`: the mean over the classes of their rows' mean, so that a class of 5 rows counts as much as one of
  500; classes without a row in a split are left out.
- `class_weights`: a row (or with `classes` a class) counts as much as its class weighs: losses of 0.693 and 0.105 in
  classes of weight 2 and 1 give (2 · 0.693 + 0.105) / 3 = 0.497.

Source: Kaggle's multi-class log loss; with `classes` PLAsTiCC 2018 and the balanced log loss of ICR 2023. Scripts that
clip before they divide differ only where a row that does not sum to 1 says 0 for the true class. With `normalise` off
and `clip` 2.22e-16 equals scikit-learn's `log_loss`.
"""

from typing import Annotated, Literal

import numpy as np

from .core.contract import Example, Metric, RowSum, Rules, SubmissionFormat, ratio
from .core.figures import Weights, weights_for, wrong_weights
from .core.messages import Message, Plural
from .numerics.log_losses import Clip, Normalise, by_class, must_sum, surprise_of_class
from .reading.class_columns import Classes, ClassProbabilities, OneClass, certain, class_names

Average = Annotated[Literal["rows", "classes"], "rows: each row counts equally; classes: each class counts equally."]


def rows(
    truth: Classes,
    prediction: np.ndarray,
    *,
    clip: Clip = 1e-15,
    normalise: Normalise = True,
    class_weights: Weights = None,
) -> np.ndarray:
    weights = np.array(weights_for(class_weights, len(truth.names)))[truth.codes]
    return np.column_stack([weights * surprise_of_class(truth, prediction, clip, normalise), weights])


def total(sums: np.ndarray, *, average: Average = "rows") -> float | None:
    """The mean over rows; ``None`` for a mean over classes."""
    return ratio(*sums) if average == "rows" else None


def score(
    truth: Classes,
    prediction: np.ndarray,
    *,
    clip: Clip = 1e-15,
    normalise: Normalise = True,
    class_weights: Weights = None,
) -> float:
    found = by_class(truth, surprise_of_class(truth, prediction, clip, normalise), class_weights)
    return float((found.means * found.shares).sum())


def influence(
    truth: Classes, prediction: np.ndarray, *, clip: Clip, normalise: Normalise, class_weights: Weights
) -> np.ndarray:
    lost = surprise_of_class(truth, prediction, clip, normalise)
    return by_class(truth, lost, class_weights).influence(truth, lost)


def last_line(*, average: Average) -> str:
    return "{surprise} / {weight}" if average == "rows" else ""


def unscorable(truth: Classes, *, class_weights: Weights) -> str:
    weights = np.array(weights_for(class_weights, len(truth.names)))[truth.codes]
    unfit = wrong_weights(class_weights, len(truth.names), Plural("{count} class", "{count} classes"))
    return unfit or ("" if weights.any() else Message("all its rows are of classes with weight 0."))


multiclass_log_loss = Metric(
    title="Multi-class log loss",
    group="Probabilities",
    direction="minimize",
    truth=OneClass(),
    submission=ClassProbabilities(),
    computation=RowSum(
        rows=rows,
        total=total,
        score=score,
        parts=("surprise", "weight"),
        last_line=last_line,
        influence=influence,
    ),
    format=SubmissionFormat(names=class_names),
    rules=Rules(verify=must_sum, unscorable=unscorable, perfect=certain),
    example=Example(
        truth="id,author\n1,EAP\n2,HPL\n3,MWS\n4,EAP\n",
        submission="id,EAP,HPL,MWS\n1,0.5,0.25,0.25\n2,0.2,0.7,0.1\n3,0.1,0.1,0.8\n4,1,1,0\n",
        score=0.4915282140932081,
    ),
)
