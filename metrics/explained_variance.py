"""Share of the truth's variance that is gone when the predictions are subtracted.

$$1 - \\frac{\\mathrm{Var}(y - \\hat y)}{\\mathrm{Var}(y)}$$

1 is perfect, and is also reached by predictions that are all wrong by the same amount: 11, 12, 13 for 1, 2, 3 scores
1 here and -149 under R². Where the errors have mean 0, both are the same. Every constant scores 0; there is no lower
end. Each split is measured by itself. A part of the truth whose answers are all the same (one row, too) has no
variance and is refused at publication.

Equals scikit-learn's `explained_variance_score`.
"""

import numpy as np

from .core.contract import Example, Metric, Rules
from .numerics.correlation import centred, centred_differences, no_variance, share_explained
from .reading.number_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.column_stack([centred_differences(prediction, truth) ** 2, centred(truth) ** 2])


explained_variance = Metric(
    title="Explained variance",
    group="Numbers",
    direction="maximize",
    truth=Number(),
    computation=share_explained(rows, "error_variance", "truth_variance"),
    rules=Rules(unscorable=no_variance),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,3\n4,6\n",
        submission="id,y\n1,2\n2,3\n3,6\n4,5\n",
        score=0.4285714285714286,
    ),
)
