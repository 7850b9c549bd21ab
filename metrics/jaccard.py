"""How much true and predicted label sets overlap: labels in both per labels in either.

With $tp$ labels in both sets, $fp$ only predicted and $fn$ only true,

$$J = \\frac{tp}{tp + fp + fn}$$

- `samples` (default): $J$ for each row, then the mean over rows;
- `micro`: the counts are added over all rows, then one $J$;
- `macro`: one $J$ per label, over every label of the truth or the predictions of the split, then the plain mean;
- `weighted`: as `macro`, but each label weighs as many rows as truly have it.

The order of labels is irrelevant and a label repeated in a cell counts once. An empty cell means no label: both empty
scores 1, one of them empty scores 0. Truth `scab rust` against `scab` gives 0.5, where F1 gives 0.667: with the same
counts $J = F_1 / (2 - F_1)$.

For words of free text in any case, use Word Jaccard.

Equals scikit-learn's `jaccard_score` of indicator matrices, except that a row without any label scores 1 (there 0, or
what `zero_division` says).
"""

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, RowSum, ratio
from .core.figures import Figure
from .numerics.averages import JACCARD, Average
from .numerics.label_sets import TP, LabelSetPairs, Separator
from .reading.label_kinds import LabelSet


def rows(truth: Coded, prediction: Coded, *, separator: Separator = None) -> Contributions:
    found = LabelSetPairs(truth, prediction, separator)
    counts = found.by_pair()
    both, either = counts[:, TP], counts.sum(axis=1)
    similarity = ratio(both, either, empty=1.0)
    return Contributions(np.column_stack([both, either, similarity, np.ones(len(both))]), found.of_row)


def total(sums: np.ndarray, *, average: Average = "samples") -> float | None:
    """The mean over rows, or the ratio of pooled counts; ``None`` for averages over labels."""
    both, either, similarity, count = sums
    if average == "micro":
        return ratio(both, either, empty=1.0)
    return ratio(similarity, count) if average == "samples" else None


def score(truth: Coded, prediction: Coded, *, separator: Separator = None, average: Average = "samples") -> float:
    return LabelSetPairs(truth, prediction, separator).mean(JACCARD, average)


def influence(truth: Coded, prediction: Coded, *, separator: Separator, average: Average) -> np.ndarray:
    return LabelSetPairs(truth, prediction, separator).influence(JACCARD, average)


def last_line(*, average: Average) -> str:
    return {"samples": "{similarity} / {rows}", "micro": "{both} / {either}"}.get(average, "")


def figures(truth: Coded, prediction: Coded, *, separator: Separator, average: Average) -> list[Figure]:
    """A table of the labels, if the score is an average over labels."""
    if average in ("samples", "micro"):
        return []
    return LabelSetPairs(truth, prediction, separator).table(JACCARD, "Jaccard")


jaccard = Metric(
    title="Jaccard",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=LabelSet(),
    computation=RowSum(
        rows=rows,
        total=total,
        score=score,
        parts=("both", "either", "similarity", "rows"),
        last_line=last_line,
        influence=influence,
    ),
    figures=figures,
    example=Example(
        truth="id,labels\n1,scab rust\n2,healthy\n3,rust\n4,\n",
        submission="id,labels\n1,scab\n2,healthy rust\n3,rust\n4,\n",
        score=0.75,
    ),
)
