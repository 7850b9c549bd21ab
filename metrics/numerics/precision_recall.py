"""Precision at every score, equal scores sharing one threshold: what average precision is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.figures import Curve, Figure
from .order import counts_in_order, dense_ranks, precision_from_top
from .ranks import Ranks, counts_by_place
from .sums import exact_sum


@dataclass(frozen=True)
class Thresholds:
    """The distinct scores from the highest down. ``places`` tells each row's; ``hits`` and ``taken`` count the 1s and
    the rows at each, ``padding`` the rows with answer 1 and score 1 that are only counted."""

    places: np.ndarray
    hits: np.ndarray
    taken: np.ndarray
    padding: int

    @property
    def precision(self) -> np.ndarray:
        """The share of 1s among all rows from the highest score down to each."""
        found: np.ndarray = np.cumsum(self.hits) / np.cumsum(self.taken)
        return found


def thresholds_of(truth: np.ndarray, scores: np.ndarray | Ranks, padding: int = 0) -> Thresholds:
    """Sort once; shapes (n,). Ranks are sorted already; padding needs the scores themselves."""
    if isinstance(scores, Ranks):
        ranks = scores.places
    else:
        ranks = dense_ranks(scores if not padding else np.concatenate([scores, [1.0]]))
    places = ranks.max(initial=0) - ranks
    own = places[: len(truth)]
    _, down, hits = counts_by_place(truth == 1, own)
    if padding:
        more = max(0, int(places[-1]) + 1 - len(hits))
        hits, down = np.pad(hits, (0, more)), np.pad(down, (0, more))
        hits[places[-1]] += padding
    taken = (hits + down).astype(np.float64)
    return Thresholds(own, hits, taken, padding)


def precision_at_ones(truth: np.ndarray, scores: np.ndarray | Ranks) -> np.ndarray:
    """For each 1 the precision at its score, 0 for each 0; shape (n,)."""
    found = thresholds_of(truth, scores)
    precision: np.ndarray = np.where(truth == 1, found.precision[found.places], 0.0)
    return precision


def average_precision_of(truth: np.ndarray, scores: np.ndarray | Ranks, padding: int = 0) -> float:
    """The mean precision at the 1s; ``padding`` so many further ones with score 1."""
    if padding or isinstance(scores, Ranks):
        found = thresholds_of(truth, scores, padding)
        hits, precision = found.hits, found.precision
    else:  # no row's own place is needed
        hits, precision = precision_from_top(*counts_in_order(truth == 1, scores))
    ones = hits.sum()
    return float(exact_sum(precision * hits)) / float(ones) if ones else 0.0


def precision_influence(truth: np.ndarray, scores: np.ndarray | Ranks, padding: int = 0) -> np.ndarray:
    """The derivative of average precision by the weight of each row: what a 1 earns itself, and what any row does to
    the precision at all scores up to its own."""
    found = thresholds_of(truth, scores, padding)
    ones = max(1.0, float(found.hits.sum()))
    value = float((found.precision * found.hits).sum()) / ones
    per_row = found.hits / np.cumsum(found.taken)
    gain = np.cumsum(per_row[::-1])[::-1]
    loss = np.cumsum((per_row * found.precision)[::-1])[::-1]
    earned = (truth == 1) * (found.precision + gain - value)[found.places]
    effect: np.ndarray = (earned - loss[found.places]) / ones
    return effect


def recall_curve(truth: np.ndarray, scores: np.ndarray) -> list[Figure]:
    """Precision over recall as steps, so that the area below is the average precision."""
    found = thresholds_of(truth, scores)
    recall = np.cumsum(found.hits) / max(1.0, float(found.hits.sum()))
    points: list[tuple[float, float]] = []
    before = 0.0
    for at, precision in zip(recall.tolist(), found.precision.tolist(), strict=True):
        if at > before:
            points += [(before, precision), (at, precision)]
        before = at
    note = "Each step takes the rows of one more score as 1; its height is the share of them that are 1."
    return [Curve("Precision and recall", "share of the 1s taken (recall)", "precision", points, note=note)]
