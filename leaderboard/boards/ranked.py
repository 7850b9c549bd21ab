"""Conditions for files and scores that are ranked, and the sign that sorts scores best first.

A team's rank and equal scores: `Standing.order` and `boards/queries.py`. Who may see private scores:
`Competition.private_is_visible_to`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from leaderboard.competitions.models import GroundTruth, Score, Standing, Submission
from leaderboard.competitions.models.competition import Split


def sign_of(ground_truth: GroundTruth) -> float:
    """+1.0 if a lower value is better, −1.0 if a higher one is: sort keys are `sign * value`, ascending."""
    if metric := ground_truth.library_metric:
        return 1.0 if metric.direction == "minimize" else -1.0
    # The file of a custom metric is lost, with all copies: take the sign from a stored standing.
    standing = Standing.objects.filter(ground_truth=ground_truth).exclude(value=0.0).first()
    return math.copysign(1.0, standing.sort_key / standing.value) if standing else -1.0


def ranked_files(of: str = "") -> Q:
    """Condition for files that are ranked, like `ranked_scores`: scored, in time, not hidden.

    For a query of submissions, or of a model that reaches them by the relation `of`.
    """
    facts = {"status": Submission.Status.SCORED, "is_late": False, "hidden_at": None}
    return Q(**{f"{of}__{name}" if of else name: value for name, value in facts.items()})


def ranked_scores(
    ground_truth: GroundTruth,
    split: Split,
    *,
    teams: Iterable[int] | QuerySet[Any, Any] | None = None,
    until: datetime | None = None,
    is_disqualified: bool = False,
) -> QuerySet[Score]:
    """Scores that are ranked: of teams that are not disqualified, received in time and not hidden.

    `teams` limits them to these teams (primary keys, or a query for them). That is a subquery, because for a join the
    database would read all scores of the ground truth. `until` limits them to files received by then. With
    `is_disqualified` they are those of the disqualified teams instead.
    """
    scores = Score.objects.all() if until is None else Score.objects.filter(submission__received_at__lte=until)
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
        submission__team__disqualified_at__isnull=not is_disqualified,
    )
