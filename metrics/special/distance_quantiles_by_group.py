"""Mean over groups of two quantiles of the distance on the globe, such as the median of each device.

With $Q_g(p)$ the $p$-quantile of the distances (`mean_haversine`, in metres) of the rows of group $g$,

$$\\frac{1}{G} \\sum_{g=1}^{G} \\frac{Q_g(p_1) + Q_g(p_2)}{2}$$

Both files have two columns in degrees, latitude and longitude as in `mean_haversine`. The group of a row is a further
column of the truth, which the host names; students never see it there. `first` and `second` are $p_1$ and $p_2$, by
default 0.5 and 0.95; equal ones give one quantile.

0 is perfect. Between two distances a quantile lies on the straight line: distances of 0, 10, 20 and 90 m have a median
of 15 and a 0.95-quantile of 79.5. A group of one row counts as much as one of thousands, and of a group only the rows
around the two quantiles matter. Groups are those of the split.

Source: "Google Smartphone Decimeter Challenge" on Kaggle, 2021 and 2022, with a phone on one drive as a group.
Equals numpy's `quantile` of scikit-learn's `haversine_distances`.
"""

from typing import Annotated

import numpy as np

from ..core.arrays import Answers
from ..core.contract import Example, Metric, Role, WholeColumn
from ..core.figures import Figure, Grid
from ..core.parameters import Range
from ..numerics.sums import exact_sum, group_numbers
from ..reading.label_kinds import Label
from .mean_haversine import PLACE, Radius, distance

First = Annotated[float, Range(0, 1), "The first quantile: 0.5 is the median."]
Second = Annotated[float, Range(0, 1), "The second quantile: 0.95 leaves 5 % of the distances above it."]


def quantiles_of(
    truth: Answers, prediction: np.ndarray, radius: float, levels: tuple[float, ...]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The names of the groups of these rows, their sizes, and the quantiles of each, shape (groups, levels)."""
    group, names = group_numbers(truth["group"])
    found = distance(truth.answer, prediction, radius=radius)
    ordered = found[np.lexsort((found, group))]
    counts = np.bincount(group)
    starts = np.cumsum(counts) - counts
    columns = []
    for level in levels:
        at = level * (counts - 1)
        low = np.floor(at).astype(np.int64)
        lower, upper = ordered[starts + low], ordered[starts + np.minimum(low + 1, counts - 1)]
        columns.append(lower + (upper - lower) * (at - low))
    return names, counts, np.column_stack(columns)


def score(
    truth: Answers, prediction: np.ndarray, *, first: First = 0.5, second: Second = 0.95, radius: Radius = 6371000.0
) -> float:
    *_, found = quantiles_of(truth, prediction, radius, (first, second))
    return float(exact_sum(found.sum(axis=1))) / (2 * len(found))


def figures(truth: Answers, prediction: np.ndarray, *, first: First, second: Second, radius: Radius) -> list[Figure]:
    names, counts, found = quantiles_of(truth, prediction, radius, (first, second))
    cells = np.column_stack([counts, found, found.sum(axis=1) / 2]).tolist()
    heads = ["rows", f"{first:g}-quantile", f"{second:g}-quantile", "mean"]
    note = "The score is the mean of the last column."
    return [Grid("Each group", names, heads, cells, corner="group", note=note)]


distance_quantiles_by_group = Metric(
    title="Distance quantiles by group",
    group="Numbers",
    direction="minimize",
    truth=PLACE,
    roles={"group": Role(Label(), "The group of each row.")},
    computation=WholeColumn(score=score),
    figures=figures,
    example=Example(
        truth="id,latitude,longitude,group\n1,0,0,a\n2,0,1,a\n3,60,10,b\n",
        submission="id,latitude,longitude\n1,0,0\n2,0,1.001\n3,60,10.002\n",
        score=95.90562422882905,
    ),
)
