"""Score files outside the queue: slow ones, all under a candidate ground truth, the sample for a student preview."""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

import metrics
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions.models import (
    CandidateProblem,
    Competition,
    GroundTruth,
    Score,
    StudentPreview,
    Submission,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.scoring import client
from leaderboard.scoring.scorer_answer import ScorerAnswer

from . import queue
from .claims import MAX_DEATHS, OUR_FAULT
from .outcomes import compute_outcome
from .score import score_one, write_scores

log = logging.getLogger(__name__)

RESCORE_BATCH = 200
RESCORE_SECONDS = 2.0


def score_slow_files() -> None:
    """Score slow files one after another, until none is left, another process scores one, or the storage is away."""
    while (submission_id := queue.next_slow_file()) and score_one(submission_id, in_queue=False) not in (
        "busy",
        "waiting",
    ):
        pass


def compute_outside_queue(submission: Submission, ground_truth: GroundTruth, *, alone: bool = False) -> ScorerAnswer:
    """Like `compute_outcome`, for files that are not in the queue: it tries again itself if the scorer dies."""
    for _ in range(MAX_DEATHS):
        try:
            return compute_outcome(submission, ground_truth, alone=alone)
        except client.ScorerDied as death:
            log.error("the scorer of submission %s under %s died: %s", submission.pk, ground_truth.pk, death)
    return ScorerAnswer(failure=OUR_FAULT)


# --- rescoring --------------------------------------------------------------------------------------------------


def without_scores(ground_truth: GroundTruth) -> Any:
    """Scored submissions that have neither scores nor a refusal under a ground truth, oldest first.

    Only public scores are looked up, because both scores of a file are written in one transaction.
    """
    return (
        Submission.objects.filter(competition=ground_truth.competition_id, status=Submission.Status.SCORED)
        .exclude(pk__in=Score.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC).values("submission"))
        .exclude(pk__in=CandidateProblem.objects.filter(ground_truth=ground_truth).values("submission"))
        .order_by("received_at")
    )


def rescore_batch(ground_truth_id: int) -> bool:
    """Score a batch of submissions with a candidate ground truth; True if some may remain.

    Adds scores under the candidate and changes none, so it may run twice, or in two workers at once.
    """
    ground_truth = GroundTruth.objects.select_related("competition").filter(pk=ground_truth_id).first()
    if ground_truth is None or ground_truth.competition.candidate_id != ground_truth.pk:
        return False
    batch = list(without_scores(ground_truth)[:RESCORE_BATCH])
    # Batches are limited by time too, because new files are scored only between two batches.
    end, outcomes = time.monotonic() + RESCORE_SECONDS, list[ScorerAnswer]()
    try:
        while len(outcomes) < len(batch) and time.monotonic() < end:
            outcomes.append(compute_outside_queue(batch[len(outcomes)], ground_truth))
    finally:
        _write_rescored(ground_truth, dict(zip(batch, outcomes, strict=False)))
    return len(outcomes) < len(batch) or len(batch) == RESCORE_BATCH


@transaction.atomic
def _write_rescored(ground_truth: GroundTruth, outcomes: dict[Submission, ScorerAnswer]) -> None:
    """Write scores and refusals that no other worker has written meanwhile."""
    Competition.objects.select_for_update().get(pk=ground_truth.competition_id)
    written: list[tuple[Submission, GroundTruth, metrics.Result]] = []
    refused: list[CandidateProblem] = []
    for submission in without_scores(ground_truth).filter(pk__in=[submission.pk for submission in outcomes]):
        outcome = outcomes[submission]
        if outcome.result is not None:
            written.append((submission, ground_truth, outcome.result))
            continue
        problems = list(outcome.problems) or [{"code": "failed", "message": outcome.failure}]
        refused.append(CandidateProblem(submission=submission, ground_truth=ground_truth, problems=problems))
        if outcome.host_details:  # not part of the refusal, which the file's author reads too
            Submission.objects.filter(pk=submission.pk).update(host_details=outcome.host_details)
    write_scores(written)
    CandidateProblem.objects.bulk_create(refused)


# --- student previews ------------------------------------------------------------------------------------------

PREVIEW_WAITS = timedelta(seconds=20)


def score_preview(ground_truth_id: int) -> bool:
    """Score the sample submission of a ground truth for the host's student preview; True if the result was stored.

    It is scored like any file but is no submission. A second call does nothing, because only unfinished previews are
    scored.
    """
    previews = StudentPreview.objects.select_related("ground_truth__competition")
    preview = previews.filter(ground_truth=ground_truth_id, finished_at=None).first()
    if preview is None:
        return False
    ground_truth = preview.ground_truth
    sample = Submission(
        competition=ground_truth.competition,
        file_name="sample_submission.csv",
        file_key=ground_truth.sample_key,
        sha256=preview.sha256,
    )
    try:
        outcome = compute_outside_queue(sample, ground_truth)
    except (StorageUnreachable, client.ScorerInterrupted) as error:
        log.warning("the sample of %s waits: %s", ground_truth, error)
        return False
    waiting = StudentPreview.objects.filter(pk=preview.pk, finished_at=None, sent_at=preview.sent_at)
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
    """Ground truths whose student preview has waited longer than `PREVIEW_WAITS`."""
    late = StudentPreview.objects.filter(finished_at=None, sent_at__lt=Now() - PREVIEW_WAITS)
    return list(late.values_list("ground_truth", flat=True))
