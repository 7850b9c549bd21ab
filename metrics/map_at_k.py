"""Mean over rows of the average precision of the first k labels of a ranked list.

A submission's cell holds labels, best first, separated by white space: `b x c`. Labels after the first `k` are
ignored. With $P(j)$ the share of relevant labels among the first $j$ and $m$ relevant labels in the row's truth,

$$\\mathrm{MAP@}k = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{1}{\\min(m_i, k)} \\sum_{j=1}^{k} P_i(j)\\,\\mathrm{rel}_i(j)$$

With one relevant label per row this is the mean of one divided by its rank. Truth `b c` gets for `b x c`
$(1 + 2/3) / 2 = 0.833$, for `b` 0.5, for `x y` 0.

A label that a list repeats counts at its first place only and keeps its other places: `x x b` finds `b` at rank 3. An
empty list finds nothing. Where nothing is to be found (an empty truth), an empty list is worth 1 and any other 0.
(Hamner's `apk` always gives 0 there, and counts a label that the *truth* repeats each time; we count it once.)

Source: `mapk` of Hamner's *Metrics*, as on Kaggle: Facebook V, Expedia Hotel Recommendations,
Humpback Whale Identification (k = 5), H&M Personalized Fashion Recommendations (k = 12).
"""

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules
from .numerics.ranked_lists import K, LabelList, Separator, mean_of_lists, mean_over_lists, perfect
from .reading.label_kinds import LabelSet


def rows(truth: Coded, prediction: Coded, *, k: K = 5, separator: Separator = None) -> Contributions:
    return mean_over_lists(
        truth, prediction, k, separator, lambda hits: hits.sum(hits.nth / hits.rank) / hits.reachable(k)
    )


map_at_k = Metric(
    title="MAP@k",
    group="Rankings",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=mean_of_lists(rows, "average_precision"),
    rules=Rules(perfect=perfect),
    example=Example(
        truth="id,items\nu1,a\nu2,b c\nu3,d\n",
        submission="id,items\nu1,x a\nu2,b x c\nu3,x y z\n",
        score=0.4444444444444444,
    ),
)
