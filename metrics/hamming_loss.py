"""Share of the yes-or-no answers, one per row and label, that are wrong.

Each row answers for each of $L$ labels whether it has it. For the sets $a_i$ and $b_i$ of true and predicted labels,

$$\\text{Hamming loss} = \\frac{1}{n\\,L} \\sum_{i=1}^{n} |\\,a_i \\mathbin{\\triangle} b_i\\,|$$

counts the labels that are in one of the two sets only. $L$ is the number of different labels in the truth of the split,
or `labels` where it is given. Labels that only predictions hold are wrong but do not raise $L$, or naming a thousand
labels that no row has would lower the loss; with such labels it can exceed 1.

0 is perfect, and the order and repetition of labels are irrelevant. Two rows, truth `a b` and `c`, prediction `a` and
`c b`: 2 wrong answers of 6 give 0.333. Empty answers everywhere give the share of labels that rows have. A part of the
truth without any label cannot be scored unless `labels` is given. The cells hold label sets; for 0/1 columns, write the
names of the 1s into one cell.

Equals scikit-learn's `hamming_loss` of indicator matrices whose columns are the labels of the truth.
"""

from typing import Annotated

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, Rules, WholeColumn, quotient
from .core.messages import Message
from .core.parameters import Range
from .numerics.cells import expand
from .numerics.label_sets import FN, FP, LabelSetPairs, Separator, label_sets
from .reading.label_kinds import LabelSet

Labels = Annotated[int | None, Range(1), "How many labels there are; empty means those of the truth."]


def known(truth: Coded, separator: str | None, labels: int | None) -> int:
    """The number of labels: the parameter ``labels``, or the distinct labels of the truth."""
    if labels is not None:
        return labels
    sets = truth.once(label_sets, separator)
    places, _ = expand(sets.starts, np.unique(truth.codes))
    return len(np.unique(sets.codes[places]))


def rows(truth: Coded, prediction: Coded, *, separator: Separator = None, labels: Labels = None) -> Contributions:
    found = LabelSetPairs(truth, prediction, separator)
    counts = found.by_pair()
    answers = np.full(len(counts), known(truth, separator, labels))
    return Contributions(np.column_stack([counts[:, FP] + counts[:, FN], answers]).astype(np.float64), found.of_row)


def influence(truth: Coded, prediction: Coded, *, separator: Separator, labels: Labels) -> np.ndarray:
    wrong, answers = rows(truth, prediction, separator=separator, labels=labels).dense().T
    return (wrong - wrong.mean()) / max(float(answers.sum()), 1.0)


def unscorable(truth: Coded, *, separator: Separator, labels: Labels) -> str:
    found = known(truth, separator, None)
    if labels is not None and labels < found:
        return Message(
            "its rows have {found} different labels, more than the {labels} there are.", found=found, labels=labels
        )
    return "" if found or labels else Message("none of its rows has a label; give the number of labels.")


hamming_loss = Metric(
    title="Hamming loss",
    group="Labels",
    direction="minimize",
    truth=LabelSet(),
    computation=WholeColumn(
        rows=rows,
        total=quotient,
        parts=("wrong", "answers"),
        influence=influence,
    ),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,labels\n1,scab rust\n2,healthy\n3,rust\n4,\n",
        submission="id,labels\n1,scab\n2,healthy rust\n3,rust\n4,\n",
        score=0.16666666666666666,
    ),
)
