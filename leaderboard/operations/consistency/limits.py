"""Checks 6 and 8: what counts against the day's limit, and what counts at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date

from django.db.models import F

from leaderboard.competitions.models import DailyAttempts, Standing, Submission
from leaderboard.competitions.models.extension import team_deadline

from .verdict import CheckRun

COUNTING = (Submission.Status.PENDING, Submission.Status.SCORED)


def check_attempts(findings: CheckRun) -> Iterator[str]:
    """Days are those of UTC, by the receipt."""
    counted: Counter[tuple[int, date]] = Counter()
    files = Submission.objects.filter(team__isnull=False, status__in=COUNTING).order_by()
    for team, received_at in files.values_list("team", "received_at").iterator(chunk_size=5000):
        assert team is not None
        counted[team, received_at.astimezone(UTC).date()] += 1
        findings.looked_at += 1
    for team, day, used, carried, limit in DailyAttempts.objects.values_list(
        "team", "day", "used", "carried_over", "limit"
    ).iterator(chunk_size=5000):
        files_of_day = counted.pop((team, day), 0)
        if used != files_of_day + carried:
            brought = f" and {carried} brought along" if carried else ""
            yield f"team {team} on {day}: {used} attempts noted, {files_of_day} files count{brought}"
        elif limit and files_of_day > limit:
            yield f"team {team} on {day}: {files_of_day} files count, {limit} were allowed"
    for (team, day), number in counted.items():
        yield f"team {team} on {day}: no attempts noted, {number} files count"


def check_deadlines(findings: CheckRun) -> Iterator[str]:
    """Late is what was received at its team's deadline or after; what is late stands on no board."""
    files = Submission.objects.filter(team__isnull=False)
    findings.looked_at = files.count()
    judged = files.annotate(deadline=team_deadline())
    in_time = judged.filter(is_late=True, received_at__lt=F("deadline"))
    for pk in in_time.values_list("pk", flat=True):
        yield f"submission {pk} came before the deadline and is marked as late"
    late = judged.filter(is_late=False, received_at__gte=F("deadline"))
    for pk in late.values_list("pk", flat=True):
        yield f"submission {pk} came after the deadline and counts"
    for pk in Standing.objects.filter(submission__is_late=True).values_list("submission", flat=True):
        yield f"submission {pk} is late and stands on a board"
