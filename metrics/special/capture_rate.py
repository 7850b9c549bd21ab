"""Share of the ones among the rows with the highest scores, down to a given share of all weight.

Rows are taken from the highest score down as long as their weights together are at most the `share` of all weights,
rounded down to a whole number. A one weighs 1, a zero `zero_weight`. With $T$ the rows taken and $c$ that number,

$$\\text{capture rate} = \\frac{\\sum_{i \\in T} y_i}{\\min(c, \\sum_i y_i)}$$

so that a file that takes ones only gets 1, even where the top has no place for all of them. 20 rows with 4 ones and
`share` 0.1 have a top of 2 rows: one of two there gives 0.5.

- Of equal scores the zeros are taken first, so the order of the file never matters, and constant scores capture little.
- It says how good the first pages of a list are, and nothing of the rest; `weighted_gini` looks at the whole order.
- A split without a one, and one so small that the top has no place for a row, is refused at publication.

Source: recall at a share of the list; the second half of "American Express Default Prediction" on Kaggle, 2022 (`share`
0.04, `zero_weight` 20, where the top has places for all ones).
"""

from typing import Annotated

import numpy as np

from ..core.contract import Example, Metric, Rules, WholeColumn, ratio
from ..core.messages import Message
from ..core.parameters import Range
from ..numerics.sums import exact_sum
from ..reading.number_kinds import Binary, RankedScore

Share = Annotated[float, Range(0, 1, exclusive_minimum=True), "The top is this share of all weights."]
ZeroWeight = Annotated[float, Range(0, 1e6, exclusive_minimum=True), "Weight of a row whose answer is 0; a one has 1."]


def rows(truth: np.ndarray, prediction: np.ndarray, *, share: Share = 0.1, zero_weight: ZeroWeight = 1.0) -> np.ndarray:
    """1 for a one in the top, and the row's part of the ones for which the top has room."""
    weights = np.where(truth > 0, 1.0, zero_weight)
    groups = np.unique(-prediction, return_inverse=True)[1]
    ones = np.bincount(groups, truth)
    zeros = (np.bincount(groups) - ones) * zero_weight
    # Of equal scores the zeros are taken first, so a one is taken only after all zeros of its score.
    before = np.cumsum(ones + zeros) - ones
    places = _places_for(weights, share)
    taken = np.clip(np.floor(places - before), 0, ones)
    captured = (taken / np.maximum(ones, 1))[groups]
    all_ones = float(truth.sum())
    return np.column_stack([truth * captured, truth * ratio(min(places, all_ones), all_ones)])


def _places_for(weights: np.ndarray, share: float) -> float:
    return float(np.floor(share * float(exact_sum(weights))))


def total(sums: np.ndarray) -> float:
    captured, possible = np.rint(sums)
    return ratio(captured, possible)


def unscorable(truth: np.ndarray, *, share: Share, zero_weight: ZeroWeight) -> str:
    if not truth.any():
        return Message("it has no 1.")
    if _places_for(np.where(truth > 0, 1.0, zero_weight), share) < 1:
        return Message("the top {share} of its rows is less than one row.", share=f"{share:g}")
    return ""


capture_rate = Metric(
    title="Capture rate",
    group="Probabilities",
    direction="maximize",
    worst=0.0,
    truth=Binary(),
    submission=RankedScore(),
    computation=WholeColumn(
        rows=rows,
        total=total,
        parts=("captured", "possible"),
        last_line="{captured} / {possible}",
    ),
    rules=Rules(unscorable=unscorable),
    example=Example(
        truth="id,y\n1,1\n2,0\n3,1\n4,0\n5,0\n6,0\n7,0\n8,0\n9,0\n10,0\n",
        submission="id,y\n1,0.9\n2,0.8\n3,0.3\n4,0.2\n5,0.1\n6,0\n7,0.3\n8,0.2\n9,0.1\n10,0\n",
        params={"share": 0.2},
        score=0.5,
    ),
)
