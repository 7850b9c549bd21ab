"""Whether one of two submissions is better, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .registry import get
from .uncertainty import probability_better

if TYPE_CHECKING:
    from .evaluate import Result


@dataclass(frozen=True)
class Comparison:
    """Two submissions on one split: ``difference`` is the first value minus the second, between ``low`` and ``high``
    in 95 of 100 cases; ``probability`` is the share of resamples in which the first is better, ties counting half."""

    difference: float
    low: float
    high: float
    probability: float


def compare(first: Result, second: Result, split: str = "overall") -> Comparison:
    """Is the first better than the second? Both must be measured with uncertainty under one truth.

    Shared resamples make this a paired test: rows that are hard for both cancel out.
    """
    ours, theirs = first.uncertainty[split].replicates, second.uncertainty[split].replicates
    low, high = np.quantile(ours - theirs, (0.025, 0.975))
    difference = getattr(first, split) - getattr(second, split)
    return Comparison(
        difference, float(low), float(high), probability_better(get(first.metric).direction, ours, theirs)
    )
