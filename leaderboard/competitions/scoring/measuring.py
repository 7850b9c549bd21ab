"""What a file comes to under a ground truth: it is looked at by the scorer's processes, never by this one."""

from __future__ import annotations

import errno
import hashlib
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop

import metrics
from leaderboard import scoring
from leaderboard.common.storage import StorageUnreachable, path_of

from ..models import GroundTruth, Submission
from .queue import MAX_DEATHS, OUR_FAULT, TOO_LONG

log = logging.getLogger(__name__)

MAX_HOST_DETAILS = 2000

# A file that takes so many times as long as the quickest one under its ground truth is measured outside the queue, and
# none holds the queue for longer than the maximum; seconds.
SLOW_FROM, LEAST_BEFORE_SLOW, MOST_BEFORE_SLOW = 20, 2.0, 8.0

DAMAGED_FILE_TEXT = gettext_noop("The stored file is damaged. We told the host and returned your attempt.")


# What a machine lacks at this moment, or will not let this process have. It says nothing about a file, and ends when
# somebody mends the machine.
TEMPORARY_ERRORS = frozenset(
    {
        *(errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT),
        *(errno.EACCES, errno.EPERM, errno.ESTALE, errno.ETIMEDOUT),
    }
)


class TakesTooLongForQueue(Exception):
    """A file took longer than the queue may wait for it."""


class DamagedFile(Exception):
    """The stored file is missing or no longer has the hash of its receipt."""


@dataclass(frozen=True)
class MeasuringOutcome:
    """What measuring a file came to: a result with warnings, or all problems of the file, or our own failure; what the
    metric said about that is for the host alone."""

    result: metrics.Result | None = None
    problems: tuple[dict[str, Any], ...] = ()
    warnings: tuple[dict[str, Any], ...] = ()
    failure: str = ""
    host_details: str = ""


def measure_submission(
    submission: Submission, ground_truth: GroundTruth, seconds: float = math.inf, alone: bool = False
) -> MeasuringOutcome:
    """Have the file read and its scores computed, `alone` by a fresh process; a failure of theirs is an outcome.

    Raises `StorageUnreachable` where nobody knows what the file is or this machine cannot measure now,
    `scoring.ScorerDied`, `scoring.ScorerInterrupted`, and `TakesTooLongForQueue` where the file takes more than these
    seconds, if the site allows more.
    """
    try:
        with _retry_temporary_errors():
            return _run_scorer(submission, ground_truth, seconds, alone)
    except (StorageUnreachable, scoring.ScorerDied, scoring.ScorerInterrupted):
        raise
    except DamagedFile:
        log.error("submission %s: the stored file is damaged", submission.pk)
        return MeasuringOutcome(failure=DAMAGED_FILE_TEXT)
    except metrics.UnknownMetric as error:
        log.error("submission %s under %s: %s", submission.pk, ground_truth.pk, error)
        return MeasuringOutcome(failure=OUR_FAULT, host_details=f"{error} The operator can put its file back.")
    except scoring.JobTimedOut:
        if seconds < settings.SCORING_TIME_LIMIT:
            raise TakesTooLongForQueue from None
        log.error("submission %s under %s took too long", submission.pk, ground_truth.pk)
        return MeasuringOutcome(failure=TOO_LONG % {"seconds": f"{settings.SCORING_TIME_LIMIT:g}"})
    except Exception:
        log.exception("submission %s under %s could not be measured", submission.pk, ground_truth.pk)
        return MeasuringOutcome(failure=OUR_FAULT)


@contextmanager
def _retry_temporary_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in TEMPORARY_ERRORS:
            raise StorageUnreachable(str(error)) from error
        raise


def _run_scorer(submission: Submission, ground_truth: GroundTruth, seconds: float, alone: bool) -> MeasuringOutcome:
    file, spec = _verified_path(submission), truth_spec_of(ground_truth)
    with suppress(FileNotFoundError):  # the scorer's processes say that
        Path(spec.truth).open("rb").close()
    limits = scoring.ScoringLimits(settings.SCORING_TIME_LIMIT, settings.SCORING_MEMORY_MB, file_seconds=seconds)
    return _outcome(submission, ground_truth, scoring.score_file(spec, file, limits, alone=alone))


def seconds_in_queue(ground_truth: GroundTruth) -> float:
    """How long a file may take before it leaves the queue. Where even the quickest file takes that long all files do,
    and leaving the queue would help nobody."""
    quickest = ground_truth.quickest_seconds
    if quickest is None:
        return MOST_BEFORE_SLOW
    if quickest > MOST_BEFORE_SLOW / 2:
        return math.inf
    return min(max(LEAST_BEFORE_SLOW, SLOW_FROM * quickest), MOST_BEFORE_SLOW)


def measure_outside_queue(
    submission: Submission, ground_truth: GroundTruth, *, alone: bool = False
) -> MeasuringOutcome:
    """As `measure_submission`, for a file that no worker would try again: a death is tried again here."""
    for _ in range(MAX_DEATHS):
        try:
            return measure_submission(submission, ground_truth, math.inf, alone)
        except scoring.ScorerDied as death:
            log.error("the scorer of submission %s under %s died: %s", submission.pk, ground_truth.pk, death)
    return MeasuringOutcome(failure=OUR_FAULT)


def truth_spec_of(ground_truth: GroundTruth) -> scoring.TruthSpec:
    """What the scorer must know of a ground truth. Raises `StorageUnreachable`, `OSError`."""
    return scoring.TruthSpec(mark=f"{ground_truth.pk} {ground_truth.sha256}", **scoring_arguments(ground_truth))


def scoring_arguments(ground_truth: GroundTruth) -> dict[str, Any]:
    """What every job on files under a ground truth is told of it. Raises `StorageUnreachable`, `OSError`."""
    return {
        "metric": ground_truth.metric_key,
        "truth": str(path_of(ground_truth.file_key, ground_truth.sha256)),
        "params": ground_truth.params,
        "id_column": ground_truth.id_column,
        "secondary": ground_truth.secondary_asked,
    }


def _outcome(submission: Submission, ground_truth: GroundTruth, answer: scoring.ScorerAnswer) -> MeasuringOutcome:
    if answer.failure:
        where = f" ({answer.details})" if answer.details else ""
        log.error("submission %s under %s: %s%s", submission.pk, ground_truth.pk, answer.failure, where)
        return MeasuringOutcome(failure=OUR_FAULT, host_details=answer.host_details[:MAX_HOST_DETAILS])
    if answer.result is not None and not all(
        value is not None and math.isfinite(value) for value in (answer.result.public, answer.result.private)
    ):
        raise ValueError("a published ground truth has both splits")
    return MeasuringOutcome(
        result=answer.result,
        problems=answer.problems,
        warnings=answer.warnings,
        host_details=answer.host_details[:MAX_HOST_DETAILS],
    )


def _verified_path(submission: Submission) -> Path:
    """Where the file lies, once it is known to be the one received; it is never in memory as a whole."""
    try:
        path = path_of(submission.file_key, submission.sha256)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        if error.errno in TEMPORARY_ERRORS:
            raise
        raise DamagedFile from error
    if digest != submission.sha256:
        raise DamagedFile
    return path
