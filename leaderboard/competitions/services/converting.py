"""A file that a spreadsheet saved in its own way: what it says as a plain CSV is offered, shown and handed in."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

from django.core.cache import caches
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.queries import only_row
from leaderboard.common.storage import path_of
from leaderboard.scoring import table_jobs

from .. import tasks
from ..models import Conversion, Submission
from ..scoring import measuring
from . import submitting
from .submit_conditions import SubmissionRefused, membership_of, refusal_of_submission

log = logging.getLogger(__name__)

CONVERTIBLE = frozenset({"separator", "encoding", "column_unnamed", "row_width", "quote"})
"""Codes of problems that a file gets which a spreadsheet saved in its own way."""
REMEMBERED_SECONDS = 86_400
NOTHING: dict[str, Any] = {"changes": [], "preview": []}


@dataclass(frozen=True)
class ConversionOffer:
    """What would be changed, in words, and the first lines as they are and as they would be; nothing of it while no
    worker has read the file."""

    changes: list[dict[str, Any]]
    before: list[str]
    after: list[str]


def offer_conversion(submission: Submission) -> ConversionOffer | None:
    """What can be done with a file that was not scored, as far as it is known; None where nothing helps."""
    if not _may_be_convertible(submission) or Conversion.objects.filter(original=submission).exists():
        return None
    answer = caches["default"].get(_answer_key(submission))
    if answer is None:
        return ConversionOffer([], [], [])
    return ConversionOffer(answer["changes"], *answer["preview"]) if answer["changes"] else None


def request_preview(submission: Submission) -> None:
    """Have a worker look what could be done with a file; without an answer it is offered unseen."""
    if _may_be_convertible(submission):
        tasks.wake_workers(tasks.preview_conversion, submission.pk)


_previews: SimpleQueue[UUID | str] = SimpleQueue()
_previewing = threading.Lock()


def preview_conversion(submission_id: UUID | str) -> None:
    """In a worker: read a file, and remember what could be done with it. One at a time: a thread that finds another at
    work leaves the file to it."""
    _previews.put(submission_id)
    while not _previews.empty() and _previewing.acquire(blocking=False):
        try:
            with suppress(Empty):
                _remember_preview(_previews.get_nowait())
        finally:
            _previewing.release()


def _remember_preview(submission_id: UUID | str) -> None:
    found = Submission.objects.select_related("competition__ground_truth").filter(pk=submission_id)
    submission = only_row(found)
    if submission is None or not _may_be_convertible(submission) or caches["default"].get(_answer_key(submission)):
        return
    try:
        with _converted_file(submission):
            pass
    except (table_jobs.JobFailed, FileNotFoundError):
        log.exception("submission %s could not be read for a conversion", submission_id)


def submit_converted(*, submission: Submission, user: User, waited: timedelta = timedelta()) -> Submission:
    """Submit what the conversion makes of a file; the original stays as it is. Asking twice gives the same submission.
    It counts from when it was asked for: now, less the time that the request has `waited` since.

    Raises `SubmissionRefused`, also where nothing can be converted. What can be known without reading the file is asked
    first, so that pressing the button again costs no work.
    """
    competition = submission.competition
    earlier = only_row(Conversion.objects.select_related("submission").filter(original=submission))
    if earlier is not None:
        return earlier.submission
    membership = membership_of(competition, user)
    if refusal := refusal_of_submission(competition, membership, database_now() - waited):
        raise refusal
    known = caches["default"].get(_answer_key(submission)) if _may_be_convertible(submission) else NOTHING
    if known is not None and not known["changes"]:
        raise _not_convertible()
    asked_at = database_now() - waited
    with _converted_file(submission) as (answer, path):
        if not answer["changes"]:
            raise _not_convertible()
        with path.open("rb") as file:
            return submitting.submit_file(
                competition=competition,
                user=user,
                file_name=Path(submission.file_name).stem + ".csv",
                chunks=iter(lambda: file.read(1_048_576), b""),
                note=submission.note,
                upload_key=f"convert-{submission.pk.hex}",
                conversion=Conversion(original=submission, changes=answer["changes"]),
                membership=membership,
                waited=database_now() - asked_at,
            )


def _not_convertible() -> SubmissionRefused:
    return SubmissionRefused("not_convertible", _("This file can't be converted. Correct it and upload it again."))


def _may_be_convertible(submission: Submission) -> bool:
    """Whether a file is one that a spreadsheet may have saved in its own way, by what is known without reading it."""
    return (
        submission.status == Submission.Status.INVALID
        and submission.file_removed_at is None
        and submission.competition.ground_truth is not None
        and any(problem["code"] in CONVERTIBLE for problem in submission.problems)
    )


def _answer_key(submission: Submission) -> str:
    return f"conversion:{submission.pk}:{submission.competition.ground_truth_id}"


@contextmanager
def _converted_file(submission: Submission) -> Iterator[tuple[dict[str, Any], Path]]:
    """What the job said, which is remembered, and the file that it wrote, which is gone after the block."""
    ground_truth = submission.competition.ground_truth
    assert ground_truth is not None, "an offer was made"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "converted.csv"
        try:
            answer = table_jobs.run_page_job(
                "convert_submission",
                **measuring.scoring_arguments(ground_truth),
                submission=str(path_of(submission.file_key, submission.sha256)),
                target=str(target),
            )
        except table_jobs.JobTimedOut:
            answer = NOTHING
        caches["default"].set(_answer_key(submission), answer, REMEMBERED_SECONDS)
        yield answer, target
