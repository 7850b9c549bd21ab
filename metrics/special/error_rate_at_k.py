"""Share of rows with no right label among the first k of a list.

A submission's cell holds labels, best first, separated by white space: `71 108 339`. Labels after the first `k`
do not count. With $h_i$ right labels among the first $k$ of row $i$,

$$\\text{error rate@}k = \\frac{1}{n} \\sum_{i=1}^{n} [h_i = 0]$$

With `k` = 1, the default, only the first label of each cell counts; if each cell has one label, the score is the
`error_rate`. It is 1 minus `hit_rate_at_k`. 0 is perfect: truth `c` gets 0 for `x y c` with `k` = 3 and 1 with `k` = 2.

The truth may hold several labels too; one of them is enough. A label that a list repeats keeps its places. Labels are
compared as text, so `07` is not `7`. An empty list is wrong, unless the truth is empty as well.

Source: top-5 error of ImageNet; "iNaturalist 2019" on Kaggle, whose cells hold several labels; the first one counts.
Equals 1 minus scikit-learn's `top_k_accuracy_score` where lists are full.
"""

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Example, Metric, RowSum, Rules
from ..numerics.ranked_lists import K, LabelList, Separator, mean_over_lists, perfect
from ..reading.label_kinds import LabelSet


def rows(truth: Coded, prediction: Coded, *, k: K = 1, separator: Separator = None) -> Contributions:
    found = mean_over_lists(truth, prediction, k, separator, lambda hits: hits.sum() > 0)
    *_, hit, count = found.table.T
    return Contributions(np.column_stack([count - hit, count]), found.of_row)


error_rate_at_k = Metric(
    title="Error rate@k",
    group="Rankings",
    direction="minimize",
    worst=1.0,
    truth=LabelSet(),
    submission=LabelList(),
    computation=RowSum(rows=rows, parts=("wrong", "rows")),
    rules=Rules(perfect=perfect),
    example=Example(
        truth="id,species\n1,71\n2,108\n3,339\n4,5\n",
        submission="id,species\n1,71 108\n2,339 108\n3,339\n4,\n",
        score=0.5,
    ),
)
