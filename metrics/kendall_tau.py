"""Kendall's tau-b: pairs of rows in the same order in both files, less those in reversed order.

$$\\tau_b = \\frac{P - Q}{\\sqrt{(P + Q + T)(P + Q + U)}}$$

over all pairs of rows of a split: $P$ pairs are in the same order in truth and prediction (concordant), $Q$ in
reversed order (discordant), $T$ tie in the prediction only and $U$ in the truth only; pairs that tie in both count
nowhere. From -1 to 1. Answers 1, 2, 3 and predictions 1, 3, 2 have two pairs in order and one reversed: 0.333.

Constant predictions order nothing; they score 0 by decision (the formula would divide 0 by 0). A part of the truth
whose answers are all the same (one row, too) is refused at publication. Pairs are counted exactly, in O(n log n); the
table shows each pair at both of its rows.

Source: Kendall 1945; equals scipy's `kendalltau`, which gives no number for constant predictions.
"""

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn, ratio
from .numerics.correlation import constant
from .numerics.ranks import crossings
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """For each row the number of rows that are concordant with it, discordant, of another answer, of another
    prediction."""
    x_place, x_less, x_same = _standing(truth)
    y_place, y_less, y_same = _standing(prediction)
    less_both, less_x_same_y, same_x_less_y, same_both = crossings(x_place, y_place)
    up_to_both = less_both + less_x_same_y + same_x_less_y + same_both
    more_both = len(truth) - (x_less + x_same) - (y_less + y_same) + up_to_both
    crossed = (x_less - less_both - less_x_same_y) + (y_less - less_both - same_x_less_y)
    return np.column_stack([less_both + more_both, crossed, len(truth) - x_same, len(truth) - y_same])


def _standing(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each value its index among the distinct ones, the number of smaller values, and of equal ones (itself
    included)."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return places.astype(np.int64), (np.cumsum(counts) - counts)[places], counts[places]


def total(sums: np.ndarray) -> float:
    """Concordant minus discordant pairs, divided by the geometric mean of the numbers of pairs that can be ordered."""
    concordant, discordant, in_truth, in_prediction = sums
    return ratio(concordant - discordant, np.sqrt(in_truth * in_prediction))


def influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The derivative by the weight of each row; its pairs are also counted in the other rows, hence the factor 2."""
    concordant, discordant, in_truth, in_prediction = rows(truth, prediction).T
    added = (concordant - discordant).sum()
    x, y = float(in_truth.sum()), float(in_prediction.sum())
    if not x * y:
        return np.zeros(len(truth))
    return 2 * (concordant - discordant) / np.sqrt(x * y) - added / np.sqrt(x * y) * (in_truth / x + in_prediction / y)


kendall_tau = Metric(
    title="Kendall's tau",
    group="Numbers",
    direction="maximize",
    worst=-1.0,
    truth=Number(largest=np.inf),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("concordant", "discordant", "apart_in_truth", "apart_in_prediction"),
        last_line="({concordant} − {discordant}) / √({apart_in_truth} · {apart_in_prediction})",
        influence=influence,
    ),
    rules=Rules(unscorable=constant),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,3\n4,3\n",
        submission="id,y\n1,10\n2,30\n3,20\n4,20\n",
        score=0.2,
    ),
)
