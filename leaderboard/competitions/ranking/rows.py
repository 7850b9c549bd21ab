"""What boards are made of: rows with their facts, and how sure scores are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import Count, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery

from metrics.core.uncertainty import find_indistinguishable

from ..models import Competition, GroundTruth, Membership, Score, Standing, Submission, Uncertainty
from ..models.competition import Split
from .scores import ranked_files
from .secondary import ShownSecondaryValue

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
    """Standings annotated with what `uncertainties` reads; without replicates unless it `compares` them."""
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


def shown_moment(moment: datetime, competition: Competition, *, sees_names: bool) -> datetime:
    """When a file was received, as a board shows it: to the minute where names are hidden, because a student who saw
    somebody upload at an exact moment would find the pseudonym by it."""
    is_coarse = competition.board.uses_pseudonyms and not sees_names
    return moment.replace(second=0, microsecond=0) if is_coarse else moment


@dataclass(frozen=True)
class BoardRowData:
    """One line of a board. A baseline has no rank, team id 0 and no history; on a hidden board nobody has a rank, a
    value, a movement or a trend."""

    rank: int | None
    name: str
    team_id: int
    value: float | None
    movement: int | None
    """Ranks gained, negative when lost; None for a team that was not on the board before."""
    submission_id: str
    received_at: datetime
    attempts: int = 0
    last_at: datetime | None = None
    trend: tuple[float, ...] = ()
    members: tuple[str, ...] = ()
    is_baseline: bool = False
    is_picked_by_system: bool = False
    secondary: tuple[ShownSecondaryValue, ...] = ()
    """Of the file that stands here; empty where none are shown."""
    real_name: str = ""
    """What a pseudonym stands for: only in rows for those who run the competition, empty where `name` is real."""
    within: int | None = None
    """Its rank among the teams of the section that was asked for; None where none was."""
    uncertainty: ScoreUncertainty | None = None
    """Of the score; None where nothing is known, and on a hidden board."""


@dataclass(frozen=True)
class BoardPageData:
    """One page of a board: `rows` in order, `total` ranked teams on all pages."""

    ground_truth: GroundTruth
    split: Split
    rows: tuple[BoardRowData, ...]
    page: int
    pages: int
    total: int
    leader: float | None = None
    """The score of the first place; None on a hidden board."""


@dataclass(frozen=True)
class Placing:
    """Where one team stands."""

    rank: int
    total: int
    value: float
    submission_id: str
    rank_before: int | None = None
    """Its rank with what it had earlier, among the others as they are now; None where nobody asked."""


def with_page_facts(standings: QuerySet[Standing], ground_truth: GroundTruth, split: Split) -> QuerySet[Standing]:
    """Standings with their teams, with `total` (how many there are on the board), `last_at` (the receipt of the team's
    last ranked file) and `stored` (what secondary metrics say of the file that stands there, where the ground truth has
    some)."""
    everybody = Standing.objects.filter(ground_truth=ground_truth, split=split).values("split")
    files = Submission.objects.filter(ranked_files(), team=OuterRef("team")).order_by("-received_at")
    found = standings.select_related("team").annotate(
        total=Subquery(everybody.annotate(number=Count("pk")).values("number")),
        last_at=Subquery(files.values("received_at")[:1]),
    )
    if not ground_truth.secondary:
        return found
    score = Score.objects.filter(submission=OuterRef("submission"), ground_truth=ground_truth, split=split)
    return found.annotate(stored=Subquery(score.values("secondary")[:1]))


def trend_histories(ground_truth: GroundTruth, standings: Sequence[Standing]) -> dict[int, list[float]]:
    """Team → the public scores of all its ranked files in order of receipt.

    What has a score is scored, so the status is not asked for, and each score is looked up by its file: otherwise the
    database goes through all files of the site that are scored, or through every score of the ground truth.
    """
    public = Q(scores__ground_truth=ground_truth, scores__split=Split.PUBLIC)
    files = Submission.objects.filter(
        team__in=[standing.team_id for standing in standings], is_late=False, hidden_at=None
    ).annotate(score=FilteredRelation("scores", condition=public))
    values: dict[int, list[float]] = defaultdict(list)
    for team_id, value in files.order_by("received_at", "pk").values_list("team_id", "score__value"):
        if value is not None:
            values[team_id].append(value)
    return values


def member_names(standings: Sequence[Standing]) -> dict[int, list[str]]:
    """Team → the names of its accounts."""
    found: dict[int, list[str]] = defaultdict(list)
    for team_id, name in Membership.objects.filter(team__in=[standing.team_id for standing in standings]).values_list(
        "team_id", "user__username"
    ):
        found[team_id].append(name)
    return found
