"""The worker's verb: measure one submission with one ground truth.

The row in the database is the queue. A claim with a lease says who measures it; only the holder of the live claim
may finish it, in one transaction that writes the status, both scores and the standing. Scoring twice equals once.
"""

from __future__ import annotations

import logging
import math
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import chain, zip_longest
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

import metrics
from leaderboard import scoring
from leaderboard.common.queries import only_row
from leaderboard.common.storage import StorageUnreachable
from metrics.core.messages import templates_of

from ..models import (
    Competition,
    GroundTruth,
    Refusal,
    Score,
    ScoringEnvironment,
    StudentPreview,
    Submission,
    Uncertainty,
)
from ..models.competition import Split
from ..ranking import standings
from . import queue
from .measuring import (
    MeasuringOutcome,
    TakesTooLongForQueue,
    measure_outside_queue,
    measure_submission,
    seconds_in_queue,
)

log = logging.getLogger(__name__)

# A database may be away for a minute; the hard limit of a task ends what takes longer.
FINISH_WITHIN, FIRST_PAUSE, LONGEST_PAUSE = 90.0, 0.2, 5.0
SWEPT_AT_ONCE = 200
RESCORE_BATCH = 200
RESCORE_SECONDS = 2.0

FIELDS_TO_WRITE = (
    *("status", "received_at", "is_late", "hidden_at", "team__disqualified_at", "team__vacated_at"),
    *("competition__ground_truth_id", "competition__revealed_at", "competition__zone", "competition__board"),
)


# --- one submission ---------------------------------------------------------------------------------------------


def score_submission(submission_id: uuid.UUID | str, wake_up_id: str | None = None, *, in_queue: bool = True) -> str:
    """As `score_found`, for the submission of an id."""
    found = queue.find_submission(submission_id)
    return "busy" if found is None else score_found(found, wake_up_id, in_queue=in_queue)


def score_found(submission: Submission, wake_up_id: str | None = None, *, in_queue: bool = True) -> str:
    """Measure a pending submission, as the queue gave it, with its competition's current ground truth.

    Returns the status it ended with, `busy` when another worker holds it or it is final or gone, and `stale` when the
    ground truth changed meanwhile: then it is pending again and the caller wakes a worker once more. `waiting` means
    that its files cannot be read now: it is pending as before, no try is counted, and the sweep wakes a worker. `died`
    means that its scorer died and that it may be tried again: the caller wakes a worker. `slow` means that it took too
    long for the queue and is to be measured outside of it (`in_queue` is off there). `wake_up_id` is the message that
    woke this worker, for `queue.note_worker_death`.
    """
    claim, ground_truth = queue.claim_submission(submission, wake_up_id), submission.competition.ground_truth
    if claim is None:
        return "busy"
    assert ground_truth is not None, "a competition without a ground truth takes no submissions"
    begun = time.monotonic()
    try:
        with queue.extended_lease(submission.pk, claim):
            seconds = seconds_in_queue(ground_truth) if in_queue else math.inf
            outcome = measure_submission(submission, ground_truth, seconds, alone=not in_queue)
    except TakesTooLongForQueue:
        return _write_with_retries(lambda: "slow" if queue.release_claim_as_slow(submission.pk, claim) else "busy")
    except StorageUnreachable as error:
        log.error("submission %s waits for the storage: %s", submission.pk, error)
        return _write_with_retries(lambda: "waiting" if queue.release_claim(submission.pk, claim) else "busy")
    except scoring.ScorerInterrupted:
        return "busy"  # the lease is somebody else's by now
    except scoring.ScorerDied as death:
        log.error("submission %s under %s: its scorer %s", submission.pk, ground_truth.pk, death)
        return _write_with_retries(
            lambda: "died" if queue.release_after_scorer_death(submission.pk, claim) else "failed"
        )
    if outcome.result is not None:
        _note_quickest_time(ground_truth, time.monotonic() - begun)
    return _write_with_retries(lambda: _write_outcome(submission, ground_truth, claim, outcome))


def score_slow_files() -> None:
    """Measure the slow files one after the other, until none is left or somebody else measures one."""
    while (submission_id := queue.next_slow_file()) and score_submission(submission_id, in_queue=False) not in (
        "busy",
        "waiting",
    ):
        pass


def _note_quickest_time(ground_truth: GroundTruth, seconds: float) -> None:
    """Remember the least time that a file took, to a fifth: it changes seldom."""
    if ground_truth.quickest_seconds is None or seconds < 0.8 * ground_truth.quickest_seconds:
        slower = Q(quickest_seconds=None) | Q(quickest_seconds__gt=seconds)
        with suppress(OperationalError, InterfaceError):
            GroundTruth.objects.filter(slower, pk=ground_truth.pk).update(quickest_seconds=seconds)


