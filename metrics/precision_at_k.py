"""Mean over rows of the share of relevant labels among the first k of a ranked list.

A submission's cell holds labels, best first, separated by white space: `b x c`. Labels after the first `k` are
ignored. With $h_i$ relevant labels among the first $k$ of row $i$, which has $m_i$ of them,

$$\\mathrm{P@}k = \\frac{1}{n} \\sum_{i=1}^{n} \\frac{h_i}{\\min(m_i, k)}$$

That is `divisor` = `reachable` (default): a perfect list gets 1 even where fewer than `k` labels are relevant. With
`divisor` = `k` each row is divided by `k`, as textbooks do; then every row needs at least `k` relevant labels (or
none), because otherwise no file could reach 1: such a truth is refused at publication. Either way a list shorter than
`k` counts as if wrong labels filled it up. With k = 3, `b x y` gets 0.5 for the truth `b c`; divided by `k` it gets
0.333 for the truth `b c d`.

A label that a list repeats counts at its first place only and keeps its other places: `x x b` finds `b` at rank 3. An
empty list finds nothing. Where nothing is to be found (an empty truth), an empty list is worth 1 and any other 0.

Source: Manning, Raghavan and Schütze, *Introduction to Information Retrieval*, 2008, chapter 8 (divided by `k`).
"""

from typing import Annotated, Literal

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules
from .core.messages import Message
from .numerics.ranked_lists import K, LabelList, Separator, mean_of_lists, mean_over_lists, perfect, shortest
from .reading.label_kinds import LabelSet

Divisor = Annotated[
    Literal["reachable", "k"], "reachable: k, or the number of relevant labels where that is smaller; k: always k."
]


def rows(
    truth: Coded, prediction: Coded, *, k: K = 10, separator: Separator = None, divisor: Divisor = "reachable"
) -> Contributions:
    return mean_over_lists(
        truth,
        prediction,
        k,
        separator,
        lambda hits: hits.sum() / (hits.reachable(k) if divisor == "reachable" else k),
    )


def unscorable(truth: Coded, *, k: K, separator: Separator, divisor: Divisor) -> str:
    least = shortest(truth, separator)
    if divisor == "reachable" or least is None or least >= k:
        return ""
    return Message.counted(
        least,
        "a row has {count} relevant label, so that divided by k = {k} nobody could reach 1.",
        "a row has {count} relevant labels, so that divided by k = {k} nobody could reach 1.",
        k=k,
    )


precision_at_k = Metric(
    title="Precision@k",
    group="Rankings",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=mean_of_lists(rows, "precision"),
    rules=Rules(unscorable=unscorable, perfect=perfect),
    example=Example(
        truth="id,items\nu1,a\nu2,b c\nu3,d\n",
        submission="id,items\nu1,x a\nu2,b x c\nu3,x y z\n",
        score=0.6666666666666666,
        params={"k": 3},
    ),
)
