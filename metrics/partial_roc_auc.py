"""Partial area under the ROC curve (pAUC), up to a false or from a true positive rate.

With $T(u)$ the share of the 1s found where a share $u$ of the 0s is wrongly taken for 1s, and $L$ the `limit`,

$$\\mathrm{pAUC} = \\int_0^L T(u)\\,du$$

Between two distinct scores the curve is a straight line, as in `roc_auc`. Any finite numbers will do.

- `side` `fpr` (default): the part where at most `limit` of the 0s are taken, 0.1 by default;
- `side` `tpr`: the part where at most `limit` of the 1s are missed, so 0.2 means from a true positive rate
  of 0.8 on; it is the area right of the curve, above that rate.

`scale` `standard` (default) is $\\frac12 (1 + (\\mathrm{pAUC} - L^2/2) / (L - L^2/2))$: 0.5 for guessing, 1 at best.
`share` is the area as a share of $L$; `area` the area as it is, with $L$ for the best.

Source: McClish 1989; `standard` equals scikit-learn's `roc_auc_score` with `max_fpr`. ISIC 2024 on Kaggle is `side`
`tpr`, `limit` 0.2 and `scale` `area`.
"""

from typing import Annotated, Literal

import numpy as np

from .core.contract import ByParameters, Example, Metric, Rules, WholeColumn
from .core.parameters import Range
from .numerics.ranks import Ranks, Thresholds, one_class, only_labels, ranks_of, roc_curve, thresholds_of
from .reading.number_kinds import Binary, RankedScore

Side = Annotated[Literal["fpr", "tpr"], "The rate that is limited: of 0s taken for 1s (fpr), or of 1s missed (tpr)."]
Limit = Annotated[float, Range(0, 1, exclusive_minimum=True), "The largest rate that counts."]
Scale = Annotated[
    Literal["standard", "share", "area"], "standard: guessing is 0.5, best 1; share: of the limit; area: as it is."
]


def curve(truth: np.ndarray, prediction: np.ndarray | Ranks, side: str) -> Thresholds:
    """The numbers of 1s and 0s at each distinct score from the highest down; with 0s and 1s turned around, from the
    lowest up."""
    if side == "fpr":
        return thresholds_of(truth, prediction)
    places = prediction.places if isinstance(prediction, Ranks) else ranks_of(prediction).places
    return thresholds_of(1 - truth, Ranks(places.max(initial=0) - places))


def score(
    truth: np.ndarray,
    prediction: np.ndarray | Ranks,
    *,
    side: Side = "fpr",
    limit: Limit = 0.1,
    scale: Scale = "standard",
) -> float:
    """The area up to the limit, from whole counts up to the step that the limit cuts."""
    found = curve(truth, prediction, side)
    ends = [np.concatenate(([0], np.cumsum(counts))).astype(np.int64) for counts in (found.up, found.down)]
    (up, down), most = ends, limit * int(ends[1][-1])
    step = min(int(np.searchsorted(down, most, side="right")), len(down) - 1)
    twice = int(((up[1:step] + up[: step - 1]) * np.diff(down[:step])).sum())
    left = most - int(down[step - 1])
    slope = int(up[step] - up[step - 1]) / max(1, int(down[step] - down[step - 1]))
    share = min(1.0, (twice + left * (2 * int(up[step - 1]) + slope * left)) / (2 * most * int(up[-1])))
    if scale == "standard":
        return (1 + (share - limit / 2) / (1 - limit / 2)) / 2
    return share * (1.0 if scale == "share" else limit)


def influence(
    truth: np.ndarray, prediction: np.ndarray | Ranks, *, side: Side, limit: Limit, scale: Scale
) -> np.ndarray:
    """The derivative by the weight of each row: a 1 is found along a part of the axis, and a 0 above the cut moves the
    cut, as in a trimmed mean."""
    found = curve(truth, prediction, side)
    highs, ends = (np.cumsum(counts) / max(1, counts.sum()) for counts in (found.up, found.down))
    lows, starts = (np.concatenate(([0.0], rates[:-1])) for rates in (highs, ends))
    width = np.where(ends > starts, ends - starts, 1.0)
    inside = np.clip(limit - starts, 0, ends - starts)
    area = float((inside * (lows + (highs - lows) * inside / width / 2)).sum())
    at_limit = float(np.interp(limit, np.concatenate(([0.0], ends)), np.concatenate(([0.0], highs))))
    of_ones = np.maximum(0.0, limit - ends) + inside**2 / width / 2
    share = inside / width
    of_zeros = share * (lows + (highs - lows) * share / 2 - at_limit) + limit * at_limit
    of_rows = found.of_rows((of_zeros - area) / found.down.sum(), (of_ones - area) / found.up.sum())
    return of_rows * {"standard": 1 / (2 * limit - limit**2), "share": 1 / limit, "area": 1.0}[scale]


def best_for(*, limit: Limit = 0.1, scale: Scale = "standard") -> float:
    return limit if scale == "area" else 1.0


partial_roc_auc = Metric(
    title="Partial ROC AUC",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    submission=RankedScore(),
    computation=WholeColumn(score=score, influence=influence, ready=ranks_of),
    rules=Rules(unscorable=one_class, hint=only_labels),
    by_parameters=ByParameters(best=best_for),
    figures=roc_curve,
    example=Example(
        truth="id,y\n1,1\n2,0\n3,1\n4,0\n5,0\n6,1\n7,0\n",
        submission="id,y\n1,0.9\n2,0.8\n3,0.7\n4,0.6\n5,0.5\n6,0.4\n7,0.1\n",
        score=0.6666666666666666,
        params={"limit": 0.5},
    ),
)
