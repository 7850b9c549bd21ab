"""Harrell's C: share of comparable pairs in which the earlier event got the higher risk.

The truth has two columns, `time` and `event` (1: the event was seen at that time; 0: observation ended then, the event
would have come later). The submission has one column, `risk`: any number, higher for an earlier event.

$$C = \\frac{n_\\text{concordant} + \\tfrac12 n_\\text{ties}}{n_\\text{comparable}}$$

A pair $(i, j)$ is comparable if $i$ had the event and $t_i < t_j$, or $t_i = t_j$ and $j$ had none. It is concordant
if $i$ has the higher risk; equal risks count half. Two events at the same time are not comparable.

If the columns are not called `time` and `event`, the first is the time. Constant risks give 0.5.

Source: Harrell 1982; equals `concordance_index` of lifelines with the sign of the risk turned.
"""

import numpy as np

from .core.contract import Example, Metric, Rules, SubmissionFormat, WholeColumn, ratio
from .core.messages import Message
from .numerics.ranks import crossings
from .reading.number_kinds import RankedScore, TimeAndEvent


def moments(truth: np.ndarray) -> np.ndarray:
    """The order of the rows in time as whole numbers; at equal times events come before ends of observation."""
    _, times = np.unique(truth[:, 0], return_inverse=True)
    return 2 * times.astype(np.int64) + (truth[:, 1] == 0)


def later(truth: np.ndarray) -> np.ndarray:
    """For each event the number of rows with which it forms a pair as the earlier one; 0 for rows without an event."""
    keys = moments(truth)
    after = len(keys) - np.cumsum(np.bincount(keys))
    return after[keys] * (truth[:, 1] == 1)


def rows(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """For each event the number of later rows with a lower risk (ties count half), and of all later rows."""
    _, ranks = np.unique(prediction, return_inverse=True)
    keys = moments(truth)
    below, equal, _, _ = crossings(keys.max() - keys, ranks)
    return np.column_stack([(below + equal / 2) * (truth[:, 1] == 1), later(truth)])


def total(sums: np.ndarray) -> float:
    concordant, comparable = sums
    return ratio(concordant, comparable, empty=0.5)


def influence(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The derivative of the ratio of pairs by the weight of each row, as the earlier and as the later one of its
    pairs."""
    seen = truth[:, 1] == 1
    _, risks = np.unique(-prediction, return_inverse=True)
    keys = moments(truth)
    # Counts among all rows plus the events, minus counts among all rows, are counts among the events.
    twice = crossings(np.concatenate([keys, keys[seen]]), np.concatenate([risks, risks[seen]]))
    above, equal, _, _ = twice[:, : len(keys)] - crossings(keys, risks)
    events = np.cumsum(np.bincount(keys, seen, minlength=keys.max() + 1))
    earlier = events[keys] - np.bincount(keys, seen, minlength=keys.max() + 1)[keys]
    concordant, comparable = rows(truth, prediction).T
    pairs = max(float(comparable.sum()), 1.0)
    value = float(concordant.sum()) / pairs
    return (concordant + above + equal / 2 - value * (comparable + earlier)) / pairs


def unscorable(truth: np.ndarray) -> str:
    return "" if later(truth).any() else Message("it has no comparable pair (an event before another time).")


def perfect(truth: np.ndarray) -> list[list[str]]:
    """Higher risks for earlier times."""
    return [[str(-moment) for moment in moments(truth)]]


survival_concordance = Metric(
    title="Survival concordance",
    group="Survival",
    direction="maximize",
    worst=0.0,
    truth=TimeAndEvent(),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("concordant", "comparable"),
        last_line="{concordant} / {comparable}",
        influence=influence,
    ),
    format=SubmissionFormat(names=("risk",)),
    rules=Rules(unscorable=unscorable, perfect=perfect),
    example=Example(
        truth="id,time,event\n1,5,1\n2,10,1\n3,2,0\n4,8,0\n",
        submission="id,risk\n1,0.9\n2,0.2\n3,0.8\n4,0.4\n",
        score=1.0,
    ),
)
