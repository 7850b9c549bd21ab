"""Area under the ROC curve in which some regions of the true-positive rate weigh more.

The curve is cut into horizontal slices at the `thresholds` of the true-positive rate. With $w(t)$ the weight of the
slice that the rate $t$ lies in and $\\mathrm{fpr}(t)$ the false-positive rate at which the curve reaches it,

$$\\mathrm{wAUC} = \\frac{\\int_0^1 w(t)\\,(1 - \\mathrm{fpr}(t))\\,dt}{\\int_0^1 w(t)\\,dt}$$

- By default the lower 0.4 weighs 2 and the rest 1: the first 40 % of the 1s count double.
- All 1s above all 0s gives 1; reversed gives 0. Constant scores give the area right of the diagonal in each slice: with
  the default weights (2 · 0.4 · 0.8 + 0.6 · 0.3) / 1.4 = 0.586; with equal weights this is `roc_auc`, and 0.5.
- Of two 1s and two 0s in the order 1, 0, 1, 0 the first 1 loses nothing; the second stands below half of the 0s and
  weighs 0.5 of 1.4 in all: 1 - 0.5 · 0.5 / 1.4 = 0.821.
- Equal scores are one straight piece of the curve, cut exactly where it crosses a threshold.
- Any finite scores will do. A split with one class only is refused at publication.

Source: ALASKA2 2020 (thresholds 0, 0.4, 1, weights 2, 1); Flavours of Physics 2015 (0, 0.2, 0.4, 0.6, 0.8, 1, weights
2, 1.5, 1, 0.5, 0). Their scripts cut less exactly where scores are equal; without equal scores all agree.
"""

from typing import Annotated

import numpy as np

from ..core.contract import Example, Metric, Rules, WholeColumn, ratio
from ..core.figures import weights_in
from ..core.messages import Message
from ..numerics.ranks import one_class, roc_curve, thresholds_of
from ..reading.number_kinds import Binary, RankedScore
from .numerics.roc_areas import Regions, edges_in, influence_of_regions

Thresholds = Annotated[str, edges_in, "True-positive rates between the regions, from 0 to 1."]
RegionWeights = Annotated[str, weights_in, "The weight of each region, from the lowest rate up."]


def rows(
    truth: np.ndarray, prediction: np.ndarray, *, thresholds: Thresholds = "0, 0.4, 1", weights: RegionWeights = "2, 1"
) -> np.ndarray:
    """For each 1 its part of the weighted height, and the weighted area to the left of the curve in that part."""
    found = thresholds_of(truth, prediction)
    shares = np.column_stack(Regions(edges_in(thresholds), weights_in(weights)).areas(found))
    own = shares / np.maximum(found.up, 1)[:, None]
    return np.where(truth[:, None] == 1, own[found.keys // 2], 0.0)


def total(sums: np.ndarray) -> float:
    height, lost = sums
    return max(0.0, 1.0 - ratio(lost, height))


def influence(
    truth: np.ndarray, prediction: np.ndarray, *, thresholds: Thresholds, weights: RegionWeights
) -> np.ndarray:
    return influence_of_regions(truth, prediction, Regions(edges_in(thresholds), weights_in(weights)))


def unscorable(truth: np.ndarray, *, thresholds: Thresholds, weights: RegionWeights) -> str:
    regions, given = len(edges_in(thresholds)) - 1, len(weights_in(weights))
    if regions != given:
        return Message(
            "its thresholds make {regions}, and there are {weights}.",
            regions=Message.counted(regions, "{count} region", "{count} regions"),
            weights=Message.counted(given, "{count} weight", "{count} weights"),
        )
    return one_class(truth)


weighted_roc_auc = Metric(
    title="Weighted ROC AUC",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("height", "lost"),
        last_line="1 - {lost} / {height}",
        influence=influence,
    ),
    rules=Rules(unscorable=unscorable),
    figures=roc_curve,
    example=Example(
        truth="id,y\n1,1\n2,0\n3,1\n4,0\n",
        submission="id,y\n1,0.9\n2,0.6\n3,0.5\n4,0.2\n",
        score=0.8214285714285714,
    ),
)
