"""Share of the truth's variance that is gone when the predictions are subtracted.

$$1 - \\frac{\\mathrm{Var}(y - \\hat y)}{\\mathrm{Var}(y)}$$

1 is perfect, and is also reached by predictions that are all wrong by the same amount: 11, 12, 13 for 1, 2, 3 scores
1 here and -149 under R². Where the errors have mean 0, both are the same. Every constant scores 0; there is no lower
end. Each split is measured by itself. A part of the truth whose answers are all the same (one row, too) has no
variance and is refused at publication.

Equals scikit-learn's `explained_variance_score`.
"""

from __future__ import annotations

import numpy as np

from .core.contract import Example, Metric, Rules, WholeColumn, ratio
from .numerics.correlation import centred, centred_differences, no_variance, share_left
from .reading.column_kinds import Number


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The squared distance of each row's error from the mean error, and of its answer from the mean answer."""
    return np.column_stack([centred_differences(prediction, truth) ** 2, centred(truth) ** 2])


def total(sums: np.ndarray) -> float:
    """1 minus the share of variance that is left."""
    return 1 - ratio(*sums)


def influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The derivative by the weight of each row."""
    return share_left(rows(truth, prediction))


explained_variance = Metric(
    title="Explained variance",
    group="Numbers",
    direction="maximize",
    best=1.0,
    truth=Number(),
    submission=Number(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("error_variance", "truth_variance"),
        last_line="1 − {error_variance} / {truth_variance}",
        influence=influence,
    ),
    rules=Rules(unscorable=no_variance),
    example=Example(
        truth="id,y\n1,1\n2,2\n3,3\n4,6\n",
        submission="id,y\n1,2\n2,3\n3,6\n4,5\n",
        score=0.4285714285714286,
    ),
)
