"""Queries about submissions for their pages: own files, scores that the viewer may see, the queue before a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from leaderboard.boards.ranking import ranked_scores
from leaderboard.boards.secondary import (
    SecondaryMetric,
    ShownSecondaryValue,
    secondary_metrics_of,
    shown_secondary_values,
)
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import GroundTruth, Score, Submission
from leaderboard.competitions.models.competition import Split


def own_submission(page_context: PageContext, submission_id: UUID | str) -> Submission:
    """A file of the viewer's team, or of a competition that they host or assist in. Raises `Http404` for others."""
    key = submission_id if isinstance(submission_id, UUID) else UUID(submission_id)
    if page_context.membership is not None:
        submission = _submission_of_team.only_row(team=page_context.membership.team_id, key=key)
    else:
        visible = Submission.objects.visible_to(page_context.user).filter(competition=page_context.competition)
        submission = _with_people(visible.filter(pk=key)).first()
    if submission is None:
        raise Http404(_("You have no submission with this number."))
    submission.competition = page_context.competition  # has its ground truth loaded
    return submission


@PreparedQuery
def _submission_of_team(team: int, key: UUID) -> QuerySet[Submission]:
    return _with_people(Submission.objects.filter(team=team, pk=key))


def _with_people(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Submissions with team and sender, and `has_twin`: whether the team submitted the same bytes before. Only
    these few need a query for the earlier file."""
    twins = Submission.objects.filter(
        team=OuterRef("team"), sha256=OuterRef("sha256"), received_at__lt=OuterRef("received_at")
    )
    return submissions.annotate(has_twin=Exists(twins)).select_related("user", "team", "baseline")


# --- scores that a viewer may see -------------------------------------------------------------------------------


class SecondaryLine(NamedTuple):
    """A secondary metric of one file; `private` is None until the private board is open to the viewer."""

    secondary_metric: SecondaryMetric
    public: ShownSecondaryValue
    private: ShownSecondaryValue | None


@dataclass(frozen=True)
class ShownScores:
    """Scores of one file under the current ground truth; None where there is none or the viewer may not see it.

    `parts` are (name, public, private) of what a composite metric consists of.
    """

    public: Score | None = None
    private: Score | None = None
    secondary: tuple[SecondaryLine, ...] = ()
    parts: tuple[tuple[str, float, float | None], ...] = ()


def shown_scores_of(page_context: PageContext, submissions: Sequence[Submission]) -> dict[UUID, ShownScores]:
    """Submission → the scores that the viewer may see; others are not read. One query."""
    ground_truth = page_context.competition.ground_truth
    scores: dict[UUID, dict[str, Score]] = defaultdict(dict)
    if ground_truth is not None and page_context.sees_public:
        splits = [Split.PUBLIC, Split.PRIVATE] if page_context.sees_private else [Split.PUBLIC]
        rows = Score.objects.filter(submission__in=submissions, ground_truth=ground_truth, split__in=splits)
        for row in rows.defer("metric_version"):
            scores[row.submission_id][row.split] = row
    secondary_metrics = secondary_metrics_of(ground_truth)
    return {submission.pk: shown_scores(scores[submission.pk], secondary_metrics) for submission in submissions}


def shown_scores(scores: Mapping[str, Score], secondary_metrics: Sequence[SecondaryMetric]) -> ShownScores:
    """The scores of a file with its secondary metrics; callers check which splits the viewer may see."""
    public, private = scores.get(Split.PUBLIC), scores.get(Split.PRIVATE)
    if public is None:
        return ShownScores()
    private_parts = private.parts if private else {}
    return ShownScores(
        public,
        private,
        tuple(
            SecondaryLine(own.secondary_metric, own, other)
            for own, other in zip_longest(
                shown_secondary_values(secondary_metrics, public.secondary),
                shown_secondary_values(secondary_metrics, private.secondary if private else ()),
            )
        ),
        tuple((name, value, private_parts.get(name)) for name, value in public.parts.items()),
    )


def earlier_best_score(submission: Submission, ground_truth: GroundTruth) -> Score | None:
    """The team's best ranked public score among the files received before this one, with its submission."""
    best_first = "value" if ground_truth.sort_sign > 0 else "-value"
    scores = ranked_scores(ground_truth, Split.PUBLIC, teams=[submission.team_id or 0])
    earlier = scores.filter(submission__received_at__lt=submission.received_at)
    with_receipt = earlier.select_related("submission").only("value", "submission__received_at")
    return with_receipt.order_by(best_first, "submission__received_at").first()


# --- the queue before a file ------------------------------------------------------------------------------------

PATIENCE = timedelta(seconds=60)
USUAL_WAIT = timedelta(seconds=10)


@dataclass(frozen=True)
class QueueState:
    """State of a pending file."""

    is_being_scored: bool
    ahead: int
    """Number of pending files of all teams that were received before."""
    scorer_is_down: bool
    """Whether the file has waited longer than `PATIENCE` while no worker has scored any file."""
    takes_a_while: bool
    """Whether the file has waited longer than `USUAL_WAIT`; False if the scorer is down, which the page says."""
    poll_pause: str
    """Time between two polls: short for a new file with few before it, else longer."""


def queue_state_of(submission: Submission, at: datetime) -> QueueState:
    """The state of a pending file; one query, two after a minute."""
    waited = at - submission.received_at
    waiting = Submission.objects.filter(status=Submission.Status.PENDING)
    ahead = waiting.filter(received_at__lt=submission.received_at).count()
    is_down = waited > PATIENCE and not _is_scorer_working(at)
    return QueueState(
        is_being_scored=submission.is_being_scored(at),
        ahead=ahead,
        scorer_is_down=is_down,
        takes_a_while=waited > USUAL_WAIT and not is_down,
        poll_pause="300ms" if waited < timedelta(seconds=4) and ahead <= 5 else "1s",
    )


def _is_scorer_working(at: datetime) -> bool:
    """Whether a worker scores a file or has finished one within `PATIENCE`."""
    since = at - PATIENCE
    # Files that are invalid at the upload have `finished_at` equal to `received_at`; no worker has seen them.
    finished = Q(finished_at__gte=since, finished_at__gt=F("received_at"))
    return Submission.objects.filter(finished | Q(lease_until__gte=at)).exists()
