"""Share of rows whose true class is among the k with the highest scores.

The truth is one column of labels, or one 0/1 column per class; the submission has one score per class, in columns named
like the classes: all labels of the truth file, sorted, ignored rows included. Any finite numbers will do.

$$\\text{accuracy@}k = \\frac{1}{n} \\sum_{i=1}^{n} [\\mathrm{rank}_i(y_i) \\le k]$$

where $\\mathrm{rank}_i(y_i)$ is the place of the true class among the scores of its row, from the highest down.

- Equal scores: the class with the later column comes first. With classes a, b, c and equal scores everywhere, $k = 2$
  finds b and c but not a.
- $k = 1$ is the accuracy of the highest score. With $k$ not below the number of classes every file would score 1: that
  is refused at publication.
- Of 4 rows the true class comes first in two, second in one, third in one: 0.5 at $k = 1$, 0.75 at $k = 2$.

Equals scikit-learn's `top_k_accuracy_score`, also for equal scores. For lists of labels in one cell see `map_at_k`.
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric, Rules, SubmissionFormat
from .core.messages import Message
from .core.parameters import Range
from .numerics.averages import mean_over_rows
from .reading.class_columns import Classes, OneClass, certain, class_names
from .reading.number_kinds import RankedScore

K = Annotated[int, Range(1, 1000), "How many classes of a row count, from the highest score down."]


def right(truth: Classes, prediction: np.ndarray, *, k: K = 2) -> np.ndarray:
    """Whether the true class of each row is among the first k."""
    own = prediction[np.arange(len(truth)), truth.codes][:, None]
    is_later = np.arange(prediction.shape[1]) > truth.codes[:, None]
    before = ((prediction > own) | (is_later & (prediction == own))).sum(axis=1)
    return before < k


def unscorable(truth: Classes, *, k: K) -> str:
    if k < len(truth.names):
        return ""
    return Message.counted(
        len(truth.names),
        "it has {count} class, so that with k = {k} every file would score 1.",
        "it has {count} classes, so that with k = {k} every file would score 1.",
        k=k,
    )


top_k_accuracy = Metric(
    title="Top-k accuracy",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=OneClass(),
    submission=RankedScore(many=True),
    computation=mean_over_rows(right),
    format=SubmissionFormat(names=class_names),
    rules=Rules(unscorable=unscorable, perfect=certain),
    example=Example(
        truth="id,animal\n1,cat\n2,dog\n3,owl\n4,owl\n",
        submission="id,cat,dog,owl\n1,0.5,0.2,0.2\n2,0.3,0.4,0.2\n3,0.2,0.4,0.3\n4,0.7,0.2,0.1\n",
        score=0.75,
    ),
)
