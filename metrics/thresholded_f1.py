"""F1 of the classes whose score lies above a threshold, a column of scores per class.

The truth has one 0/1 column per class, the submission one score per class under the same names. A class is predicted
if its score is **greater than** `threshold`; with `count` only that many are, those with the highest scores, of equal
ones the leftmost in the truth file. Then, for each row,

$$F_1 = \\frac{2\\,tp}{2\\,tp + fp + fn}$$

and the score is the mean over rows (`samples`). `micro` pools the counts, `macro` and `weighted` average the F1 of each
class. The threshold applies to the predictions only. A score equal to the threshold predicts nothing: truth `1,0`,
scores `0.5,0.2`, threshold 0.5 give 0. A row without true and predicted classes scores 1.

Source: `row_wise_f1_score_micro_numpy`, a notebook of Birdsong Recognition 2020 (there the last of tied columns won).
"""

from typing import Annotated

import numpy as np

from .core.contract import Example, Metric, RowSum, Rules
from .core.parameters import Range
from .numerics.averages import F1, Average, effects, f_beta, last_line_of_f_beta, mean_over_labels, total_f_beta
from .reading.number_kinds import Binary, RankedScore

Threshold = Annotated[float, Range(-1e9, 1e9), "Classes with a score greater than this are predicted."]
Count = Annotated[int | None, Range(0), "At most so many classes per row; empty means no limit."]


def predicted(scores: np.ndarray, threshold: float, count: int | None) -> np.ndarray:
    """A mask of the classes that each row of scores predicts, shape (n, classes), bool."""
    above = scores > threshold
    if count is None or count >= scores.shape[1]:
        return above
    best = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    allowed = np.zeros_like(above)
    np.put_along_axis(allowed, best, True, axis=1)
    return above & allowed


def rows(truth: np.ndarray, prediction: np.ndarray, *, threshold: Threshold = 0.5, count: Count = None) -> np.ndarray:
    true, chosen = truth == 1, predicted(prediction, threshold, count)
    tp = (true & chosen).sum(axis=1)
    fp, fn = chosen.sum(axis=1) - tp, true.sum(axis=1) - tp
    return np.column_stack([tp, fp, fn, f_beta(tp, fp, fn), np.ones(len(tp))])


def total(sums: np.ndarray, *, average: Average = "samples") -> float | None:
    return total_f_beta(sums, average=average)


def score(
    truth: np.ndarray,
    prediction: np.ndarray,
    *,
    threshold: Threshold = 0.5,
    count: Count = None,
    average: Average = "samples",
) -> float:
    return mean_over_labels(_outcomes(truth == 1, predicted(prediction, threshold, count)), F1, average)


def influence(
    truth: np.ndarray, prediction: np.ndarray, *, threshold: Threshold, count: Count, average: Average
) -> np.ndarray:
    true, chosen = truth == 1, predicted(prediction, threshold, count)
    changes = effects(_outcomes(true, chosen), F1, average)
    of_rows = np.zeros(len(true))
    for place, (if_tp, if_fp, if_fn) in enumerate(changes):  # not a matrix product, whose digits depend on the order
        is_true, is_predicted = true[:, place], chosen[:, place]
        of_rows += np.where(is_true, np.where(is_predicted, if_tp, if_fn), np.where(is_predicted, if_fp, 0.0))
    return of_rows


def _outcomes(true: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """tp, fp and fn of each class, shape (classes, 3)."""
    tp = (true & chosen).sum(axis=0)
    return np.column_stack([tp, chosen.sum(axis=0) - tp, true.sum(axis=0) - tp])


def perfect(truth: np.ndarray, *, threshold: Threshold) -> list[list[str]]:
    """Scores above the threshold for the true classes, and equal to it for the others."""
    above, below = repr(threshold + max(1.0, abs(threshold))), repr(threshold)
    return [[above if value else below for value in column] for column in truth.T]


thresholded_f1 = Metric(
    title="Thresholded F1",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Binary(many=True),
    submission=RankedScore(many=True),
    computation=RowSum(
        rows=rows,
        total=total,
        score=score,
        parts=("tp", "fp", "fn", "f", "rows"),
        last_line=last_line_of_f_beta,
        influence=influence,
    ),
    rules=Rules(perfect=perfect),
    example=Example(
        truth="id,x,y,z\n1,0,0,1\n2,0,1,1\n3,1,0,1\n4,1,1,1\n",
        submission="id,x,y,z\n1,0.4,0.6,0.9\n2,0.1,0.9,0.8\n3,0.1,0.4,0.2\n4,0.9,0.9,0.9\n",
        score=0.6666666666666666,
    ),
)
