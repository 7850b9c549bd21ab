"""Baselines, the reveal, the board as a file."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone

from .. import ranking, tasks
from ..models import Baseline, Competition, Split, Submission, User
from ..storage import clean_name, store
from ..storage import remove as remove_file
from .setting_up import CannotHost

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\0")


def add_baseline(
    *, competition: Competition, user: User | None, name: str, file_name: str, chunks: Iterable[bytes]
) -> Submission:
    """Store a reference file under a name and queue it; the same name again replaces the earlier file."""
    if competition.ground_truth_id is None:
        raise CannotHost("Publish a ground truth first; baselines are scored with it.")
    stored = store(chunks, f"submissions/{competition.pk}")
    with transaction.atomic():
        Baseline.objects.filter(competition=competition, name=name).delete()
        baseline = Baseline.objects.create(competition=competition, name=name)
        submission = Submission.objects.create(
            competition=competition,
            baseline=baseline,
            user=user,
            file_name=clean_name(file_name),
            file_key=stored.key,
            sha256=stored.sha256,
            size=stored.size,
            received_at=timezone.now(),
            upload_key=uuid.uuid4().hex,
        )
        tasks.ring_after_commit(tasks.score_submission, submission.pk, competition.ground_truth_id)
    return submission


def remove_baseline(*, baseline: Baseline) -> None:
    """Take a baseline from the board."""
    keys = list(Submission.objects.filter(baseline=baseline).values_list("file_key", flat=True))
    with transaction.atomic():
        baseline.competition.touch_board()
        baseline.delete()
    for key in keys:
        remove_file(key)


def reveal(*, competition: Competition) -> None:
    """Open the private board now; raises `CannotHost` before the deadline or while files wait for their score."""
    now = timezone.now()
    if now < competition.closes_at:
        raise CannotHost("The private board can be opened once the deadline has passed.")
    waiting = competition.submissions.filter(status=Submission.Status.PENDING, is_late=False).count()
    if waiting:
        raise CannotHost(f"{waiting} submissions received in time are still waiting for their score.")
    if not ranking.reveal(competition, now):
        raise CannotHost("The private board is open already.")


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text


def board_csv(competition: Competition, split: Split) -> str:
    """A board as CSV, scores with all their digits. Callers ask `private_is_visible_to` before the private one."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["rank", "team", "score", "submissions", "received_at"])
    for row in ranking.lines(competition, split):
        received_at = row.received_at.isoformat()
        writer.writerow([row.rank, safe_cell(row.name), repr(row.value), row.attempts, received_at])
    return text.getvalue()
