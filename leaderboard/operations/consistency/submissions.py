"""Checks 1 to 6 and 8: files are whole, each is measured once, and what counts keeps to the limits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Case, Count, F, Max, Q, When

from leaderboard.common.clock import database_now
from leaderboard.common.storage import StorageUnreachable, open_stored
from leaderboard.competitions.models import (
    Competition,
    DailyAttempts,
    GroundTruth,
    Refusal,
    Score,
    Standing,
    Submission,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import team_deadline
from leaderboard.competitions.models.submission import waiting_since
from leaderboard.competitions.scoring import queue

from .verdict import CheckRun

CHUNK = 1_048_576
AT_ONCE = 500
READERS = 4

Receipt = tuple[str, str, str, int | None]
"""What it is, key of the file, SHA-256 as promised, size as promised."""


def check_uploads_are_whole(findings: CheckRun) -> Iterator[str]:
    """Every file is read and hashed: 1 GB takes about a second. Files of old invalid submissions are gone on purpose,
    and their rows say so."""
    yield from _shared_files()
    for pk in Submission.objects.exclude(file_removed_at=None).exclude(status="invalid").values_list("pk", flat=True):
        yield f"submission {pk}: its file was removed, and it is not invalid"
    receipts = _receipts()
    with ThreadPoolExecutor(READERS) as readers:
        while batch := list(islice(receipts, AT_ONCE)):
            findings.looked_at += len(batch)
            yield from filter(None, readers.map(_damage, batch))


def _receipts() -> Iterator[Receipt]:
    files = Submission.objects.with_stored_file().order_by("file_key").values_list("pk", "file_key", "sha256", "size")
    for pk, key, sha256, size in files.iterator(chunk_size=5000):
        yield f"submission {pk}", key, sha256, size
    for ground_truth, key, sha256 in GroundTruth.objects.values_list("pk", "file_key", "sha256"):
        yield f"ground truth {ground_truth}", key, sha256, None


def _shared_files() -> Iterator[str]:
    for field in ("file_key", "upload_key"):
        columns = (field,) if field == "file_key" else ("competition", field)
        rows = Submission.objects.order_by().values(*columns).annotate(number=Count("pk")).filter(number__gt=1)
        for row in rows:
            yield f"{row['number']} submissions have the {field.replace('_', ' ')} {row[field]}"


def _damage(receipt: Receipt) -> str:
    what, key, sha256, size = receipt
    try:
        found, number = _hash(key)
    except (OSError, StorageUnreachable) as error:
        return f"{what}: its file cannot be read ({getattr(error, 'strerror', None) or error})"
    if size is not None and number != size:
        return f"{what}: its file has {number} bytes, its receipt says {size}"
    return "" if found == sha256 else f"{what}: its file does not have the SHA-256 of its receipt"


def _hash(key: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with open_stored(key) as file:
        while part := file.read(CHUNK):
            digest.update(part)
            size += len(part)
    return digest.hexdigest(), size


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


def check_attempts(findings: CheckRun) -> Iterator[str]:
    """Days are those of the competition's zone, by the receipt."""
    zones = {zone: ZoneInfo(zone) for zone in Competition.objects.order_by().values_list("zone", flat=True).distinct()}
    counted: Counter[tuple[int, date]] = Counter()
    files = Submission.objects.using_attempts().filter(team__isnull=False).order_by()
    facts = files.values_list("team", "received_at", "competition__zone")
    for team, received_at, zone in facts.iterator(chunk_size=5000):
        assert team is not None
        counted[team, received_at.astimezone(zones[zone]).date()] += 1
        findings.looked_at += 1
    counts = DailyAttempts.objects.values_list("team", "day", "used", "limit")
    for team, day, used, limit in counts.iterator(chunk_size=5000):
        files_of_day = counted.pop((team, day), 0)
        if used != files_of_day:
            yield f"team {team} on {day}: {used} attempts noted, {files_of_day} files count"
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
