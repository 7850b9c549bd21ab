"""How sure a board's scores are, and which of its neighbours chance alone may have put in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import F, FilteredRelation, Q, QuerySet

from metrics.core.uncertainty import find_indistinguishable

from ..models import GroundTruth, Standing, Uncertainty
from ..models.competition import Split
from .ladder import ladder_of

MAX_COMPARED = 100
"""A row is compared with at most so many better ones on the pages before its own."""
ENDS = ("standard_error", "low", "high")
FIELDS = (*ENDS, "replicates")


@dataclass(frozen=True)
class ScoreUncertainty:
    """The interval that holds a score in 95 of 100 cases (an end is None where its scale has none), and the best rank
    from which on nobody down to this row is clearly better; None where the next better row is."""

    low: float | None
    high: float | None
    error: float
    tied_from: int | None = None


def with_uncertainty(
    standings: QuerySet[Standing], ground_truth: GroundTruth, split: Split, *, compares: bool = True
) -> QuerySet[Standing]:
    """Standings annotated with what `uncertainties` reads; without replicates unless it `compares` them. Unchanged
    where a board does not show exact scores, because uncertainties follow from those."""
    if split == Split.PUBLIC and ladder_of(ground_truth) is not None:
        return standings
    score = FilteredRelation(
        "submission__scores",
        condition=Q(submission__scores__ground_truth=ground_truth, submission__scores__split=split),
    )
    return standings.annotate(
        measured=score, **{name: F(f"measured__uncertainty__{name}") for name in (FIELDS if compares else ENDS)}
    )


def uncertainties(standings: Sequence[Standing], ranks: Sequence[int] = ()) -> dict[str, ScoreUncertainty]:
    """Submission → its uncertainty, for standings `with_uncertainty`. With the `ranks` of consecutive standings also
    the ties between them."""
    found = [_uncertainty_of(standing) for standing in standings]
    ties = _ties(standings, found, ranks) if ranks else {}
    return {
        str(standing.submission_id): ScoreUncertainty(
            uncertainty.low, uncertainty.high, uncertainty.standard_error, ties.get(str(standing.submission_id))
        )
        for standing, uncertainty in zip(standings, found, strict=True)
        if uncertainty is not None and uncertainty.standard_error is not None
    }


def _uncertainty_of(standing: Standing) -> Uncertainty | None:
    known = {name: getattr(standing, name) for name in FIELDS if hasattr(standing, name)}
    return Uncertainty(**known) if known.get("standard_error") is not None else None


def _ties(standings: Sequence[Standing], found: Sequence[Uncertainty | None], ranks: Sequence[int]) -> dict[str, int]:
    """Submission → the best rank of the unbroken run above it that it cannot be distinguished from."""
    known = [place for place, uncertainty in enumerate(found) if uncertainty is not None]
    if not known:
        return {}
    values = np.array([standings[place].value for place in known])
    near = np.zeros((len(standings), len(standings)), bool)
    replicates = np.stack([uncertainty.values for uncertainty in found if uncertainty is not None])
    near[np.ix_(known, known)] = find_indistinguishable(values, replicates)
    ties = {}
    for place in known:
        first = place
        while first > 0 and near[place, first - 1]:
            first -= 1
        if ranks[first] < ranks[place]:
            ties[str(standings[place].submission_id)] = ranks[first]
    return ties
