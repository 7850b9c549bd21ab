"""Mean over rows of the share of relevant labels that are among the first k of a ranked list.

A submission's cell holds labels, best first, separated by white space: `b x c`. Labels after the first `k` are
ignored. With $h_i$ of the $m_i$ relevant labels among the first $k$ of row $i$,

$$\\mathrm{R@}k = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{h_i}{m_i}$$

The order within the first `k` is irrelevant: truth `b c` gets 1 for `x c b`, 0.5 for `c`. A row with more than `k`
relevant labels could never be found completely: such a truth is refused at publication. Raise `k`, or take
`precision_at_k`, which divides by the smaller of both.

A label that a list repeats counts at its first place only and keeps its other places: `x x b` finds `b` at rank 3. An
empty list finds nothing. Where nothing is to be found (an empty truth), an empty list is worth 1 and any other 0.

Source: Manning, Raghavan and Schütze, *Introduction to Information Retrieval*, 2008, chapter 8.
"""

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules
from .core.messages import Message
from .numerics.ranked_lists import K, LabelList, Separator, longest, mean_of_lists, mean_over_lists, perfect
from .reading.label_kinds import LabelSet


def rows(truth: Coded, prediction: Coded, *, k: K = 10, separator: Separator = None) -> Contributions:
    return mean_over_lists(truth, prediction, k, separator, lambda hits: hits.sum() / np.maximum(hits.relevant, 1))


def unscorable(truth: Coded, *, k: K, separator: Separator) -> str:
    most = longest(truth, separator)
    if most <= k:
        return ""
    return Message.counted(
        most,
        "a row has {count} relevant label, but only k = {k} count.",
        "a row has {count} relevant labels, but only k = {k} count.",
        k=k,
    )


recall_at_k = Metric(
    title="Recall@k",
    group="Rankings",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=mean_of_lists(rows, "recall"),
    rules=Rules(unscorable=unscorable, perfect=perfect),
    example=Example(
        truth="id,items\nu1,a\nu2,b c\nu3,d\n",
        submission="id,items\nu1,x a\nu2,b x c\nu3,x y z\n",
        score=0.6666666666666666,
    ),
)
