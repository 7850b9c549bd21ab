"""How early the right answers come when all rows are ranked by confidence.

Each row may give one `label confidence`. Over all rows, by descending confidence, with $P(i)$ the share of right
answers up to rank $i$ and $M$ the number of rows whose truth is not empty,

$$\\mathrm{GAP} = \\frac{1}{M} \\sum_{i=1}^{N} P(i)\\,\\mathrm{rel}(i)$$

- An empty truth means that nothing is to be found there: any answer on it is wrong.
- An empty answer, or a row left out of the file, is no answer: it lowers the score but not the ranks of others.
- Equal confidences share one rank, so the order of the file never matters: one right and one wrong answer at 0.5 with
  $M = 2$ give 0.25, in either order.
- Confidence is any finite number, not only from 0 to 1.

Source: *evaluations* 0.0.1, `global_average_precision_score`; Google Landmark Recognition 2020.
"""

import numpy as np

from .core.arrays import Coded, Ranked
from .core.contract import Example, Metric, Rules, SubmissionFormat, WholeColumn, quotient, ratio
from .core.messages import Message
from .numerics.ranks import Sorted, has_answer, in_order, ranking_of
from .reading.label_kinds import LabelOrNone, RankedLabel


def rows(truth: Coded, prediction: Ranked | Sorted) -> np.ndarray:
    found = ranking_of(truth, prediction)
    precision = found.ranks.precision
    return np.column_stack([found.of_rows(np.zeros(len(precision)), precision), found.sought])


def score(truth: Coded, prediction: Ranked | Sorted) -> float:
    """The sum of the formula, added from the highest confidence down, so that the order of the file does not matter."""
    found = ranking_of(truth, prediction)
    earned = np.cumsum(found.ranks.precision * found.ranks.up)
    return ratio(earned[-1] if len(earned) else 0.0, int(np.count_nonzero(found.sought)))


def influence(truth: Coded, prediction: Ranked | Sorted) -> np.ndarray:
    """The derivative of the score by the weight of each row: the precision that its own answer earns, its effect on the
    precision of all ranks below, and its share of the divisor."""
    found = ranking_of(truth, prediction)
    precision, sought = found.ranks.precision, max(1, int(found.sought.sum()))
    gain, loss = found.ranks.gain_and_loss()
    value = float((found.ranks.up * precision).sum()) / sought
    return (found.of_rows(-loss, precision + gain - loss) - value * found.sought) / sought


def relevant_rows(truth: Coded) -> int:
    return int(np.count_nonzero(has_answer(truth)))


def unscorable(truth: Coded) -> str:
    return "" if has_answer(truth).any() else Message("all its answers are empty.")


def perfect(truth: Coded) -> list[list[str]]:
    return [[f"{text} 1" if (text := truth.values[code]) else "" for code in truth.codes]]


global_average_precision = Metric(
    title="Global average precision",
    group="Rankings",
    direction="maximize",
    worst=0.0,
    truth=LabelOrNone(),
    submission=RankedLabel(),
    computation=WholeColumn(
        rows=rows,
        total=quotient,
        score=score,
        parts=("precision", "sought"),
        influence=influence,
        relevant_rows=relevant_rows,
        ready=in_order,
    ),
    format=SubmissionFormat(may_miss_ids=True),
    rules=Rules(unscorable=unscorable, perfect=perfect),
    example=Example(
        truth="id,landmark\nid_001,123\nid_002,\nid_003,999\nid_004,123\nid_005,999\nid_006,888\nid_007,666\n"
        "id_008,666\nid_009,\nid_010,666\n",
        submission="id,landmark\nid_001,123 0.15\nid_002,123 0.10\nid_003,999 0.30\nid_005,999 0.40\n"
        "id_007,555 0.60\nid_008,666 0.70\nid_010,666 0.99\n",
        score=0.5479166666666666,
    ),
)
