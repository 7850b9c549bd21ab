"""Harrell's C: share of comparable pairs in which the earlier event got the higher risk.

The truth has two columns, `time` and `event` (1: the event was seen at that time; 0: observation ended then, the event
would have come later). The submission has one column, `risk`: any number, higher for an earlier event.

$$C = \\frac{n_\\text{concordant} + \\tfrac12 n_\\text{ties}}{n_\\text{comparable}}$$

A pair $(i, j)$ is comparable if $i$ had the event and $t_i < t_j$, or $t_i = t_j$ and $j$ had none. It is concordant
if $i$ has the higher risk; equal risks count half. Two events at the same time are not comparable.

If the columns are not called `time` and `event`, the first is the time. Constant risks give 0.5.

Source: Harrell 1982; equals `concordance_index` of lifelines with the sign of the risk turned.
"""

from __future__ import annotations

import numpy as np

from metrics._contract import Example, Metric
from metrics._inputs import Score, TimeAndEvent
from metrics._ranks import area, count_below


def moments(truth: np.ndarray) -> np.ndarray:
    """The order of the rows in time as whole numbers; at one time events come before ends of observation."""
    _, times = np.unique(truth[:, 0], return_inverse=True)
    keys: np.ndarray = 2 * times.astype(np.int64) + (truth[:, 1] == 0)
    return keys


def pairs(truth: np.ndarray) -> int:
    """How many pairs are comparable."""
    keys = moments(truth)
    later = len(keys) - np.cumsum(np.bincount(keys))
    return int(later[keys[truth[:, 1] == 1]].sum())


def score(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Harrell's C in O(n log² n)."""
    _, ranks = np.unique(prediction, return_inverse=True)
    below, equal = count_below(moments(truth), ranks.astype(np.int64))
    seen = truth[:, 1] == 1
    return area(int(below[seen].sum()), int(equal[seen].sum()), pairs(truth))


def unscorable(truth: np.ndarray) -> str:
    """Without a comparable pair there is nothing to count."""
    return "" if pairs(truth) else "it has no comparable pair (an event before another time)."


def perfect(truth: np.ndarray) -> list[list[str]]:
    """The earlier, the riskier."""
    return [[str(-moment) for moment in moments(truth)]]


survival_concordance = Metric(
    title="Survival concordance",
    group="Survival",
    direction="maximize",
    best=1.0,
    truth=TimeAndEvent(),
    submission=Score(),
    submission_names=("risk",),
    score=score,
    unscorable=unscorable,
    perfect=perfect,
    example=Example(
        truth="id,time,event\n1,5,1\n2,10,1\n3,2,0\n4,8,0\n",
        submission="id,risk\n1,0.9\n2,0.2\n3,0.8\n4,0.4\n",
        score=1.0,
    ),
)
