"""Score submissions, each with the ground truth of its competition.

A worker scores a row while it holds a claim with a lease (`claims`), and only the holder of the current claim may write
its result. One transaction writes statuses, scores and standings of a turn. Scoring a file twice changes nothing.
"""

from __future__ import annotations

import json
import logging
import math
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from structlog.contextvars import bound_contextvars

import metrics
from leaderboard.boards import standings
from leaderboard.common.claims import Claim
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Competition, GroundTruth, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.scoring import client
from leaderboard.scoring.scorer_answer import ScorerAnswer

from . import claims, queue
from .outcomes import compute_outcome, score_of, seconds_in_queue

log = logging.getLogger(__name__)

# Seconds. Results are kept while the database is unreachable for a minute; the task's hard limit ends longer waits.
FINISH_SECONDS, FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 90.0, 0.2, 5.0

FIELDS_TO_WRITE = (
    *("status", "claim", "is_slow", "received_at", "is_late", "hidden_at"),
    *("team__disqualified_at", "team__vacated_at"),
    *("competition__ground_truth_id", "competition__revealed_at", "competition__zone", "competition__board"),
    "competition__score_decimals",
)


@dataclass
class FileOfTurn:
    """A file claimed by this process, with its outcome, and the `status` that results.

    Without an outcome the claim is only released, and `ending` is the reason: `slow` (it took too long for the queue),
    `waiting` (its file or truth cannot be read now), `busy` (the lease was lost, or the turn was over before it) or
    `died` (its scorer died), which alone counts as a try. `status` is the new status of the row; for a row that only
    waits again it is the ending, or `stale` if the ground truth has changed meanwhile.
    """

    submission: Submission
    ground_truth: GroundTruth
    claim: Claim
    ending: str = "busy"
    outcome: ScorerAnswer | None = None
    status: str = "busy"
    seconds: float = 0.0


def score_one(submission_id: uuid.UUID | str, *, in_queue: bool = True) -> str:
    """Score one pending submission; returns `FileOfTurn.status`, "busy" if it cannot be claimed."""
    submission = queue.find_submission(submission_id)
    scored = score_turn([submission], in_queue=in_queue) if submission else []
    return scored[0].status if scored else "busy"


def score_turn(
    submissions: Sequence[Submission], wake_up_id: str | None = None, *, in_queue: bool = True
) -> list[FileOfTurn]:
    """Claim pending submissions of different teams, score them, and write all results in one transaction.

    Returns the files that could be claimed. `wake_up_id` is the message that woke this worker, for
    `claims.end_claims_of_worker`. With `in_queue=False` a file may take as long as the site allows.
    """
    claimed, turn = claims.claim_submissions(submissions, wake_up_id), []
    for submission in submissions:
        ground_truth = submission.competition.ground_truth
        if submission.pk in claimed:
            assert ground_truth is not None, "a competition without a ground truth takes no submissions"
            turn.append(FileOfTurn(submission, ground_truth, claimed[submission.pk]))
    if turn:
        with claims.extended_leases(claimed.values()):
            _score_until_over(turn, in_queue=in_queue)
        _write_with_retries(lambda: _write_turn(turn))
    for file in turn:
        if file.status == Submission.Status.INVALID:
            wake_ups.wake_workers(wake_ups.PREVIEW_CONVERSION, file.submission.pk)
    return turn


def _score_until_over(turn: Sequence[FileOfTurn], *, in_queue: bool) -> None:
    """Score the files of a turn until its time is over; the rest stays "busy" and is released."""
    end = time.monotonic() + queue.TURN_SECONDS
    for file in turn:
        with bound_contextvars(
            competition=file.submission.competition.slug,
            submission=str(file.submission.pk),
            ground_truth=file.ground_truth.pk,
        ):
            begun = time.monotonic()
            _compute_file(file, in_queue=in_queue)
            file.seconds = time.monotonic() - begun
        if file.outcome is not None and file.outcome.result is not None:
            _note_quickest_time(file.ground_truth, file.seconds)
        if file.ending == "waiting" or time.monotonic() > end:
            return


def _compute_file(file: FileOfTurn, *, in_queue: bool) -> None:
    seconds = seconds_in_queue(file.ground_truth) if in_queue else math.inf
    try:
        file.outcome = compute_outcome(file.submission, file.ground_truth, seconds, not in_queue)
    except client.JobTimedOut:
        file.ending = "slow"
    except StorageUnreachable as error:
        log.error("submission %s waits for the storage: %s", file.submission.pk, error)
        file.ending = "waiting"
    except client.ScorerInterrupted:
        file.ending = "busy"  # the lease was lost
    except client.ScorerDied as death:
        log.error("submission %s under %s: its scorer %s", file.submission.pk, file.ground_truth.pk, death)
        file.ending = "died"


