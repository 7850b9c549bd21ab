"""Share of pairs of rows that are rightly together or apart, corrected for chance.

Names of clusters mean nothing, only which rows are together. Over ordered pairs of different rows, $S$ are together in
both, $A$ in the truth, $B$ in the prediction, of $N = n(n-1)$:

$$\\mathrm{ARI} = \\frac{S - A B / N}{\\tfrac12 (A + B) - A B / N}$$

1 means the same clusters, 0 is what random clusters of the same sizes give on average, and -0.5 is the lowest value.
With truth `a a b b`, prediction `x x y z` gives 0.571 and `x y x y` -0.5. One cluster for all rows gives 0, as does a
cluster for each row, unless the truth is the same, which gives 1. The counts of pairs are whole numbers up to one
division.

Source: Hubert and Arabie 1985; equals scikit-learn's `adjusted_rand_score`.
"""

from fractions import Fraction

import numpy as np

from .core.arrays import Coded
from .core.contract import Contributions, Example, Metric, WholeColumn
from .numerics.contingency import Cluster, contingency, cross


def rows(truth: Coded, prediction: Coded) -> Contributions:
    """For each row the number of other rows in its cluster: in both columns, in the truth, in the prediction; and of
    all other rows."""
    found = cross(truth, prediction)
    others = np.full(len(found.counts), found.rows)
    table = np.column_stack([found.counts, found.truly[found.true], found.predicted[found.said], others]) - 1
    return Contributions(table.astype(np.float64), found.of_row)


def total(sums: np.ndarray) -> float:
    """The index, computed in whole numbers; 1.0 if both put all rows together, or both put all apart."""
    both, truth, prediction, pairs = map(int, sums)
    if both == truth == prediction:
        return 1.0
    chance = 2 * truth * prediction
    return float(Fraction(2 * both * pairs - chance, (truth + prediction) * pairs - chance))


def influence(truth: Coded, prediction: Coded) -> np.ndarray:
    """The derivative by the weight of each row; a row takes part in twice as many pairs as it contributes."""
    found = rows(truth, prediction)
    shares = found.table / max(len(found.of_row) - 1, 1)
    both, true, said = (float(column @ np.bincount(found.of_row)) / len(found.of_row) for column in shares[:, :3].T)
    under = (true + said) / 2 - true * said
    if both == true == said or not under:
        return np.zeros(len(found.of_row))
    value = (both - true * said) / under
    gaps = 2 * (shares[:, :3] - (both, true, said)) / len(found.of_row)
    chance = gaps[:, 1] * said + gaps[:, 2] * true
    changes = (gaps[:, 0] - chance - value * ((gaps[:, 1] + gaps[:, 2]) / 2 - chance)) / under
    return changes[found.of_row]


adjusted_rand = Metric(
    title="Adjusted Rand index",
    group="Clusterings",
    direction="maximize",
    worst=-0.5,
    truth=Cluster(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("both", "truth", "prediction", "pairs"),
        last_line="({both} − {truth}·{prediction} / {pairs}) / (({truth} + {prediction}) / 2 − "
        "{truth}·{prediction} / {pairs})",
        influence=influence,
    ),
    figures=contingency,
    example=Example(
        truth="id,cluster\n1,a\n2,a\n3,b\n4,b\n",
        submission="id,cluster\n1,x\n2,x\n3,y\n4,z\n",
        score=0.5714285714285714,
    ),
)