def _write_with_retries(finish: Callable[[], str]) -> str:
    """Write what was measured; while the database is away, try again instead of losing it.

    Waiting is safe also beyond the lease: whoever claims the row meanwhile makes this result worthless.
    """
    enough, pause = time.monotonic() + FINISH_WITHIN, FIRST_PAUSE
    while True:
        try:
            return finish()
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() + pause > enough:
                raise
            log.warning("a result could not be written (%s); trying again in %g s", error, pause)
            if not connection.in_atomic_block:  # what is not ours to end stays open
                connection.close_if_unusable_or_obsolete()
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


@transaction.atomic
def _write_outcome(
    submission: Submission, ground_truth: GroundTruth, claim: uuid.UUID, outcome: MeasuringOutcome
) -> str:
    """Write what became of the file, if the claim still holds and the ground truth is still the current one."""
    if connection.features.has_select_for_update:  # elsewhere a transaction that writes is the only one
        competitions = Competition.objects.select_for_update().filter(pk=ground_truth.competition_id)
        list(competitions.values_list("pk"))
    # Its team may have become part of another meanwhile, or it was deleted with its competition.
    rows = Submission.objects.filter(pk=submission.pk, claim=claim, status=Submission.Status.PENDING)
    held = only_row(rows.select_related("team", "competition__board").only(*FIELDS_TO_WRITE))
    if held is None:
        return "busy"
    if held.competition.ground_truth_id != ground_truth.pk:
        queue.release_claim(submission.pk, claim)
        return "stale"
    if outcome.result is not None:
        held.status = Submission.Status.SCORED
    else:
        held.status = Submission.Status.INVALID if outcome.problems else Submission.Status.FAILED
    rows.update(
        status=held.status,
        problems=list(outcome.problems),
        warnings=list(outcome.warnings),
        failure=outcome.failure,
        host_details=outcome.host_details,
        claim=None,
        lease_until=None,
        finished_at=Now(),
    )
    if outcome.result is None:
        queue.settle_attempt(held, refused=bool(outcome.problems))
        return str(held.status)
    public = _write_scores(held, ground_truth, outcome.result)
    ground_truth.competition = held.competition
    if standings.update_standing(held, ground_truth, public):
        held.competition.touch_board()
    return str(held.status)


def _write_scores(submission: Submission, ground_truth: GroundTruth, result: metrics.Result) -> float:
    """Write both scores; gives the public one."""
    assert result.public is not None, "a published ground truth has both splits"
    assert result.private is not None, "a published ground truth has both splits"
    values = {Split.PUBLIC: result.public, Split.PRIVATE: result.private}
    scoring_environment = ScoringEnvironment.current(
        ground_truth.metric, metrics.get(ground_truth.metric_key).version, _versions(ground_truth)
    )
    now = timezone.now()
    scores = Score.objects.bulk_create(
        Score(
            submission=submission,
            ground_truth=ground_truth,
            split=split,
            value=value,
            parts=dict(result.parts.get(split.value, {})),
            secondary=stored_secondary(result, split),
            measured_at=now,
            scoring_environment=scoring_environment,
        )
        for split, value in values.items()
    )
    # Metrics from outside have no uncertainty.
    known = [score for score in scores if score.split in result.uncertainty]
    Uncertainty.objects.bulk_create(Uncertainty.from_result(score, result.uncertainty[score.split]) for score in known)
    return result.public


def stored_secondary(result: metrics.Result, split: Split) -> list[dict[str, Any]]:
    """What secondary metrics say on a split, as it is stored: a value, or the problem."""
    found = [(getattr(one, split.value), one.problem) for one in result.secondary]
    return [
        {"problem": problem, **templates_of(problem=problem)} if value is None else {"value": value}
        for value, problem in found
    ]


def _versions(ground_truth: GroundTruth) -> dict[str, str]:
    """The secondary metrics' files as this process has them; one that is gone has computed nothing."""
    found = {}
    for one in ground_truth.secondary:
        with suppress(metrics.UnknownMetric):
            found[one["key"]] = metrics.get(f"{one['key']}@{one['version']}").version
    return found


# --- rescoring --------------------------------------------------------------------------------------------------


