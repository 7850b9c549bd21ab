"""A file that a spreadsheet saved in its own way: what it says as a plain CSV is offered, shown and handed in."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.cache import caches
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.scoring import jobs_for_pages

from ..models import Conversion, Submission
from ..scoring import measuring
from . import submitting
from .submit_conditions import SubmissionRefused

CONVERTIBLE = frozenset({"separator", "encoding", "column_unnamed", "row_width", "quote"})
"""Codes of problems that a file gets which a spreadsheet saved in its own way."""


@dataclass(frozen=True)
class ConversionOffer:
    """What would be changed, in words, and the first lines as they are and as they would be."""

    changes: list[dict[str, Any]]
    before: list[str]
    after: list[str]


def offer_conversion(submission: Submission) -> ConversionOffer | None:
    """What can be done with a file that was not scored; None where nothing helps. Costs a job once for each file."""
    if submission.status != Submission.Status.INVALID or submission.file_removed_at is not None:
        return None
    if not CONVERTIBLE & {problem["code"] for problem in submission.problems}:
        return None
    if submission.competition.ground_truth is None or Conversion.objects.filter(original=submission).exists():
        return None
    key = f"conversion:{submission.pk}:{submission.competition.ground_truth.pk}"
    found: Any = caches["default"].get_or_set(key, lambda: _try_conversion(submission), 3600)
    return ConversionOffer(found["changes"], *found["preview"]) if found["changes"] else None


def submit_converted(*, submission: Submission, user: User) -> Submission:
    """Hand in what the conversion makes of a file, as a submission of its own; the original stays as it is.

    Raises `SubmissionRefused`, also where nothing can be converted. Asking twice gives the same submission.
    """
    with _converted_file(submission) as (answer, path):
        if not answer["changes"]:
            raise SubmissionRefused(
                "not_convertible", _("This file can't be converted. Correct it and upload it again.")
            )
        with path.open("rb") as file:
            return submitting.submit_file(
                competition=submission.competition,
                user=user,
                file_name=Path(submission.file_name).stem + ".csv",
                chunks=iter(lambda: file.read(1_048_576), b""),
                note=submission.note,
                upload_key=f"convert-{submission.pk.hex}",
                conversion=Conversion(original=submission, changes=answer["changes"]),
            )


def _try_conversion(submission: Submission) -> dict[str, Any]:
    try:
        with _converted_file(submission) as (answer, _path):
            return answer
    except (jobs_for_pages.JobFailed, FileNotFoundError):
        return {"changes": [], "preview": []}


@contextmanager
def _converted_file(submission: Submission) -> Iterator[tuple[dict[str, Any], Path]]:
    """What the job said, and the file that it wrote, which is gone after the block."""
    ground_truth = submission.competition.ground_truth
    assert ground_truth is not None, "an offer was made"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "converted.csv"
        answer = jobs_for_pages.run_page_job(
            "convert_submission",
            **measuring.scoring_arguments(ground_truth),
            submission=str(path_of(submission.file_key, submission.sha256)),
            target=str(target),
        )
        yield answer, target
