"""Share of rows whose set of labels is exactly right.

For the sets $a_i$ and $b_i$ of true and predicted labels,

$$\\text{exact match} = \\frac{1}{n} \\sum_{i=1}^{n} [\\,a_i = b_i\\,]$$

The order of labels is irrelevant and a label repeated in a cell counts once: `rust scab` is `scab rust rust`. One label
too many or too few makes the row wrong: truth `scab rust`, prediction `scab` gives 0, where F1 gives 0.667. An empty
cell means no label; two empty cells are equal. For one label per row this is the accuracy of labels as text.

Equals scikit-learn's `accuracy_score` of indicator matrices (subset accuracy).
"""

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric
from .numerics.averages import mean_over_rows
from .numerics.label_sets import FN, FP, LabelSetPairs, Separator
from .reading.label_kinds import LabelSet


def right(truth: Coded, prediction: Coded, *, separator: Separator = None) -> Contributions:
    """1 for a row with the right set, else 0."""
    found = LabelSetPairs(truth, prediction, separator)
    counts = found.by_pair()
    return Contributions(counts[:, FP] + counts[:, FN] == 0, found.of_row)


exact_match = Metric(
    title="Exact match",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    computation=mean_over_rows(right),
    example=Example(
        truth="id,labels\n1,scab rust\n2,healthy\n3,rust\n4,\n",
        submission="id,labels\n1,rust scab\n2,healthy rust\n3,rust\n4,\n",
        score=0.75,
    ),
)
