"""Mean over the labels of the share of their rows that is right: rare labels count fully.

$$\\text{balanced accuracy} = \\frac{1}{|K|} \\sum_{k \\in K}
\\frac{|\\{i : y_i = k \\text{ and } \\hat y_i = k\\}|}{|\\{i : y_i = k\\}|}$$

$K$ are the labels that the truth of the split holds. It is the macro average of recall; with equally frequent labels
it is the accuracy.

- Answering one label everywhere gives $1 / |K|$: 0.5 with two labels, however rare one of them is.
- A predicted label that the truth does not hold is wrong for its row and changes nothing else (scikit-learn says so
  in a warning).
- With truth `a a a b` and prediction `a a a a` the accuracy is 0.75 and this is 0.5.

Equals scikit-learn's `balanced_accuracy_score`.
"""

from .core.contract import Example, Metric
from .numerics.averages import RECALL, Share
from .numerics.contingency import confusion_matrix
from .numerics.label_averages import average_over_labels
from .reading.label_kinds import Label


def share() -> Share:
    return RECALL


balanced_accuracy = Metric(
    title="Balanced accuracy",
    group="Labels",
    direction="maximize",
    worst=0.0,
    truth=Label(),
    computation=average_over_labels(share),
    figures=confusion_matrix,
    example=Example(
        truth="id,label\n1,a\n2,a\n3,a\n4,a\n5,b\n6,b\n",
        submission="id,label\n1,a\n2,a\n3,a\n4,b\n5,b\n6,a\n",
        score=0.625,
    ),
)
