"""Mean over groups of the logarithm of the group's MAE: each group is worth the same.

$$\\frac{1}{G} \\sum_{g=1}^{G} \\ln \\max(\\mathrm{MAE}_g, \\epsilon), \\qquad
\\mathrm{MAE}_g = \\frac{1}{n_g} \\sum_{i \\in g} |\\hat y_i - y_i|$$

The group of a row is a further column of the truth, which the host names; students never see it there. Lower is
better: a tenth of the error in one of eight groups is worth $\\ln(10) / 8 = 0.288$, however large that error was. MAEs
of 1 and $e$ give 0.5.

`floor` is the MAE below which a group is not better any more, so the best value is its logarithm: -20.7233 for 1e-9.
Groups are those of the split, and a group of one row counts as much as one of thousands.

Source: "Predicting Molecular Properties" (CHAMPS) on Kaggle, 2019, with the type of coupling as the group.
"""

from typing import Annotated

import numpy as np

from ..core.arrays import Answers
from ..core.contract import ByParameters, Example, Metric, Role, WholeColumn
from ..core.figures import Figure, Grid
from ..core.parameters import Range
from ..numerics.sums import exact_sum, group_numbers, group_sums
from ..reading.label_kinds import Label
from ..reading.number_kinds import Number

Floor = Annotated[float, Range(0, 1e9, exclusive_minimum=True), "A smaller MAE of a group counts as this one."]


def groups_of(truth: Answers, prediction: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """The names of the groups of these rows, the group number of each row, and the rows and the MAE of each group."""
    group, names = group_numbers(truth["group"])
    counts = np.bincount(group, minlength=len(names))
    return names, group, counts, group_sums(np.abs(prediction - truth.answer), group, len(names)) / counts


def best_for(*, floor: Floor = 1e-9) -> float:
    return float(np.log(floor))


def score(truth: Answers, prediction: np.ndarray, *, floor: Floor = 1e-9) -> float:
    *_, maes = groups_of(truth, prediction)
    logs = np.log(np.maximum(maes, floor))
    return float(exact_sum(logs) / len(logs)) if np.isfinite(logs).all() else np.inf


def influence(truth: Answers, prediction: np.ndarray, *, floor: Floor) -> np.ndarray:
    _, group, counts, maes = groups_of(truth, prediction)
    errors, means = np.abs(prediction - truth.answer), np.maximum(maes, floor)[group]
    return (errors / means - 1) / counts[group] * (maes > floor)[group] / len(counts)


def figures(truth: Answers, prediction: np.ndarray, *, floor: Floor) -> list[Figure]:
    names, _, counts, maes = groups_of(truth, prediction)
    cells = np.column_stack([counts, maes, np.log(np.maximum(maes, floor))]).tolist()
    note = "The score is the mean of the last column."
    return [Grid("Each group", names, ["rows", "MAE", "ln(MAE)"], cells, corner="group", note=note)]


log_mae_by_group = Metric(
    title="Log MAE by group",
    group="Numbers",
    direction="minimize",
    best=best_for(),
    truth=Number(),
    roles={"group": Role(Label(), "The group of each row.")},
    computation=WholeColumn(score=score, influence=influence),
    by_parameters=ByParameters(best=best_for),
    figures=figures,
    example=Example(
        truth="id,y,group\n1,10,a\n2,20,a\n3,30,b\n4,40,b\n",
        submission="id,y\n1,10\n2,22\n3,34\n4,44\n",
        score=0.6931471805599453,
    ),
)
