"""Mean over rows of one divided by the rank of the first relevant label, up to rank k.

A submission's cell holds labels, best first, separated by white space: `b x c`. Labels after the first `k` are
ignored. With $r_i$ the rank of the first relevant label of row $i$,

$$\\mathrm{MRR@}k = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{[r_i \\le k]}{r_i}$$

Only the first hit counts: truth `b c` gets 1 for `b x c` and for `b`, 0.333 for `x y c`, 0 for `x y`.

A label that a list repeats counts at its first place only and keeps its other places: `x x b` finds `b` at rank 3. An
empty list finds nothing. Where nothing is to be found (an empty truth), an empty list is worth 1 and any other 0.

Source: Voorhees 1999 (TREC-8 question answering). With one relevant label per row it is `map_at_k`.
"""

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules
from .numerics.ranked_lists import K, LabelList, Separator, mean_of_lists, mean_over_lists, perfect
from .reading.label_kinds import LabelSet


def rows(truth: Coded, prediction: Coded, *, k: K = 10, separator: Separator = None) -> Contributions:
    return mean_over_lists(truth, prediction, k, separator, lambda hits: hits.sum((hits.nth == 1) / hits.rank))


mrr_at_k = Metric(
    title="MRR@k",
    group="Rankings",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=mean_of_lists(rows, "reciprocal_rank"),
    rules=Rules(perfect=perfect),
    example=Example(
        truth="id,items\nu1,a\nu2,b c\nu3,d\n",
        submission="id,items\nu1,x a\nu2,b x c\nu3,x y z\n",
        score=0.5,
    ),
)
