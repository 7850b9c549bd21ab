"""What a host looks at while a class is at work, exact whatever the board shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import TruncHour

from leaderboard.classroom.team_lines import TeamsBelowBaseline, teams_below_baselines
from leaderboard.competitions.models import Competition, Submission, Worker
from leaderboard.competitions.models.submission import waiting_since
from leaderboard.competitions.scoring.queue import HEARD_WITHIN

Status = Submission.Status

HOURS = 24
MAX_FILES_FOR_REASONS = 500
"""Invalid files whose reasons are counted: the latest show what goes wrong now."""


@dataclass(frozen=True)
class ClassActivity:
    """How a competition is doing: numbers of files and teams, ages in seconds, reasons with their numbers of files."""

    teams: int
    without_valid: int
    active_today: int
    submissions: int
    pending: int
    scored: int
    invalid: int
    failed: int
    oldest: int | None
    hours: tuple[int, ...]
    """Files received in each of the last 24 hours of the clock, the present one last."""
    reasons: tuple[tuple[str, int], ...]
    below: tuple[TeamsBelowBaseline, ...]
    seconds_since_worker: int | None
    """Seconds since a worker was heard of; None where none ever was."""

    @property
    def scorer_works(self) -> bool:
        return self.seconds_since_worker is not None and self.seconds_since_worker <= HEARD_WITHIN.total_seconds()


def class_activity(competition: Competition, at: datetime) -> ClassActivity:
    """The same few queries, whatever the size of the class."""
    files = Submission.objects.filter(competition=competition, team__isnull=False).order_by()
    day_ago = at - timedelta(days=1)
    counted = {str(status): Count("pk", filter=Q(status=status)) for status in Status}
    numbers: dict[str, Any] = files.aggregate(
        submissions=Count("pk"),
        active_today=Count("team", distinct=True, filter=Q(received_at__gte=day_ago)),
        oldest=Min(waiting_since(), filter=Q(status=Status.PENDING)),
        **counted,
    )
    scored = Submission.objects.filter(team=OuterRef("teams"), status=Status.SCORED)
    annotated = Competition.objects.filter(pk=competition.pk).annotate(
        number=Count("teams"),
        without=Count("teams", filter=~Exists(scored) & Q(teams__disqualified_at=None)),
        heard=Subquery(Worker.objects.order_by("-last_seen_at").values("last_seen_at")[:1]),
    )
    teams, without, heard = annotated.values_list("number", "without", "heard").get()
    oldest = numbers.pop("oldest")
    return ClassActivity(
        teams=teams,
        without_valid=without,
        **numbers,
        oldest=_age_in_seconds(oldest, at),
        hours=_files_per_hour(files, at) if numbers["active_today"] else (0,) * HOURS,
        reasons=_problem_counts(files) if numbers["invalid"] else (),
        below=tuple(teams_below_baselines(competition)),
        seconds_since_worker=_age_in_seconds(heard, at),
    )


def _age_in_seconds(moment: datetime | None, at: datetime) -> int | None:
    return None if moment is None else max(0, round((at - moment).total_seconds()))


def _files_per_hour(files: QuerySet[Submission], at: datetime) -> tuple[int, ...]:
    this = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    first = this - timedelta(hours=HOURS - 1)
    rows = files.filter(received_at__gte=first, received_at__lt=this + timedelta(hours=1))
    found = dict(rows.annotate(hour=TruncHour("received_at", tzinfo=UTC)).values_list("hour").annotate(n=Count("pk")))
    return tuple(found.get(first + timedelta(hours=number), 0) for number in range(HOURS))


def _problem_counts(files: QuerySet[Submission]) -> tuple[tuple[str, int], ...]:
    """Code of a problem → files that have it, the most frequent first."""
    latest = (
        files.filter(status=Status.INVALID)
        .order_by("-received_at")
        .values_list("problems", flat=True)[:MAX_FILES_FOR_REASONS]
    )
    counted = Counter(code for problems in latest for code in {problem.get("code", "") for problem in problems})
    return tuple(counted.most_common(8))
