"""How much true and predicted clusters tell about each other, from 0 to 1.

With $n_{ij}$ rows in true cluster $i$ and predicted cluster $j$, $a_i$ and $b_j$ the sizes of the clusters,

$$\\mathrm{NMI} = \\frac{I}{\\mathrm{mean}(H_a, H_b)} \\qquad
I = \\sum_{i,j} \\frac{n_{ij}}{n} \\ln \\frac{n\\,n_{ij}}{a_i\\,b_j} \\qquad
H_a = -\\sum_i \\frac{a_i}{n} \\ln \\frac{a_i}{n}$$

`average` is the mean of the two entropies: `arithmetic` (default), `geometric`, `min` or `max`. Names of clusters mean
nothing; the unit of information cancels.

With truth `a a b b`, prediction `x x y z` gives 0.8 (geometric 0.816, min 1, max 0.667) and `x y x y` 0. One cluster
for all rows gives 0, unless the truth has only one, which gives 1. Many small clusters are not punished: a cluster for
each row gives 0.667 here, where the adjusted Rand index gives 0, and with `min` even 1, though it is not perfect.

Source: Strehl and Ghosh 2002; equals scikit-learn's `normalized_mutual_info_score` with the same `average_method`.
"""

import math
from typing import Annotated, Literal

import numpy as np

from .core.arrays import Coded
from .core.contract import Example, Metric, WholeColumn, ratio
from .numerics.contingency import Cluster, contingency, information_of_rows

Average = Annotated[Literal["arithmetic", "geometric", "min", "max"], "The mean of the two entropies."]


def mean(truth: float, prediction: float, average: Average) -> float:
    if average == "geometric":
        return math.sqrt(truth * prediction)
    if average == "arithmetic":
        return (truth + prediction) / 2
    return min(truth, prediction) if average == "min" else max(truth, prediction)


def total(sums: np.ndarray, *, average: Average = "arithmetic") -> float:
    shared, truth, prediction = map(float, sums)
    return ratio(max(shared, 0.0), mean(truth, prediction, average), empty=float(truth == prediction))


def influence(truth: Coded, prediction: Coded, *, average: Average) -> np.ndarray:
    found = information_of_rows(truth, prediction)
    shared, true, said = found.table.T
    sums = np.bincount(found.of_row) @ found.table
    under = mean(float(sums[1]), float(sums[2]), average)
    if not under:
        return np.zeros(len(found.of_row))
    if average == "geometric":
        means = (true * np.sqrt(sums[2] / sums[1]) + said * np.sqrt(sums[1] / sums[2])) / 2
    elif average == "arithmetic":
        means = (true + said) / 2
    else:
        means = true if under == sums[1] else said
    return ((shared - float(sums[0]) / under * means) / under)[found.of_row]


def last_line(*, average: Average) -> str:
    under = {"arithmetic": "(({truth} + {prediction}) / 2)", "geometric": "√({truth} · {prediction})"}
    return "{shared} / " + under.get(average, f"{average}({{truth}}, {{prediction}})")


normalised_mutual_information = Metric(
    title="Normalised mutual information",
    group="Clusterings",
    direction="maximize",
    worst=0.0,
    truth=Cluster(),
    computation=WholeColumn(
        rows=information_of_rows,
        total=total,
        parts=("shared", "truth", "prediction"),
        last_line=last_line,
        influence=influence,
    ),
    figures=contingency,
    example=Example(
        truth="id,cluster\n1,a\n2,a\n3,b\n4,b\n",
        submission="id,cluster\n1,x\n2,x\n3,y\n4,z\n",
        score=0.8,
    ),
)
