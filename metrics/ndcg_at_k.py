"""Discounted gain of a ranked list's first k labels, relative to the best order.

A submission's cell holds labels, best first, separated by white space: `b x c`. What stands after the first `k` is cut
and no error. A relevant label at rank $j$ earns $1 / \\log_2(j + 1)$; a perfect list earns the most
that $m$ relevant labels can:

$$\\mathrm{NDCG@}k = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{\\sum_{j=1}^{k} \\mathrm{rel}_i(j) / \\log_2(j + 1)}
{\\sum_{j=1}^{\\min(m_i, k)} 1 / \\log_2(j + 1)}$$

All relevant labels are worth the same. With one per row, a hit at rank 1 gives 1, at rank 2 0.631, at rank 3 0.5. Truth
`b c` gets for `b x c` $(1 + 0.5) / (1 + 0.631) = 0.920$.

A label that a list repeats counts at its first place only and keeps its other places: `x x b` finds `b` at rank 3. An
empty list finds nothing. Where nothing is to be found (an empty truth), an empty list is worth 1 and any other 0.

Source: Järvelin and Kekäläinen 2002; Airbnb New User Bookings (k = 5). Equals scikit-learn's `ndcg_score` with
relevance 0 or 1.
"""

from __future__ import annotations

import numpy as np

from metrics._arrays import Coded
from metrics._contract import Contributions, Example, Metric, ratio
from metrics._inputs import LabelSet
from metrics._lists import Hits, K, LabelList, Separator, mean_over_lists, perfect


def rows(truth: Coded, prediction: Coded, *, k: K = 10, separator: Separator = None) -> Contributions:
    """Hits, labels to be found and relative gain of each row, and 1 for the row."""
    discount = 1 / np.log2(np.arange(k) + 2)
    most = np.cumsum(discount)

    def gain(hits: Hits) -> np.ndarray:
        found: np.ndarray = hits.sum(discount[hits.rank - 1]) / most[hits.reachable(k) - 1]
        return found

    return mean_over_lists(truth, prediction, k, separator, gain)


def total(sums: np.ndarray) -> float:
    """The mean over rows."""
    *_, gain, count = sums
    return ratio(gain, count)


ndcg_at_k = Metric(
    title="NDCG@k",
    group="Rankings",
    direction="maximize",
    best=1.0,
    truth=LabelSet(),
    submission=LabelList(),
    rows=rows,
    total=total,
    parts=("hits", "relevant", "gain", "rows"),
    last_line="{gain} / {rows}",
    worst=0.0,
    perfect=perfect,
    example=Example(
        truth="id,items\nu1,a\nu2,b c\nu3,d\n",
        submission="id,items\nu1,x a\nu2,b x c\nu3,x y z\n",
        score=0.5168835142398817,
    ),
)
