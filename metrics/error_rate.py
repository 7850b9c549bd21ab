"""Share of rows whose label is wrong: 1 minus the accuracy.

$$\\text{error rate} = \\frac{1}{n} \\sum_{i=1}^{n} [\\hat y_i \\ne y_i]$$

Labels are compared as text after trimming: `Cat` and `cat` differ. Only where every true label is a plain number are
labels compared as numbers, so that `1` and `1.0` are equal. A label that the truth does not know is simply wrong; an
empty prediction is an error.

0 is perfect. Four rows of which one is wrong give 0.25, where the accuracy is 0.75; answering the most frequent label
everywhere gives 1 minus its share.

Equals scikit-learn's `zero_one_loss`.
"""

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, each_pair
from .numerics.averages import mean_over_rows
from .reading.label_kinds import Label


def wrong(truth: Coded, prediction: Coded) -> Contributions:
    """1 for a wrong row, else 0."""
    return each_pair(truth, prediction, lambda true, predicted: [true != predicted])


error_rate = Metric(
    title="Error rate",
    group="Labels",
    direction="minimize",
    worst=1.0,
    truth=Label(),
    computation=mean_over_rows(wrong),
    example=Example(
        truth="id,label\n1,cat\n2,dog\n3,dog\n4,bird\n",
        submission="id,label\n1,cat\n2,dog\n3,cat\n4,bird\n",
        score=0.25,
    ),
)
