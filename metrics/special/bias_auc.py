"""ROC AUC that asks for the same order within and across subgroups of the rows.

The first column of the truth is the answer, 0 or 1; each further column says with 1 who belongs to a subgroup. The
submission has one score per row, in a column named like the answer, or `prediction`. Three areas under the ROC curve
are taken for each subgroup $s$: of its own rows; of its 0s and the other rows' 1s; of its 1s and the other rows' 0s.
With $M_p$ the power mean over the subgroups,

$$\\text{score} = \\frac{1}{4} \\left( \\mathrm{AUC} + \\sum_{a=1}^{3} M_p(m_{1a}, \\ldots, m_{Sa}) \\right), \\quad
M_p = \\left( \\frac{1}{S} \\sum_{s=1}^{S} m_{sa}^{\\,p} \\right)^{1/p}$$

- `power` is $p$: at -5 the worst subgroups count most. Areas of 0.5 and 1 have the mean 0.571; at 1 it would be 0.75.
- Constant scores give 0.5, the right order everywhere 1. A subgroup with an area of 0 makes that mean 0.
- Each subgroup and its background need both answers in both splits; otherwise the truth is refused at publication.
- Shares such as those of annotators must be rounded by the host: 1 from 0.5 on.

Source: Jigsaw Unintended Bias in Toxicity Classification 2019.
"""

from typing import Annotated, Any

import numpy as np

from ..core.contract import Example, Metric, Rules, SubmissionFormat, WholeColumn
from ..core.figures import Figure, Grid
from ..core.parameters import Range
from ..numerics.ranks import roc_area, roc_influence
from ..reading.number_kinds import Binary, RankedScore
from .numerics.roc_areas import KINDS, areas_of_subgroups, influence_of_subgroups, missing_rows, power_means

Power = Annotated[float, Range(-20, -0.1), "The power of the mean over subgroups; the lower, the more the worst count."]


def score(truth: np.ndarray, prediction: np.ndarray, *, power: Power = -5.0) -> float:
    means = power_means(areas_of_subgroups(truth, prediction), power)
    return float((roc_area(truth[:, 0], prediction) + means.sum()) / 4)


def influence(truth: np.ndarray, prediction: np.ndarray, *, power: Power) -> np.ndarray:
    return (roc_influence(truth[:, 0], prediction) + influence_of_subgroups(truth, prediction, power)) / 4


def figures(truth: np.ndarray, prediction: np.ndarray, *, power: Power) -> list[Figure]:
    areas = areas_of_subgroups(truth, prediction)
    cells = [*areas.tolist(), power_means(areas, power).tolist()]
    names = [*(f"subgroup {place + 1}" for place in range(len(areas))), "power mean"]
    whole = roc_area(truth[:, 0], prediction)
    note = f"The area over all rows is {whole:.6g}; the score is the mean of it and the three of the last line."
    return [Grid("Areas under the ROC curve", rows=names, columns=KINDS, cells=cells, note=note)]


def perfect(truth: np.ndarray) -> list[list[str]]:
    return [[f"{answer:g}" for answer in truth[:, 0]]]


def answer_name(target: Any, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The first column of the truth."""
    return columns[:1]


bias_auc = Metric(
    title="Bias AUC",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(many=True),
    submission=RankedScore(),
    computation=WholeColumn(score=score, influence=influence),
    format=SubmissionFormat(names=answer_name, aliases=("prediction",)),
    rules=Rules(unscorable=missing_rows, perfect=perfect),
    figures=figures,
    example=Example(
        truth="id,toxic,female\n1,1,1\n2,0,1\n3,1,0\n4,0,0\n5,0,1\n6,1,0\n",
        submission="id,toxic\n1,0.7\n2,0.6\n3,0.5\n4,0.1\n5,0.2\n6,0.9\n",
        score=0.9097222222222222,
    ),
)
