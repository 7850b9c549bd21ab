"""Discounted gain of a ranked list's first k labels, relative to the best order.

A submission's cell holds labels, best first, separated by white space: `b x c`. Labels after the first `k` are
ignored. A relevant label at rank $j$ earns its gain $g$ divided by $\\log_2(j + 1)$; the best list would earn
$\\mathrm{IDCG}$:

$$\\mathrm{NDCG@}k = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{1}{\\mathrm{IDCG}_i}
\\sum_{j=1}^{k} \\frac{g_i(j)}{\\log_2(j + 1)}$$

- `gain` = `binary` (default): the truth's cell lists the relevant labels, `b c`; each has gain 1.
- `gain` = `linear`: the truth grades them, `b:3 c:1`, and the gain is the grade $r$, at most 50.
- `gain` = `exponential`: graded too; the gain is $2^r - 1$. Grade 0 and labels not named are not relevant.

Truth `b c` gets for `b x c` $(1 + 0.5) / (1 + 0.631) = 0.920$. With one relevant label per row, a hit at rank 1 gives
1, at rank 2 0.631, at rank 3 0.5. Truth `b:3 c:1` gets for `c b` 0.797 linear and 0.710 exponential.

A label that a list repeats counts at its first place only and keeps its other places: `x x b` finds `b` at rank 3. An
empty list finds nothing. Where nothing is to be found (an empty truth), an empty list is worth 1 and any other 0.

Source: Järvelin and Kekäläinen 2002; Airbnb New User Bookings (k = 5); Expedia Personalized Sort (k = 38, exponential).
Equals scikit-learn's `ndcg_score`, where no scores are tied.
"""

from typing import Annotated, Literal

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules
from .numerics.ranked_lists import (
    Hits,
    K,
    LabelList,
    Separator,
    best_first,
    graded_labels,
    ideal,
    mean_of_lists,
    mean_over_lists,
)
from .numerics.ranked_lists import perfect as named_once
from .reading.label_kinds import LabelSet

Gain = Annotated[
    Literal["binary", "linear", "exponential"],
    "binary: the truth lists labels; linear, exponential: it grades them (label:3), and the gain is 3, or 2³ − 1.",
]


def rows(
    truth: Coded, prediction: Coded, *, k: K = 10, separator: Separator = None, gain: Gain = "binary"
) -> Contributions:
    discount = 1 / np.log2(np.arange(k) + 2)
    if gain == "binary":
        most = np.cumsum(discount)
        return mean_over_lists(
            truth,
            prediction,
            k,
            separator,
            lambda hits: hits.sum(discount[hits.rank - 1]) / most[hits.reachable(k) - 1],
        )
    true = truth.once(graded_labels, separator)
    gains = np.exp2(true.grades) - 1 if gain == "exponential" else true.grades
    most_of_cell = ideal(true, gains, discount)

    def relative_gain(hits: Hits) -> np.ndarray:
        earned = hits.sum(gains[hits.which] * discount[hits.rank - 1])
        return earned / np.where(hits.relevant, most_of_cell[hits.cell], 1.0)

    return mean_over_lists(truth, prediction, k, separator, relative_gain, graded_labels)


def unscorable(truth: Coded, *, separator: Separator, gain: Gain) -> str:
    if gain == "binary":
        return ""
    wrong = truth.once(graded_labels, separator).wrong
    return next((wrong[code] for code in np.unique(truth.codes).tolist() if code in wrong), "")


def perfect(truth: Coded, *, separator: Separator, gain: Gain) -> list[list[str]]:
    """The relevant labels, each once, highest grade first."""
    if gain == "binary":
        return named_once(truth, separator=separator)
    cells = truth.map(best_first, separator)
    return [[cells.values[code] for code in cells.codes]]


ndcg_at_k = Metric(
    title="NDCG@k",
    group="Rankings",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=mean_of_lists(rows, "ndcg"),
    rules=Rules(unscorable=unscorable, perfect=perfect),
    example=Example(
        truth="id,items\nu1,a\nu2,b c\nu3,d\n",
        submission="id,items\nu1,x a\nu2,b x c\nu3,x y z\n",
        score=0.5168835142398817,
    ),
)
