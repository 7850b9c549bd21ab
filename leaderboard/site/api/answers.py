"""Build API responses from rows, with only what the token's owner may see."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, prefetch_related_objects
from django.http import Http404

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards import secondary
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.queries import only_row
from leaderboard.competitions.models import Competition, GroundTruth, Membership, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.submissions.queries import shown_scores

from .base import ApiError
from .schemas import MetricOut, ProblemOut, SecondaryOut, SubmissionOut

PAGE_SIZE = boards.PAGE_SIZE


def visible_competitions(user: User) -> QuerySet[Any]:
    """Competitions that a person may open, annotated with `team_count`, `is_member` and `is_host`."""
    mine = Membership.objects.filter(competition=OuterRef("pk"), user=user)
    hosted = Competition.objects.hosted_by(user).filter(pk=OuterRef("pk"))
    teams = Count("teams", filter=Q(teams__disqualified_at=None), distinct=True)
    return (
        Competition.objects.visible_to(user)
        .select_related("ground_truth")
        .annotate(team_count=teams, is_member=Exists(mine), is_host=Exists(hosted))
    )


def visible_competition_with_counts(user: User, slug: str) -> Any:
    competition = only_row(visible_competitions(user).filter(slug=slug))
    if competition is None:
        raise Http404("No competition of this name is open to you.")
    return competition


def visible_competition(user: User, slug: str) -> Competition:
    """A competition without the counts, for quick operations. Raises `Http404`."""
    competition = Competition.objects.filter(slug=slug).first()
    if competition is None or not competition.is_visible_to(user):
        raise Http404("No competition of this name is open to you.")
    return competition


def competition_summary(competition: Any, at: datetime) -> dict[str, Any]:
    names = ("slug", "title", "subtitle", "opens_at", "closes_at", "is_member", "is_host")
    return {name: getattr(competition, name) for name in names} | {
        "course": competition.course.title,
        "state": competition.state(at),
        "metric": competition.ground_truth.metric if competition.ground_truth else None,
        "teams": competition.team_count,
    }


def metric_out(ground_truth: GroundTruth) -> MetricOut:
    direction: Literal["maximize", "minimize"] = "minimize" if ground_truth.sort_sign > 0 else "maximize"
    metric = ground_truth.library_metric
    title = metric.title if metric else ground_truth.metric
    return MetricOut(key=ground_truth.metric, title=title, direction=direction, params=ground_truth.params)


def secondary_metrics_out(ground_truth: GroundTruth | None) -> list[MetricOut]:
    return [
        MetricOut(key=one.key, title=one.title, direction=one.direction, params=dict(one.params))
        for one in secondary.secondary_metrics_of(ground_truth)
    ]


def submissions_with_scores(user: User) -> QuerySet[Submission]:
    """A person's submissions with the scores of the current ground truth in `current_scores`."""
    return _with_relations(Submission.objects.visible_to(user)).prefetch_related(_current_scores())


def find_submission(user: User, key: UUID) -> Submission | None:
    """One of `submissions_with_scores`, which programs ask for until it has a score; a pending one needs one query."""
    if user.is_superuser:
        return only_row(submissions_with_scores(user).filter(pk=key))
    submission = _visible_submission.only_row(user_id=user.pk, key=key)
    if submission is not None and submission.status == Submission.Status.PENDING:
        return submission_without_scores(submission)
    if submission is not None:
        prefetch_related_objects([submission], _current_scores())
    return submission


@PreparedQuery
def _visible_submission(user_id: int, key: UUID) -> QuerySet[Submission]:
    return _with_relations(Submission.objects.visible_to(User(pk=user_id))).filter(pk=key)


def _with_relations(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    related = ("competition__ground_truth", "competition__archive", "competition__board", "team", "baseline", "user")
    return submissions.select_related(*related)


def _current_scores() -> Prefetch[str]:
    current = Score.objects.filter(ground_truth=F("submission__competition__ground_truth"))
    return Prefetch("scores", current, to_attr="current_scores")


def submission_without_scores(submission: Submission) -> Submission:
    """A submission without a score yet, in the form of `submissions_with_scores`."""
    submission.current_scores = []  # type: ignore[attr-defined]
    return submission


def visible_splits(competition: Competition, user: User, at: datetime) -> set[Split]:
    """The splits whose scores a person may see."""
    may_see = {
        Split.PUBLIC: competition.public_is_visible_to(user, at),
        Split.PRIVATE: competition.private_is_visible_to(user, at),
    }
    return {split for split, is_visible in may_see.items() if is_visible}


def submission_out(submission: Submission, splits: Collection[Split] = ()) -> SubmissionOut:
    """The schema of one of `submissions_with_scores`; `splits` are the reader's `visible_splits`."""
    competition = submission.competition
    current: list[Score] = submission.current_scores  # type: ignore[attr-defined]
    ground_truth = competition.ground_truth.number if current and competition.ground_truth else None
    scores = {score.split: score for score in current if score.split in splits}
    shown = shown_scores(scores, secondary.secondary_metrics_of(competition.ground_truth))
    errors = [ProblemOut.model_validate(problem) for problem in submission.problems]
    if submission.failure:
        errors.append(ProblemOut(code="failed", message=submission.failure))
    names = ("id", "file_name", "size", "sha256", "note", "status", "received_at", "finished_at", "is_late")
    return SubmissionOut(
        **{name: getattr(submission, name) for name in names},
        is_selected=submission.is_selected,
        hidden_reason=submission.hidden_reason,
        competition=competition.slug,
        team=submission.team.name if submission.team else None,
        baseline=submission.baseline.name if submission.baseline else None,
        uploaded_by=submission.user.get_username() if submission.user else None,
        ground_truth=ground_truth,
        public_score=shown.public.value if shown.public else None,
        private_score=shown.private.value if shown.private else None,
        secondary=[
            SecondaryOut(
                metric=line.secondary_metric.key,
                params=dict(line.secondary_metric.params),
                public_score=line.public.value,
                private_score=line.private.value if line.private else None,
                problem=line.public.problem,
            )
            for line in shown.secondary
        ],
        errors=errors,
        warnings=[ProblemOut.model_validate(warning) for warning in submission.warnings],
    )


def paginate_items(found: QuerySet[Any], page: int) -> tuple[list[Any], int, int]:
    """(items of the page, number of pages, number of items). Raises `ApiError` for a page beyond the end."""
    total = found.count()
    pages = max(1, -(-total // PAGE_SIZE))
    if page > pages:
        raise ApiError(404, f"This list has {pages} page(s).")
    return list(found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]), pages, total
