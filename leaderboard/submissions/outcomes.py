"""Score one file under a ground truth. The file is parsed by the sealed scorer process, never by this one."""

from __future__ import annotations

import errno
import hashlib
import logging
import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop

import metrics
from leaderboard.common.storage import StorageUnreachable, path_of
from leaderboard.competitions.models import GroundTruth, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.scoring import client
from leaderboard.scoring.scorer_answer import ScorerAnswer, ScoringLimits, TruthSpec
from metrics.core.messages import templates_of

from .claims import OUR_FAULT, TOO_LONG

log = logging.getLogger(__name__)

MAX_HOST_DETAILS = 2000

# A file that takes more than SLOW_FROM times as long as the quickest one under its ground truth is scored outside the
# queue. The limit is between the other two, in seconds.
SLOW_FROM, MIN_SECONDS_BEFORE_SLOW, MAX_SECONDS_BEFORE_SLOW = 20, 2.0, 8.0

DAMAGED_FILE_TEXT = gettext_noop("The stored file is damaged. We told the host and returned your attempt.")


# Errors of the machine, such as a full disk or missing rights. They say nothing about the file, so it is scored later.
TEMPORARY_ERRORS = frozenset(
    {
        *(errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT),
        *(errno.EACCES, errno.EPERM, errno.ESTALE, errno.ETIMEDOUT),
    }
)


class DamagedFile(Exception):
    """The stored file is missing, or its hash differs from that of its receipt."""


def compute_outcome(
    submission: Submission, ground_truth: GroundTruth, seconds: float = math.inf, alone: bool = False
) -> ScorerAnswer:
    """Score a file in the sealed process, with `alone` in a fresh one. A failure is an answer, not an exception: its
    text is for the student, and `host_details`, the metric's message, for hosts only.

    Raises `StorageUnreachable` if the storage or this machine cannot be used now, `client.ScorerDied`,
    `client.ScorerInterrupted`, and `client.JobTimedOut` if the file takes more than `seconds` and the site's limit
    is higher.
    """
    try:
        return _run_scorer(submission, ground_truth, seconds, alone)
    except (StorageUnreachable, client.ScorerDied, client.ScorerInterrupted):
        raise
    except DamagedFile:
        log.error("submission %s: the stored file is damaged", submission.pk)
        return ScorerAnswer(failure=DAMAGED_FILE_TEXT)
    except metrics.UnknownMetric as error:
        log.error("submission %s under %s: %s", submission.pk, ground_truth.pk, error)
        return ScorerAnswer(failure=OUR_FAULT, host_details=f"{error} The operator can put its file back.")
    except client.JobTimedOut:
        if seconds < settings.SCORING_TIME_LIMIT:
            raise
        log.error("submission %s under %s took too long", submission.pk, ground_truth.pk)
        return ScorerAnswer(failure=TOO_LONG % {"seconds": f"{settings.SCORING_TIME_LIMIT:g}"})
    except Exception as error:
        if isinstance(error, OSError) and error.errno in TEMPORARY_ERRORS:
            raise StorageUnreachable(str(error)) from error
        log.exception("submission %s under %s could not be scored", submission.pk, ground_truth.pk)
        return ScorerAnswer(failure=OUR_FAULT)


def _run_scorer(submission: Submission, ground_truth: GroundTruth, seconds: float, alone: bool) -> ScorerAnswer:
    file, spec = _verified_path(submission), truth_spec_of(ground_truth)
    with suppress(FileNotFoundError):  # the sealed process reports a missing file itself
        Path(spec.truth).open("rb").close()
    limits = ScoringLimits(settings.SCORING_TIME_LIMIT, settings.SCORING_MEMORY_MB, file_seconds=seconds)
    return _checked_answer(submission, ground_truth, client.score_file(spec, file, limits, alone=alone))


def seconds_in_queue(ground_truth: GroundTruth) -> float:
    """Seconds that a file may take before it is moved out of the queue; infinite if even the quickest file is slow,
    because then moving files out would not speed up the others."""
    quickest = ground_truth.quickest_seconds
    if quickest is None:
        return MAX_SECONDS_BEFORE_SLOW
    if quickest > MAX_SECONDS_BEFORE_SLOW / 2:
        return math.inf
    return min(max(MIN_SECONDS_BEFORE_SLOW, SLOW_FROM * quickest), MAX_SECONDS_BEFORE_SLOW)


def truth_spec_of(ground_truth: GroundTruth) -> TruthSpec:
    """The description of a ground truth for `client.score_file`. Raises `StorageUnreachable`, `OSError`."""
    return TruthSpec(mark=f"{ground_truth.pk} {ground_truth.sha256}", **scoring_arguments(ground_truth))


def scoring_arguments(ground_truth: GroundTruth) -> dict[str, Any]:
    """Arguments about a ground truth for jobs in the sealed process. Raises `StorageUnreachable`, `OSError`."""
    return {
        "metric": ground_truth.metric_key,
        "truth": str(path_of(ground_truth.file_key, ground_truth.sha256)),
        "params": ground_truth.params,
        "id_column": ground_truth.id_column,
        "secondary": ground_truth.secondary_with_versions,
    }


def _checked_answer(submission: Submission, ground_truth: GroundTruth, answer: ScorerAnswer) -> ScorerAnswer:
    host_details = answer.host_details[:MAX_HOST_DETAILS]
    if answer.failure:
        where = f" ({answer.details})" if answer.details else ""
        log.error("submission %s under %s: %s%s", submission.pk, ground_truth.pk, answer.failure, where)
        return ScorerAnswer(failure=OUR_FAULT, host_details=host_details)
    if answer.result is not None and not all(
        value is not None and math.isfinite(value) for value in (answer.result.public, answer.result.private)
    ):
        raise ValueError("a published ground truth has both splits")
    return replace(answer, host_details=host_details)


def _verified_path(submission: Submission) -> Path:
    """Path of the stored file after checking its hash, without reading it into memory as a whole.

    Raises `DamagedFile`, and `OSError` for temporary errors of the machine.
    """
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


# --- rows of results --------------------------------------------------------------------------------------------


def score_of(submission: Submission, ground_truth: GroundTruth, result: metrics.Result, split: Split) -> Score:
    """The row to store for a result on a split."""
    value = result.public if split == Split.PUBLIC else result.private
    assert value is not None, "a published ground truth has both splits"
    return Score(
        submission=submission,
        ground_truth=ground_truth,
        split=split,
        value=value,
        **stored_interval(result.uncertainty.get(split.value)),
        parts=dict(result.parts.get(split.value, {})),
        secondary=stored_secondary(result, split),
        metric_version=metrics.get(ground_truth.metric_key).version,
    )


def stored_interval(uncertainty: metrics.Uncertainty | None) -> dict[str, float | None]:
    """Columns for the interval of a score: infinite ends are None; {} for metrics without intervals."""
    if uncertainty is None:
        return {}
    low, high = (end if math.isfinite(end) else None for end in (uncertainty.low, uncertainty.high))
    return {"standard_error": uncertainty.standard_error, "low": low, "high": high}


def stored_secondary(result: metrics.Result, split: Split) -> list[dict[str, Any]]:
    """JSON with the values of secondary metrics on a split, or the problem in place of a value."""
    values = [(getattr(secondary, split.value), secondary.problem) for secondary in result.secondary]
    return [
        {"problem": problem, **templates_of(problem=problem)} if value is None else {"value": value}
        for value, problem in values
    ]
