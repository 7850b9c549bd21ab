"""How high the true labels of each row stand among its scores: precision at each true label.

The truth has one 0/1 column per label, the submission one score under the same name; any finite numbers will do. The
rank of label $l$ in row $i$, $r_{il}$, is the number of labels of the row whose score is at least that of $l$; $t_{il}$
of them are true:

$$\\mathrm{LRAP} = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{1}{|T_i|} \\sum_{l \\in T_i} \\frac{t_{il}}{r_{il}}$$

where $T_i$ are the true labels of row $i$.

- `weights` is `samples` (default), where each row counts equally, as in the formula, or `labels`, where each true label
  counts equally: the mean of $t_{il} / r_{il}$ over all true labels of all rows (label-weighted precision).
- Equal scores share the worst of their ranks: one true label among three with equal scores gives 1/3.
- With `samples` a row whose labels are all true, or all false, gives 1. With `labels` a row without true labels does
  not count, and a split without any true label is refused at publication.
- True labels on places 1 and 3 give (1/1 + 2/3) / 2 = 0.833.

Source: Tsoumakas, Katakis and Vlahavas 2010; equals scikit-learn's `label_ranking_average_precision_score`, with
`labels` the metric of Freesound Audio Tagging 2019 and of Rainforest Connection 2020 (there equal scores had an order).
"""

from typing import Annotated, Literal

import numpy as np

from .core.contract import Example, Metric, RowSum, Rules, ratio
from .core.messages import Message
from .reading.number_kinds import Binary, RankedScore

Weights = Annotated[Literal["samples", "labels"], "samples: each row counts equally; labels: each true label does."]

BLOCK = 1_000_000
"""The number of cells sorted at a time."""


def precisions(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The sum of the precisions at the true labels of each row, shape (n,)."""
    width = truth.shape[1]
    order = np.argsort(-scores, axis=1)
    is_true = np.take_along_axis(truth, order, axis=1) == 1
    ranked = np.take_along_axis(scores, order, axis=1)
    ends = np.full(truth.shape, width - 1)
    ends[:, :-1] = np.where(ranked[:, 1:] != ranked[:, :-1], np.arange(width - 1), width - 1)
    ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    found = np.take_along_axis(np.cumsum(is_true, axis=1), ends, axis=1) / (ends + 1)
    # Summed in the order of the columns, so that equal rows have equal sums.
    placed = np.zeros(truth.shape)
    np.put_along_axis(placed, order, found * is_true, axis=1)
    return placed.sum(axis=1)


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    step = max(1, BLOCK // truth.shape[1])
    blocks = [slice(start, start + step) for start in range(0, len(truth), step)]
    added = np.concatenate([precisions(truth[block], prediction[block]) for block in blocks] or [np.zeros(0)])
    labels = truth.sum(axis=1)
    means = np.where(labels > 0, added / np.maximum(labels, 1), 1.0)
    return np.column_stack([added, labels, means, np.ones(len(truth))])


def total(sums: np.ndarray, *, weights: Weights = "samples") -> float:
    added, labels, means, count = sums
    return ratio(means, count) if weights == "samples" else ratio(added, labels)


def last_line(*, weights: Weights) -> str:
    return "{mean_precision} / {rows}" if weights == "samples" else "{precision} / {labels}"


def unscorable(truth: np.ndarray, *, weights: Weights) -> str:
    return "" if weights == "samples" or truth.any() else Message("it has no true label.")


label_ranking_average_precision = Metric(
    title="Label ranking average precision",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(many=True),
    submission=RankedScore(many=True),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("precision", "labels", "mean_precision", "rows"),
        last_line=last_line,
    ),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,bark,meow,purr\n1,1,0,0\n2,0,0,1\n3,0,1,1\n",
        submission="id,bark,meow,purr\n1,0.75,0.5,1\n2,1,0.2,0.1\n3,0.5,0.8,0.3\n",
        score=0.5555555555555555,
    ),
)
