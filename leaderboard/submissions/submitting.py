"""Submit a file."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet, Sum
from django.utils.translation import gettext as _

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.storage import StoredFile, clean_name, path_of, remove_file, size_text, store_file
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import (
    Attachment,
    Competition,
    Conversion,
    DailyAttempts,
    GroundTruth,
    Membership,
    Submission,
)
from leaderboard.competitions.models.extension import effective_limits_of

from . import submit_conditions
from .submit_conditions import DuplicateFile, SubmissionRefused, out_of_attempts, refusal_within_cooldown

log = logging.getLogger(__name__)

LARGE_FILE_BYTES = 1_048_576
HEAD_BYTES = 1_048_576


def submit_file(
    *,
    competition: Competition,
    user: User,
    file_name: str,
    chunks: Iterable[bytes],
    note: str = "",
    upload_key: str | None = None,
    may_repeat: bool = True,
    conversion: Conversion | None = None,
    membership: Membership | None = None,
    waited: timedelta = timedelta(),
) -> Submission:
    """Store a file and queue it for scoring. Raises `SubmissionRefused`, `TooLarge` and
    `StorageUnreachable`; nothing is stored then.

    With `may_repeat=False` a file that the team has submitted before raises `DuplicateFile`, so that the page can ask
    for a confirmation.

    `upload_key` identifies this upload: submitting again with the same key (double click, browser retry) returns the
    same submission and uses no second attempt. `conversion` names the earlier file that this one was made from.
    `membership` is the result of `submit_conditions.membership_of`, if the caller has it already.

    The time of receipt is the arrival of the last byte: now minus the time that the request has `waited` since.
    Deadline, pause and disqualification are checked for that time. A file whose first megabyte already shows that it
    cannot be read becomes *invalid* at once and uses no attempt.
    """
    key = f"{user.pk}:{upload_key or uuid.uuid4().hex}"[:64]
    if upload_key and (earlier := _uploads.only_row(competition=competition.pk, key=key)):
        return earlier
    received_at = database_now() - waited
    try:
        membership = membership or submit_conditions.membership_of(competition, user)
        if refusal := submit_conditions.submit_refusal(competition, membership, received_at, closes_at=None):
            raise refusal
        assert membership is not None, "who is no member is refused"
        membership.user = user
        stored = store_file(chunks, f"submissions/{competition.pk}", limit=competition.limits.max_bytes)
        try:
            refuse_beyond_quota(membership, stored)
            if not may_repeat:
                _refuse_repeats(membership, stored)
            submission = Submission(
                competition=membership.competition,
                user=user,
                note=note.strip()[:300],
                file_name=clean_name(file_name),
                file_key=stored.key,
                sha256=stored.sha256,
                size=stored.size,
                upload_key=key,
                received_at=received_at,
            )
            submission = _write_row(submission, membership, conversion)
        except BaseException:
            remove_file(stored.key)
            raise
    except SubmissionRefused as refused:
        log.info("refused", extra={"competition": competition.slug, "code": refused.code})
        raise
    facts = {"submission": str(submission.pk), "competition": competition.slug, "bytes": submission.size}
    log.info("received", extra={**facts, "status": submission.status})
    return submission


@PreparedQuery
def _uploads(competition: int, key: str) -> QuerySet[Submission]:
    return Submission.objects.filter(competition=competition, upload_key=key).order_by()


def _refuse_repeats(membership: Membership, stored: StoredFile) -> None:
    """Raise `DuplicateFile` if the team has submitted the same bytes before.

    Earlier files that used no attempt do not count: the same bytes will use none either, or were never scored.
    """
    earlier = Submission.objects.using_attempts().with_same_bytes(membership.team_id, stored.sha256).first()
    if earlier is not None:
        raise DuplicateFile(earlier)


def refuse_beyond_quota(membership: Membership, stored: StoredFile) -> None:
    """Raise `SubmissionRefused` if the team's files would exceed `TEAM_BYTES`.

    Not checked for small files, which are limited by the attempts per day, to save the query.
    """
    if stored.size < LARGE_FILE_BYTES:
        return
    files = Submission.objects.with_stored_file().filter(team=membership.team_id)
    attached = Attachment.objects.filter(submission__team=membership.team_id)
    taken = sum(rows.aggregate(bytes=Sum("size", default=0))["bytes"] for rows in (files, attached))
    if taken + stored.size > settings.TEAM_BYTES:
        message = _(
            "Your team's files would exceed %(most)s, the limit. Unreadable files are deleted after two "
            "weeks. Compress this file (.gz), or ask a host."
        )
        raise SubmissionRefused("team_bytes", message % {"most": size_text(settings.TEAM_BYTES)})


def _write_row(submission: Submission, membership: Membership, conversion: Conversion | None) -> Submission:
    """Write the row of a stored file; returns the earlier submission if this upload was received before.

    Starts again if the ground truth has changed during the upload, or the team is gone. Raises `SubmissionRefused`.
    """
    competition = membership.competition
    received_at = submission.received_at
    problems = check_beginning(submission.file_key, submission.size, competition.ground_truth)
    submission.status = Submission.Status.INVALID if problems else Submission.Status.PENDING
    submission.problems = problems
    submission.finished_at = received_at if problems else None
    # Checked before the lock, because all uploads and workers wait for SQLite's one writer. So files that arrive at the
    # same time may exceed this limit, as files do that still wait for their scores.
    pause = refusal_within_cooldown(membership, received_at)
    try:
        with transaction.atomic():
            reloaded = submit_conditions.lock_membership(membership)
            if reloaded.competition.ground_truth_id == competition.ground_truth_id:
                _use_attempt(submission, reloaded, pause)
                submission.save(force_insert=True)
                if conversion is not None:
                    conversion.submission = submission
                    conversion.save(force_insert=True)
                if not problems:
                    transaction.on_commit(partial(_wake_worker, submission), robust=True)
                return submission
    except IntegrityError:
        if earlier := _uploads.only_row(competition=competition.pk, key=submission.upload_key):
            remove_file(submission.file_key)
            return earlier
        reloaded = submit_conditions.reload_membership(membership)
        if reloaded.team_id == membership.team_id:
            raise
    return _write_row(submission, reloaded, conversion)  # checks the beginning with the current ground truth


def check_beginning(file_key: str, size: int, ground_truth: GroundTruth | None) -> list[dict[str, Any]]:
    """Problems found in the first megabyte of a file: container, encoding, header. JSON as `Submission.problems`."""
    with path_of(file_key).open("rb") as file:
        head = file.read(HEAD_BYTES)
    columns, rows = (ground_truth.submission_columns, ground_truth.rows) if ground_truth else (None, None)
    metric = ground_truth.library_metric if ground_truth else None
    problems = metrics.sniff(
        head,
        size,
        columns,
        expected_rows=rows,
        aliases=metric.format.aliases if metric else (),
        may_be_empty=metric is not None and metric.format.may_miss_ids,
        longest_line=metric.longest_line if metric else HEAD_BYTES,
    )
    return [problem.as_stored() for problem in problems]


def _wake_worker(submission: Submission) -> None:
    if not wake_ups.are_all_workers_awake():
        wake_ups.wake_workers(wake_ups.SCORE_NEXT_SUBMISSIONS, submission.pk, submission.competition.ground_truth_id)


def _use_attempt(submission: Submission, membership: Membership, pause: SubmissionRefused | None) -> None:
    """Count the attempt and set `team` and `is_late` by the conditions at the time of receipt.

    Raises `SubmissionRefused`. The caller holds the competition's lock, so files that arrive at the same time are
    counted one by one.
    """
    competition, team, received_at = membership.competition, membership.team, submission.received_at
    day = competition.day_of(received_at)
    limits = effective_limits_of(team.pk, competition)
    if refusal := submit_conditions.submit_refusal(competition, membership, received_at, closes_at=limits.closes_at):
        raise refusal
    if pause:
        raise pause
    if not DailyAttempts.use_attempt(team.pk, day, limits.daily_attempts):
        raise out_of_attempts(limits.daily_attempts, by_person=False)
    if submit_conditions.attempts_of_person(membership, day) >= limits.daily_attempts:
        raise out_of_attempts(limits.daily_attempts, by_person=True)
    if submission.status == Submission.Status.INVALID:
        DailyAttempts.return_attempt(team.pk, day)
    submission.team, submission.is_late = team, received_at >= limits.closes_at
