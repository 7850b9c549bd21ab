"""Checks 2 to 5: files wait no longer than allowed, are measured once and keep their final state."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Case, Count, F, Max, Q, When

from leaderboard.common.clock import database_now
from leaderboard.competitions.models import Refusal, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.submission import waiting_since
from leaderboard.competitions.scoring import queue

from .verdict import CheckRun

MAX_SILENCE = timedelta(minutes=2)
EVER = datetime.min.replace(tzinfo=UTC)

PENDING, SCORED = Submission.Status.PENDING, Submission.Status.SCORED


def check_waiting_times(findings: CheckRun) -> Iterator[str]:
    """News are the receipt, a host who has a file scored again, and every extension of a lease; for a slow file also
    those of the slow files before it, one of which is measured at a time."""
    now = database_now()
    rows = Submission.objects.filter(status=PENDING).annotate(since=waiting_since())
    slow = Submission.objects.filter(is_slow=True).aggregate(lease=Max("lease_until"), end=Max("finished_at"))
    of_slow = max(slow["lease"] - queue.LEASE if slow["lease"] else EVER, slow["end"] or EVER)
    for pk, received, lease, is_slow in rows.values_list("pk", "since", "lease_until", "is_slow"):
        since = max(received, min(of_slow, now)) if is_slow else received
        findings.looked_at += 1
        if lease is not None and lease > now + 2 * queue.LEASE:
            yield f"submission {pk}: its lease ends at {lease:%Y-%m-%d %H:%M:%S}, later than any lease can"
            continue
        news = since if lease is None else max(since, lease - queue.LEASE)
        if now - news > MAX_SILENCE:
            yield f"submission {pk} has been pending without news for {(now - news).total_seconds():.0f} s"


def check_one_score_each(findings: CheckRun) -> Iterator[str]:
    """Per submission and ground truth both splits or neither; scores if and only if scored."""
    splits = Count(Case(When(split__in=Split.values, then="split")), distinct=True)
    pairs = Score.objects.order_by().values_list("submission", "ground_truth").annotate(number=Count("pk"), both=splits)
    findings.looked_at = Score.objects.count()
    for submission, ground_truth, number, both in pairs.exclude(number=2, both=2):
        yield f"submission {submission} has {number} scores of {both} splits under ground truth {ground_truth}"
    measured = Score.objects.values("submission")
    for pk, status in Submission.objects.exclude(status=SCORED).filter(pk__in=measured).values_list("pk", "status"):
        yield f"submission {pk} is {status} and has scores"
    scored = Submission.objects.filter(status=SCORED)
    for pk in scored.exclude(pk__in=measured).values_list("pk", flat=True):
        yield f"submission {pk} is scored and has no scores"
    current = {"ground_truth": F("submission__competition__ground_truth")}
    shown = Score.objects.filter(**current).values("submission")
    refused = Refusal.objects.filter(**current).values("submission")
    unknown = scored.filter(pk__in=measured).exclude(pk__in=shown).exclude(pk__in=refused)
    for pk in unknown.values_list("pk", flat=True):
        yield f"submission {pk} is scored and has neither scores nor a refusal under the current ground truth"


def check_claims(findings: CheckRun) -> Iterator[str]:
    """What a result without a claim would leave behind."""
    rows = Submission.objects.all()
    findings.looked_at = rows.count()
    faults: dict[str, Any] = {
        "is final and still claimed": ~Q(status=PENDING) & ~Q(claim=None, lease_until=None),
        "has a lease without a claim": Q(status=PENDING, claim=None, lease_until__isnull=False),
        "has a claim without a lease": Q(status=PENDING, claim__isnull=False, lease_until=None),
        "was measured without a claim": Q(status=SCORED, tries=0),
    }
    for words, condition in faults.items():
        for pk in rows.filter(condition).values_list("pk", flat=True):
            yield f"submission {pk} {words}"
    busy = rows.filter(queue.is_held(), team__isnull=False).order_by()
    for team, number in busy.values_list("team").annotate(number=Count("pk")).filter(number__gt=1):
        yield f"team {team} has {number} files in work at once"


def check_final_states(findings: CheckRun) -> Iterator[str]:
    rows = Submission.objects.all()
    findings.looked_at = rows.count()
    faults = {
        f"was tried more than {queue.MAX_TRIES} times": Q(tries__gt=queue.MAX_TRIES),
        f"let more than {queue.MAX_DEATHS} scorers die": Q(deaths__gt=queue.MAX_DEATHS),
        "is final without a time": ~Q(status=PENDING) & Q(finished_at=None),
        "is pending with a time of its end": Q(status=PENDING, finished_at__isnull=False),
        "ended before it was received": Q(finished_at__lt=F("received_at") - timedelta(seconds=1)),
    }
    for words, condition in faults.items():
        for pk in rows.filter(condition).values_list("pk", flat=True):
            yield f"submission {pk} {words}"
    foreign = Score.objects.exclude(ground_truth__competition=F("submission__competition"))
    for pk, ground_truth in foreign.values_list("submission", "ground_truth"):
        yield f"submission {pk} has a score under ground truth {ground_truth} of another competition"
