"""F-beta in which each probability counts as a part of a positive answer.

A row with answer 1 and probability $p$ adds $p$ to the true positives $ptp$ and $1 - p$ to the false negatives $pfn$; a
row with answer 0 adds $p$ to the false positives $pfp$. From these,

$$pF_\\beta = \\frac{(1 + \\beta^2)\\,ptp}{(1 + \\beta^2)\\,ptp + \\beta^2\\,pfn + pfp}$$

- With answers 0 and 1 in the submission too this is `fbeta`.
- Hedging does not pay: where a share $q$ of the answers is 1, saying $p$ everywhere gives $2qp/(q + p)$ at `beta` 1;
  with $q = 0.02$ that is 0.038 for 0.5 and 0.039 for 1.
- Without any 1 in truth and submission the score is 1; with only 0s on one side, and not on both, it is 0.

Source: `pfbeta` of RSNA Screening Mammography Breast Cancer Detection 2023, after Yacouby and Axman 2020. There numbers
outside 0 to 1 were cut; here they are refused.
"""

import numpy as np

from ..core.contract import Example, Metric, RowSum
from ..numerics.averages import Beta, f_beta
from ..reading.number_kinds import Binary, Probability


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The fractions of a true positive, a false positive and a false negative for each row."""
    return np.column_stack([truth * prediction, (1 - truth) * prediction, truth * (1 - prediction)])


def total(sums: np.ndarray, *, beta: Beta = 1.0) -> float:
    tp, fp, fn = sums
    return f_beta(tp, fp, fn, beta)


probabilistic_f1 = Metric(
    title="Probabilistic F1",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    submission=Probability(),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("ptp", "pfp", "pfn"),
        last_line="(1 + {beta}²)·{ptp} / ((1 + {beta}²)·{ptp} + {beta}²·{pfn} + {pfp})",
    ),
    example=Example(
        truth="id,cancer\n1,1\n2,0\n3,0\n4,1\n",
        submission="id,cancer\n1,0.75\n2,0.25\n3,0\n4,0.5\n",
        score=0.7142857142857143,
    ),
)
