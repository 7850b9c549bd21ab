"""Scores that can stand on a board."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

import metrics

from ..models import GroundTruth, Score, Standing, Submission
from ..models.competition import Split


def sign_of(ground_truth: GroundTruth) -> float:
    """+1 where a lower value is better, −1 where a higher one is."""
    try:
        return 1.0 if metrics.get(ground_truth.metric_key).direction == "minimize" else -1.0
    except metrics.UnknownMetric:
        # A custom metric's file is gone, and every copy of it: the board stays as it was.
        known = Standing.objects.filter(ground_truth=ground_truth).exclude(value=0.0).first()
        return math.copysign(1.0, known.sort_key / known.value) if known else -1.0


def ranked_files(of: str = "") -> Q:
    """Which files of a team a board counts, for a query of files or for one that knows them as `of`; as `ranked_scores`
    says of scores."""
    facts = {"status": Submission.Status.SCORED, "is_late": False, "hidden_at": None}
    return Q(**{f"{of}__{name}" if of else name: value for name, value in facts.items()})


def ranked_scores(
    ground_truth: GroundTruth, split: Split, *, teams: Iterable[int] | QuerySet[Any, Any] | None = None
) -> QuerySet[Score]:
    """The scores that can stand on a board: of teams that are not disqualified, received in time and not hidden. With
    `teams`, of these alone: keys, or a query for them.

    The files of a few teams are named in a subquery: a plain join is planned through every score of the ground truth.
    """
    scores = Score.objects.all()
    if teams is not None:
        named = teams if isinstance(teams, QuerySet) else list(teams)
        scores = scores.filter(submission__in=Submission.objects.filter(team__in=named).order_by().values("pk"))
    return scores.filter(
        ground_truth=ground_truth,
        split=split,
        submission__team__isnull=False,
        submission__status=Submission.Status.SCORED,
        submission__is_late=False,
        submission__hidden_at=None,
        submission__team__disqualified_at=None,
    )
