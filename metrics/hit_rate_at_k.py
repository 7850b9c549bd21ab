"""Share of rows with a relevant label among the first k of a ranked list.

A submission's cell holds labels, best first, separated by white space: `b x c`. Labels after the first `k` are
ignored. With $h_i$ relevant labels among the first $k$ of row $i$,

$$\\mathrm{HR@}k = \\frac{1}{n} \\sum_{i=1}^{n} [h_i > 0]$$

One hit is enough, at any rank up to `k`: truth `b c` gets 1 for `x y c` with k = 3 and 0 with k = 2.

A label that a list repeats counts at its first place only and keeps its other places: `x x b` finds `b` at rank 3. An
empty list finds nothing. Where nothing is to be found (an empty truth), an empty list is worth 1 and any other 0.

Equals scikit-learn's `top_k_accuracy_score` where each row has one relevant label and lists are full.
"""

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules
from .numerics.ranked_lists import K, LabelList, Separator, mean_of_lists, mean_over_lists, perfect
from .reading.label_kinds import LabelSet


def rows(truth: Coded, prediction: Coded, *, k: K = 10, separator: Separator = None) -> Contributions:
    return mean_over_lists(truth, prediction, k, separator, lambda hits: hits.sum() > 0)


hit_rate_at_k = Metric(
    title="Hit rate@k",
    group="Rankings",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=mean_of_lists(rows, "hit_rows"),
    rules=Rules(perfect=perfect),
    example=Example(
        truth="id,items\nu1,a\nu2,b c\nu3,d\n",
        submission="id,items\nu1,x a\nu2,b x c\nu3,x y z\n",
        score=0.6666666666666666,
    ),
)