def _note_quickest_time(ground_truth: GroundTruth, seconds: float) -> None:
    """Store the time of the quickest file; only if it is a fifth shorter than before, so that writes are rare."""
    if ground_truth.quickest_seconds is None or seconds < 0.8 * ground_truth.quickest_seconds:
        slower = Q(quickest_seconds=None) | Q(quickest_seconds__gt=seconds)
        with suppress(OperationalError, InterfaceError):
            GroundTruth.objects.filter(slower, pk=ground_truth.pk).update(quickest_seconds=seconds)


def _write_with_retries(finish: Callable[[], None]) -> None:
    """Write results, and try again while the database is unreachable. Raises its error after `FINISH_SECONDS` seconds.

    Waiting longer than the lease is safe: if another worker claims the row meanwhile, this result is discarded.
    """
    end, pause = time.monotonic() + FINISH_SECONDS, FIRST_PAUSE_SECONDS
    while True:
        try:
            finish()
            return
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() + pause > end:
                raise
            log.warning("a result could not be written (%s); trying again in %g s", error, pause)
            if not connection.in_atomic_block:  # a transaction of the caller is not ours to close
                connection.close_if_unusable_or_obsolete()
            time.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)


@transaction.atomic
def _write_turn(turn: Sequence[FileOfTurn]) -> None:
    """Write the results of files whose claim still holds and whose ground truth is still the current one.

    One UPDATE for all rows with the same outcome.
    """
    rows = _held_rows(turn)
    scored: list[tuple[Submission, GroundTruth, metrics.Result]] = []
    finished: dict[str, tuple[list[uuid.UUID], dict[str, Any]]] = {}
    for file in turn:
        row = rows.get(file.submission.pk)
        file.status = _settle_file(file, row)
        if row is None or file.outcome is None or file.status == "stale":
            continue
        row.status = file.status
        fields = {
            "status": file.status,
            "problems": list(file.outcome.problems),
            "warnings": list(file.outcome.warnings),
            "failure": file.outcome.failure,
            "host_details": file.outcome.host_details,
        }
        finished.setdefault(json.dumps(fields, sort_keys=True), ([], fields))[0].append(row.pk)
        if file.outcome.result is not None:
            file.ground_truth.competition = row.competition
            scored.append((row, file.ground_truth, file.outcome.result))
    for keys, fields in finished.values():
        Submission.objects.filter(pk__in=keys).update(**fields, claim=None, lease_until=None, finished_at=Now())
    for file in turn:
        if file.outcome is not None and file.status in (Submission.Status.INVALID, Submission.Status.FAILED):
            claims.return_attempt(rows[file.submission.pk])
            if file.status == Submission.Status.FAILED:
                claims.notify_hosts_of_failure(file.submission.pk)
    for competition_id in standings.update_standings(write_scores(scored)):
        Competition(pk=competition_id).bump_board_version()


def _held_rows(turn: Sequence[FileOfTurn]) -> dict[uuid.UUID, Submission]:
    """The rows that are still held by the claims of this turn, locked until the end of the transaction."""
    if connection.features.has_select_for_update:  # SQLite has one writer at a time anyway
        numbers = sorted({file.submission.competition_id for file in turn})
        list(Competition.objects.select_for_update().filter(pk__in=numbers).order_by("pk").values_list("pk"))
    claims.lock_teams_of([file.submission.pk for file in turn])
    keys = {file.submission.pk: file.claim.key for file in turn}
    # Read again: the team may have changed meanwhile, or the file was deleted with its competition.
    return {row.pk: row for row in _pending_rows.rows(keys=list(keys)) if row.claim == keys[row.pk]}


@PreparedQuery
def _pending_rows(keys: list[uuid.UUID]) -> QuerySet[Submission]:
    rows = Submission.objects.filter(pk__in=keys, status=Submission.Status.PENDING)
    rows = rows.select_related("team", "competition__board").only(*FIELDS_TO_WRITE)
    return rows.select_for_update(of=("self",)) if connection.features.has_select_for_update else rows


def _settle_file(file: FileOfTurn, row: Submission | None) -> str:
    """The status to write for a file; without a result to write its claim is released."""
    if row is None:
        return "busy"
    if file.ending == "died":
        return "died" if claims.count_death(file.claim) else "failed"
    if file.outcome is None:
        file.claim.release(is_slow=row.is_slow or file.ending == "slow")
        return file.ending
    if row.competition.ground_truth_id != file.ground_truth.pk:
        file.claim.release()
        return "stale"
    if file.outcome.result is not None:
        return Submission.Status.SCORED.value
    return Submission.Status.INVALID.value if file.outcome.problems else Submission.Status.FAILED.value


def write_scores(
    scored: Sequence[tuple[Submission, GroundTruth, metrics.Result]],
) -> list[tuple[Submission, GroundTruth, float]]:
    """Write both scores of each file; returns the files with their public scores."""
    rows = [
        score_of(submission, ground_truth, result, split)
        for submission, ground_truth, result in scored
        for split in (Split.PUBLIC, Split.PRIVATE)
    ]
    Score.objects.bulk_create(rows)
    return [(score.submission, score.ground_truth, score.value) for score in rows if score.split == Split.PUBLIC]
