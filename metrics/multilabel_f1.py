"""F1 of label sets such as `scab rust`: averaged over rows, pooled, or by label.

Each cell holds any number of labels in any order. With $tp$ labels in both sets, $fp$ only predicted and $fn$ only
true,

$$F_1 = \\frac{2\\,tp}{2\\,tp + fp + fn}$$

Another `beta` than 1 makes this $F_\\beta$, in which a missed label weighs $\\beta^2$ times a wrong one: truth `a b`,
prediction `a` gives 0.667, and 0.556 at `beta` 2.

- `samples` (default): this F1 for each row, then the mean over rows;
- `micro`: the counts are added over all rows, then one F1;
- `macro`: one F1 per label, over every label of the truth or the predictions, then the plain mean;
- `weighted`: as `macro`, but each label weighs as many rows as truly have it.

The order of labels is irrelevant and a label repeated in a cell counts once: truth `a a b`, prediction `a` gives 0.667.
An empty cell means no label: both empty scores 1, one of them empty scores 0. Unknown labels are wrong.

`samples` and `micro` differ: on the 18,632 labelled pictures of Plant Pathology 2021, answering `healthy`
everywhere gives 0.248 by row and 0.238 pooled.

Source: *evaluations* 0.0.1, `row_wise_micro_averaged_f1_score`; Birdsong Recognition 2020 (by row); with `beta` 2:
Planet: Understanding the Amazon from Space.
"""

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum
from .core.figures import Figure
from .numerics.averages import Average, Beta, f_beta, f_share, last_line_of_f_beta, total_f_beta
from .numerics.label_sets import LabelSetPairs, Separator
from .reading.label_kinds import LabelSet


def rows(truth: Coded, prediction: Coded, *, separator: Separator = None, beta: Beta = 1.0) -> Contributions:
    found = LabelSetPairs(truth, prediction, separator)
    tp, fp, fn = found.by_pair().T
    return Contributions(np.column_stack([tp, fp, fn, f_beta(tp, fp, fn, beta), np.ones(len(tp))]), found.of_row)


def score(
    truth: Coded, prediction: Coded, *, separator: Separator = None, average: Average = "samples", beta: Beta = 1.0
) -> float:
    return LabelSetPairs(truth, prediction, separator).mean(f_share(beta), average)


def influence(truth: Coded, prediction: Coded, *, separator: Separator, average: Average, beta: Beta) -> np.ndarray:
    return LabelSetPairs(truth, prediction, separator).influence(f_share(beta), average)


def figures(truth: Coded, prediction: Coded, *, separator: Separator, average: Average, beta: Beta) -> list[Figure]:
    if average in ("samples", "micro"):
        return []
    return LabelSetPairs(truth, prediction, separator).table(f_share(beta), f"F{beta:g}")


multilabel_f1 = Metric(
    title="Multi-label F1",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    computation=RowSum(
        rows=rows,
        total=total_f_beta,
        score=score,
        parts=("tp", "fp", "fn", "f", "rows"),
        last_line=last_line_of_f_beta,
        influence=influence,
    ),
    figures=figures,
    example=Example(
        truth="id,birds\nr1,amecro\nr2,amecro amerob\nr3,nocall\n",
        submission="id,birds\nr1,amecro\nr2,amecro bird666\nr3,nocall\n",
        score=0.8333333333333334,
    ),
)
