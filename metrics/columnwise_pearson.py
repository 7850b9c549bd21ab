"""Mean over target columns of Pearson's correlation of each column.

$$\\frac{1}{c} \\sum_{j=1}^{c} r_j, \\qquad r_j = \\mathrm{corr}(y_j, \\hat y_j)$$

over the rows of the split. From -1 to 1; two columns with 1 and 0.2 give 0.6. Unit and zero of the predictions do not
matter, in no column.

A constant column of predictions has no direction and counts 0 by decision (the formula would divide 0 by 0). A part of
the truth with a column whose answers are all the same (one row, too) is refused at publication.

Equals the mean of scipy's `pearsonr` over columns.
"""

import numpy as np

from .core.contract import Example, Metric, Rules
from .numerics.averages import each_column, mean_over_columns
from .numerics.correlation import constant, correlation, correlation_influence
from .reading.number_kinds import Number

columnwise_pearson = Metric(
    title="Column-wise Pearson",
    group="Numbers",
    direction="maximize",
    worst=-1.0,
    truth=Number(many=True, largest=np.inf),
    computation=mean_over_columns(correlation, correlation_influence),
    rules=Rules(unscorable=constant),
    figures=each_column("Pearson's correlation of each column", correlation),
    example=Example(
        truth="id,a,b\n1,1,1\n2,2,2\n3,3,3\n4,4,60\n",
        submission="id,a,b\n1,1,0.1\n2,2,0.3\n3,3,0.2\n4,9,0.4\n",
        score=0.840608115418124,
    ),
)
