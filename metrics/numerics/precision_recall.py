"""Precision at every score, equal scores sharing one threshold: what average precision is made of.

Answers in the order of their confidence, equal confidences sharing one rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.arrays import Coded, Ranked
from ..core.contract import ratio
from ..core.figures import Curve, Figure
from .ranks import Ranks, closed_up, counts_by_place, counts_in_order, dense_ranks, precision_from_top
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


def has_answer(truth: Coded) -> np.ndarray:
    """Which rows have something to be found, shape (n,), bool."""
    has: np.ndarray = np.array([bool(text) for text in truth.values] or [False])
    found: np.ndarray = has[truth.codes]
    return found


@dataclass(frozen=True)
class Ranking:
    """The answers given, from the highest confidence down; equal confidences are one rank.

    ``sought`` and ``right`` tell of each row. ``given`` are the rows with an answer and ``keys`` tell of each of them
    twice its rank, and 1 more where it is right. ``hits`` and ``precision`` tell of each rank, and ``taken`` how many
    answers there are down to it.
    """

    sought: np.ndarray
    right: np.ndarray
    given: np.ndarray
    keys: np.ndarray
    hits: np.ndarray
    taken: np.ndarray
    precision: np.ndarray

    def of_given(self, of_wrong: np.ndarray, of_right: np.ndarray) -> np.ndarray:
        """What is known of each rank, for wrong and for right answers there, told of each answer."""
        table = np.empty((len(of_right), 2))
        table[:, 0], table[:, 1] = of_wrong, of_right
        found: np.ndarray = table.ravel()[self.keys]
        return found

    def of_rows(self, answers: np.ndarray) -> np.ndarray:
        """What is known of each answer, told of each row; 0 where none is given."""
        if len(self.given) == len(self.right):
            return answers
        found = np.zeros(len(self.right))
        found[self.given] = answers
        return found


class Sorted(Ranked):
    """Answers with ranks in place of their confidences, so that any part of them needs no sort."""

    def take(self, rows: np.ndarray) -> Sorted:
        return Sorted(self.codes[rows], closed_up(self.confidence[rows]))

    @cached_property
    def _rankings(self) -> dict[int, tuple[Coded, Ranking]]:
        return {}

    def ranking(self, truth: Coded) -> Ranking:
        """Computed once for one truth."""
        if id(truth) not in self._rankings:
            self._rankings[id(truth)] = (truth, _ranking(truth, self))
        return self._rankings[id(truth)][1]


def in_order(prediction: Ranked) -> Sorted:
    """Sort once."""
    return Sorted(prediction.codes, dense_ranks(prediction.confidence))


def ranking_of(truth: Coded, prediction: Ranked) -> Ranking:
    """The answers by their confidence."""
    return (prediction if isinstance(prediction, Sorted) else in_order(prediction)).ranking(truth)


def mean_precision(truth: Coded, prediction: Ranked) -> float:
    """The precision at each right answer, added from the highest confidence on, per row with something to be found."""
    if isinstance(prediction, Sorted):
        ranking = prediction.ranking(truth)
        sought, earned = ranking.sought, ranking.precision * ranking.hits
    else:  # no row's own place is needed
        sought, right = _right(truth, prediction)
        confidence, given = prediction.confidence, prediction.codes >= 0
        if not given.all():
            right, confidence = right[given], confidence[given]
        hits, precision = precision_from_top(*counts_in_order(right, confidence))
        earned = (precision * hits)[::-1]
    return ratio(np.cumsum(earned)[-1] if len(earned) else 0.0, int(np.count_nonzero(sought)))


def _right(truth: Coded, prediction: Ranked) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have something to be found, and where it was found."""
    sought = has_answer(truth)
    return sought, sought & (prediction.codes == truth.codes)


def _ranking(truth: Coded, prediction: Sorted) -> Ranking:
    sought, right = _right(truth, prediction)
    given = np.flatnonzero(prediction.codes >= 0)
    is_full = len(given) == len(right)  # then nothing has to be picked
    ranks = prediction.confidence if is_full else prediction.confidence[given]
    places = ranks.max(initial=0) - ranks
    keys, wrong, hits = counts_by_place(right if is_full else right[given], places)
    taken = np.cumsum(hits + wrong)
    precision = np.cumsum(hits) / np.maximum(taken, 1)
    return Ranking(sought, right, given, keys, hits, taken, precision)


def influence(truth: Coded, prediction: Ranked) -> np.ndarray:
    """The derivative of the score by the weight of each row: what its own answer earns, what it does to the precision
    of all ranks below, and its share of the divisor."""
    ranking = ranking_of(truth, prediction)
    sought = max(1, int(ranking.sought.sum()))
    per_answer = ranking.hits / np.maximum(ranking.taken, 1)
    gain = np.cumsum(per_answer[::-1])[::-1]
    loss = np.cumsum((per_answer * ranking.precision)[::-1])[::-1]
    value = float((ranking.hits * ranking.precision).sum()) / sought
    effect = ranking.of_rows(ranking.of_given(-loss, ranking.precision + gain - loss)) - value * ranking.sought
    found: np.ndarray = effect / sought
    return found
