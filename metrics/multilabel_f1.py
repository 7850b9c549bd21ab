"""F1 of label sets such as `scab rust`: averaged over rows, pooled, or by label.

Each cell holds any number of labels in any order. With $tp$ labels in both sets, $fp$ only predicted and $fn$ only
true,

$$F_1 = \\frac{2\\,tp}{2\\,tp + fp + fn}$$

- `samples` (default): this F1 for each row, then the mean over rows;
- `micro`: the counts are added over all rows, then one F1;
- `macro`: one F1 per label, over every label of the truth or the predictions, then the plain mean;
- `weighted`: as `macro`, but each label weighs as many rows as truly have it.

The order of labels is irrelevant and a label repeated in a cell counts once: truth `a a b`, prediction `a` gives 0.667.
An empty cell means no label: both empty scores 1, one of them empty scores 0. Unknown labels are wrong.

`samples` and `micro` differ: on the 18,632 labelled pictures of Plant Pathology 2021, answering `healthy`
everywhere gives 0.248 by row and 0.238 pooled.

Source: *evaluations* 0.0.1, `row_wise_micro_averaged_f1_score`; Birdsong Recognition 2020 (by row).
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import numpy as np

from metrics._arrays import Coded
from metrics._contract import Contributions, Example, Metric, each_pair
from metrics._fscore import Average, counts_of, f_beta, last_line, mean_over_labels, mean_over_rows, words_of
from metrics._inputs import LabelSet

Separator = Annotated[str | None, "Text between two labels; empty means any white space."]


def rows(truth: Coded, prediction: Coded, *, separator: Separator = None) -> Contributions:
    """tp, fp, fn and F1 of each row, and 1 for the row."""

    def contribution(true: frozenset[str], predicted: frozenset[str]) -> tuple[float, ...]:
        tp, fp, fn = counts_of(true, predicted)
        return tp, fp, fn, f_beta(tp, fp, fn), 1

    return each_pair(truth.map(words_of, separator), prediction.map(words_of, separator), contribution)


def total(sums: np.ndarray, *, average: Average = "samples") -> float | None:
    """The mean over rows, or the F1 of pooled counts."""
    return mean_over_rows(sums, average)


def score(truth: Coded, prediction: Coded, *, separator: Separator = None, average: Average = "samples") -> float:
    """Averages over labels."""
    true, predicted = truth.map(words_of, separator), prediction.map(words_of, separator)
    pairs = Counter(zip(true.codes.tolist(), predicted.codes.tolist(), strict=True))
    counts: dict[str, list[int]] = {}
    for (t, p), times in pairs.items():
        for label in true.values[t] | predicted.values[p]:
            place = (
                0 if label in true.values[t] and label in predicted.values[p] else 2 - (label in predicted.values[p])
            )
            counts.setdefault(label, [0, 0, 0])[place] += times
    table = np.array([counts[label] for label in sorted(counts)], np.float64).reshape(-1, 3)
    tp, fp, fn = table.T
    return mean_over_labels(tp, fp, fn, average)


multilabel_f1 = Metric(
    title="Multi-label F1",
    group="Labels",
    direction="maximize",
    best=1.0,
    truth=LabelSet(),
    submission=LabelSet(),
    rows=rows,
    total=total,
    score=score,
    parts=("tp", "fp", "fn", "f1", "rows"),
    last_line=last_line,
    worst=0.0,
    example=Example(
        truth="id,birds\nr1,amecro\nr2,amecro amerob\nr3,nocall\n",
        submission="id,birds\nr1,amecro\nr2,amecro bird666\nr3,nocall\n",
        score=0.8333333333333334,
    ),
)
