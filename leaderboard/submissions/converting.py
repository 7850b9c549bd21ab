"""Conversion of invalid files saved by spreadsheets: offer, preview, and submit the same content as a plain CSV."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Iterator, Sequence
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
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Conversion, Submission
from leaderboard.scoring import table_jobs

from . import outcomes, submitting
from .allowances import submit_refusal_now
from .submit_conditions import SubmissionRefused, membership_of

log = logging.getLogger(__name__)

CONVERTIBLE = frozenset(
    {"separator", "encoding", "column_unnamed", "row_width", "quote", "comment", "decimal_comma", "control_character"}
    | {"header_missing", "column_missing", "column_extra", "unknown_ids"}
    | {"foreign_labels", "not_a_number", "not_label_and_confidence"}
)
"""Codes of problems that are typical for files saved by spreadsheets."""
REMEMBERED_SECONDS = 86_400
NOTHING: dict[str, Any] = {"changes": [], "preview": [], "left": []}


@dataclass(frozen=True)
class ConversionOffer:
    """The changes of a conversion, and the first lines before and after it; all empty until a worker read the file."""

    changes: list[dict[str, Any]]
    before: list[str]
    after: list[str]
    left: Sequence[dict[str, Any]] = ()
    """The problems that a conversion would leave; then it is no offer, but says all that is wrong at once."""


def offer_conversion(submission: Submission) -> ConversionOffer | None:
    """The conversion offered for an invalid file, or what it would leave; None if there is none or it was made."""
    if not _may_be_convertible(submission) or Conversion.objects.filter(original=submission).exists():
        return None
    answer = caches["default"].get(_answer_key(submission))
    if answer is None:
        return ConversionOffer([], [], [])
    if answer["changes"]:
        return ConversionOffer(answer["changes"], *answer["preview"])
    return ConversionOffer([], [], [], answer["left"]) if answer.get("left") else None


def request_preview(submission: Submission) -> None:
    """Have a worker compute the preview of a conversion; until then the conversion is offered without a preview."""
    if _may_be_convertible(submission):
        wake_ups.wake_workers(wake_ups.PREVIEW_CONVERSION, submission.pk)


_previews: SimpleQueue[UUID | str] = SimpleQueue()
_previewing = threading.Lock()


def preview_conversion(submission_id: UUID | str) -> None:
    """Read a file in a worker and cache the preview of its conversion.

    A process reads one file at a time: while another of its threads does, the file waits in `_previews` for it.
    """
    _previews.put(submission_id)
    while not _previews.empty() and _previewing.acquire(blocking=False):
        try:
            with suppress(Empty):
                _make_preview(_previews.get_nowait())
        finally:
            _previewing.release()


def _make_preview(submission_id: UUID | str) -> None:
    rows = Submission.objects.select_related("competition__ground_truth").filter(pk=submission_id)
    submission = only_row(rows)
    if submission is None or not _may_be_convertible(submission) or caches["default"].get(_answer_key(submission)):
        return
    try:
        with _converted_file(submission):
            pass
    except (table_jobs.JobFailed, FileNotFoundError):
        log.exception("submission %s could not be read for a conversion", submission_id)


def submit_converted(*, submission: Submission, user: User, waited: timedelta = timedelta()) -> Submission:
    """Convert a file and submit the result; the original is kept. A second call returns the same submission.

    The time of receipt is that of the click: now minus `waited`, before the file is converted. Raises
    `SubmissionRefused`, also if no conversion helps. Checks that need not read the file come first, so that a repeated
    click costs no work.
    """
    competition = submission.competition
    earlier = only_row(Conversion.objects.select_related("submission").filter(original=submission))
    if earlier is not None:
        return earlier.submission
    membership = membership_of(competition, user)
    if refusal := submit_refusal_now(competition, membership, database_now() - waited):
        raise refusal
    cached = caches["default"].get(_answer_key(submission)) if _may_be_convertible(submission) else NOTHING
    if cached is not None and not cached["changes"]:
        raise _not_convertible()
    clicked_at = database_now() - waited
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
                waited=database_now() - clicked_at,
            )


def _not_convertible() -> SubmissionRefused:
    return SubmissionRefused("not_convertible", _("This file can't be converted. Correct it and upload it again."))


def _may_be_convertible(submission: Submission) -> bool:
    """Whether a conversion may help a file, judged by its stored problems."""
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
    """(answer of the job, which is cached; path of the converted file, which is deleted after the block)."""
    ground_truth = submission.competition.ground_truth
    assert ground_truth is not None, "an offer was made"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "converted.csv"
        try:
            answer = table_jobs.run_page_job(
                "convert_submission",
                **outcomes.scoring_arguments(ground_truth),
                submission=str(path_of(submission.file_key, submission.sha256)),
                target=str(target),
            )
        except table_jobs.JobTimedOut:
            answer = NOTHING
        caches["default"].set(_answer_key(submission), answer, REMEMBERED_SECONDS)
        yield answer, target
