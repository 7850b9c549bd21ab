"""Pearson's correlation: whether predictions rise and fall in a straight line with the answers.

$$r = \\frac{\\sum_i (y_i - \\bar y)(\\hat y_i - \\bar{\\hat y})}
{\\sqrt{\\sum_i (y_i - \\bar y)^2 \\, \\sum_i (\\hat y_i - \\bar{\\hat y})^2}}$$

From -1 to 1; unit and zero of the predictions do not matter, so 20, 40, 60 for 1, 2, 3 score 1 and 3, 2, 1 score -1.
Constant predictions have no direction; they score 0 by decision (a formula would divide 0 by 0). Each split is
measured with its own means, so the overall value is not a mean of the two. A part of the truth whose answers are all
the same (one row, too) is refused at publication.

Equals scipy's `pearsonr`, which gives no number for constant predictions.
"""

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn
from .numerics.correlation import constant, correlation_influence, correlation_of, correlation_rows
from .reading.number_kinds import Number

pearson = Metric(
    title="Pearson correlation",
    group="Numbers",
    direction="maximize",
    worst=-1.0,
    truth=Number(largest=np.inf),
    computation=WholeColumn(
        rows=correlation_rows,
        total=correlation_of,
        parts=("product", "truth_squared", "prediction_squared"),
        last_line="{product} / √({truth_squared} · {prediction_squared})",
        influence=correlation_influence,
    ),
    rules=Rules(unscorable=constant),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,3\n4,6\n",
        submission="id,y\n1,10\n2,30\n3,20\n4,40\n",
        score=0.8366600265340755,
    ),
)
