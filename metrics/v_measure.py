"""Whether each cluster holds one class only, and each class lies in one cluster.

With the entropies $H$ of the true classes $C$ and the predicted clusters $K$ and their mutual information $I$,
homogeneity is $h = I / H(C)$ (1 where every cluster holds rows of one class), completeness is $c = I / H(K)$ (1 where
every class lies in one cluster), and

$$V_\\beta = \\frac{(1 + \\beta)\\,h\\,c}{\\beta\\,h + c} = \\frac{(1 + \\beta)\\,I}{H(C) + \\beta\\,H(K)}$$

A `beta` above 1 favours completeness, below 1 homogeneity. Names of clusters mean nothing.

With truth `a a b b`, prediction `x x y z` gives 0.8 (homogeneity 1, completeness 0.667) and `x y x y` 0. One cluster
for all rows gives 0, unless the truth has only one, which gives 1. A cluster for each row is not punished as the
adjusted Rand index does it: on `a a b b` it gives 0.667. With `beta` 1 this is the normalised mutual information.

Source: Rosenberg and Hirschberg 2007; equals scikit-learn's `v_measure_score`.
"""

from fractions import Fraction
from typing import Annotated

import numpy as np

from .core.arrays import Coded
from .core.contract import Example, Metric, WholeColumn
from .core.parameters import Range
from .numerics.contingency import Cluster, contingency, information_of_rows

Beta = Annotated[float, Range(0, 1000, exclusive_minimum=True), "Weight of completeness: below 1 favours homogeneity."]


def total(sums: np.ndarray, *, beta: Beta = 1.0) -> float:
    """The weighted harmonic mean; exact, so that identical clusterings get 1.0 with any weight."""
    shared, truth, prediction = map(Fraction, sums.tolist())
    weight = Fraction(beta)
    under = truth + weight * prediction
    return float(max((1 + weight) * shared, Fraction(0)) / under) if under else 1.0


def influence(truth: Coded, prediction: Coded, *, beta: Beta) -> np.ndarray:
    found = information_of_rows(truth, prediction)
    shared, true, said = found.table.T
    counts = np.bincount(found.of_row)
    under = float((true + beta * said) @ counts)
    if not under:
        return np.zeros(len(found.of_row))
    value = (1 + beta) * float(shared @ counts) / under
    return (((1 + beta) * shared - value * (true + beta * said)) / under)[found.of_row]


v_measure = Metric(
    title="V-measure",
    group="Clusterings",
    direction="maximize",
    worst=0.0,
    truth=Cluster(),
    computation=WholeColumn(
        rows=information_of_rows,
        total=total,
        parts=("shared", "truth", "prediction"),
        last_line="(1 + {beta})·{shared} / ({truth} + {beta}·{prediction})",
        influence=influence,
    ),
    figures=contingency,
    example=Example(
        truth="id,cluster\n1,a\n2,a\n3,b\n4,b\n",
        submission="id,cluster\n1,x\n2,x\n3,y\n4,z\n",
        score=0.8,
    ),
)