def unmeasured(ground_truth: GroundTruth) -> Any:
    """Scored submissions that have neither scores nor a refusal under a ground truth. Both scores of a file are written
    in one transaction, so one of them says it."""
    return (
        Submission.objects.filter(competition=ground_truth.competition_id, status=Submission.Status.SCORED)
        .exclude(pk__in=Score.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC).values("submission"))
        .exclude(pk__in=Refusal.objects.filter(ground_truth=ground_truth).values("submission"))
        .order_by("received_at")
    )


def rescore_batch(ground_truth_id: int) -> bool:
    """Measure a batch of what a candidate ground truth has not measured yet; True when some may remain.

    Adds scores under the new number and edits none; running it twice, or by two workers, changes nothing.
    """
    ground_truth = GroundTruth.objects.select_related("competition").filter(pk=ground_truth_id).first()
    if ground_truth is None or ground_truth.competition.candidate_id != ground_truth.pk:
        return False
    batch = list(unmeasured(ground_truth)[:RESCORE_BATCH])
    # New files are measured between two batches, so a batch is short however large the files are.
    enough = time.monotonic() + RESCORE_SECONDS
    for submission in batch:
        _rescore_one(submission, ground_truth)
        if time.monotonic() > enough:
            return True
    return len(batch) == RESCORE_BATCH


def _rescore_one(submission: Submission, ground_truth: GroundTruth) -> None:
    outcome = measure_outside_queue(submission, ground_truth)
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=ground_truth.competition_id)
        if not unmeasured(ground_truth).filter(pk=submission.pk).exists():
            return
        if outcome.result is not None:
            _write_scores(submission, ground_truth, outcome.result)
        else:
            problems = list(outcome.problems) or [{"code": "failed", "message": outcome.failure}]
            if outcome.host_details:  # a refusal is read by the file's author too
                Submission.objects.filter(pk=submission.pk).update(host_details=outcome.host_details)
            Refusal.objects.create(submission=submission, ground_truth=ground_truth, problems=problems)


# --- student previews ------------------------------------------------------------------------------------------

PREVIEW_WAITS = timedelta(seconds=20)


def measure_preview(ground_truth_id: int) -> bool:
    """Measure the sample submission of a ground truth for its host; False where no preview waits for it, or the ground
    truth is not ready.

    It is measured as every file is, but is no submission. A second call does nothing: only an unfinished preview is
    measured.
    """
    previews = StudentPreview.objects.select_related("ground_truth__competition")
    found = previews.filter(ground_truth=ground_truth_id, finished_at=None).first()
    if found is None:
        return False
    ground_truth = found.ground_truth
    sample = Submission(
        competition=ground_truth.competition,
        file_name="sample_submission.csv",
        file_key=ground_truth.sample_key,
        sha256=found.sha256,
    )
    try:
        outcome = measure_outside_queue(sample, ground_truth)
    except (StorageUnreachable, scoring.ScorerInterrupted) as error:
        log.warning("the walk through %s waits: %s", ground_truth, error)
        return False
    waiting = StudentPreview.objects.filter(pk=found.pk, finished_at=None, sent_at=found.sent_at)
    return bool(
        waiting.update(
            finished_at=Now(),
            public=outcome.result.public if outcome.result else None,
            private=outcome.result.private if outcome.result else None,
            problems=list(outcome.problems),
            failure=outcome.host_details or outcome.failure,
        )
    )


def unfinished_previews() -> list[int]:
    """Ground truths whose student preview has been unfinished for a while."""
    late = StudentPreview.objects.filter(finished_at=None, sent_at__lt=Now() - PREVIEW_WAITS)
    return list(late.values_list("ground_truth", flat=True))


# --- the sweep --------------------------------------------------------------------------------------------------


def sweep_queue() -> tuple[list[tuple[str, int]], list[int]]:
    """What needs another wake-up: (submission, ground truth) without a live lease, and candidates still to measure.

    Gives up on rows that were tried too often: *failed*, attempt given back. Any number of sweeps may run at once.
    """
    queue.fail_spent_submissions(SWEPT_AT_ONCE)
    rows = queue.claimable().order_by("received_at")
    by_competition: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for competition_id, submission_id, ground_truth_id in rows.values_list(
        "competition", "pk", "competition__ground_truth"
    )[:SWEPT_AT_ONCE]:
        by_competition[competition_id].append((str(submission_id), ground_truth_id))
    # Oldest first within a competition, one of each in turn, so that no class waits behind another's burst.
    fair = [pair for pair in chain.from_iterable(zip_longest(*by_competition.values())) if pair is not None]
    candidates = Competition.objects.filter(candidate__isnull=False).select_related("candidate")
    ground_truths = [c.candidate.pk for c in candidates if c.candidate and unmeasured(c.candidate).exists()]
    return fair, ground_truths
