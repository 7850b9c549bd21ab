"""How sure a board's scores are, and which of its neighbours chance alone may have put in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import metrics

from ..models import GroundTruth, Split, Standing, Uncertainty
from .ladder import ladder_of

REACH = 100
"""A row is compared with at most so many better ones on the pages before its own."""


@dataclass(frozen=True)
class Doubt:
    """The interval that holds a score in 95 of 100 cases (an end is None where its scale has none), and the best rank
    from which on nobody down to this row is clearly better; None where the next better row is."""

    low: float | None
    high: float | None
    error: float
    tied_from: int | None = None


def doubts(
    ground_truth: GroundTruth, split: Split, standings: Sequence[Standing], ranks: Sequence[int] = ()
) -> dict[str, Doubt]:
    """Submission → its doubt; empty where a board does not show exact scores, because doubts follow from those.

    With the `ranks` of standings that follow one another on the board, also who is tied with whom.
    """
    if split == Split.PUBLIC and ladder_of(ground_truth) is not None:
        return {}
    found = {doubt.score.submission_id: doubt for doubt in _stored(ground_truth, split, standings)}
    ties = _ties(standings, [found.get(standing.submission_id) for standing in standings], ranks) if ranks else {}
    return {
        str(pk): Doubt(doubt.low, doubt.high, doubt.standard_error, ties.get(str(pk)))
        for pk, doubt in found.items()
        if doubt.standard_error is not None
    }


def _stored(ground_truth: GroundTruth, split: Split, standings: Sequence[Standing]) -> Sequence[Uncertainty]:
    files = [standing.submission_id for standing in standings]
    rows = Uncertainty.objects.filter(
        score__submission__in=files, score__ground_truth=ground_truth, score__split=split, standard_error__isnull=False
    )
    return list(rows.select_related("score").only("low", "high", "standard_error", "replicates", "score__submission"))


def _ties(standings: Sequence[Standing], found: Sequence[Uncertainty | None], ranks: Sequence[int]) -> dict[str, int]:
    """Submission → the best rank of the unbroken run above it that it cannot be told apart from."""
    known = [place for place, doubt in enumerate(found) if doubt is not None]
    if not known:
        return {}
    values = np.array([standings[place].value for place in known])
    near = np.zeros((len(standings), len(standings)), bool)
    replicates = np.stack([doubt.values for doubt in found if doubt is not None])
    near[np.ix_(known, known)] = metrics.indistinguishable(values, replicates)
    ties = {}
    for place in known:
        first = place
        while first > 0 and near[place, first - 1]:
            first -= 1
        if ranks[first] < ranks[place]:
            ties[str(standings[place].submission_id)] = ranks[first]
    return ties
