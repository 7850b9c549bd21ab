"""A student hands in a file."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.common import prometheus_counters
from leaderboard.common.clock import database_now
from leaderboard.common.storage import StoredFile, clean_name, remove_file, size_text, store_file

from .. import tasks
from ..models import Competition, Conversion, DailyAttempts, Membership, Submission
from ..models.extension import effective_limits_of
from ..scoring import queue
from . import submit_conditions
from .checking import check_beginning
from .submit_conditions import (
    DuplicateFile,
    SubmissionRefused,
    out_of_attempts,
    refusal_of_submission,
    refused_today,
)

log = logging.getLogger(__name__)

REFUSED_FILES_PER_DAY = 20
LARGE = 1_048_576


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
) -> Submission:
    """Store a file and queue it for scoring; raises `SubmissionRefused` and then keeps nothing.

    Without `may_repeat` a file whose bytes the team handed in before raises `DuplicateFile`, so that one can ask first.

    `upload_key` names this upload: handing in again under the same key (double click, browser retry) gives the same
    submission and uses no second attempt. A `conversion` says of which earlier file this one was made.

    The receipt is taken when the last byte is stored, and what holds at that moment decides: deadline, pause,
    disqualification. A file whose beginning already shows that it cannot be read becomes *invalid* at once and uses no
    attempt.
    """
    membership = submit_conditions.membership_of(competition, user)
    if membership:
        membership.competition, membership.user = competition, user
    key = f"{user.pk}:{upload_key or uuid.uuid4().hex}"[:64]
    if upload_key and (earlier := Submission.objects.filter(competition=competition, upload_key=key).first()):
        return earlier
    with _log_refusals(competition):
        if refusal := refusal_of_submission(competition, membership, database_now()):
            raise refusal
        assert membership is not None, "who is no member is refused"
        stored = store_file(chunks, f"submissions/{competition.pk}", limit=competition.limits.max_bytes)
        try:
            _refuse_beyond_quota(membership, stored)
            if not may_repeat:
                _refuse_repeats(membership, stored)
            submission = _create_submission(
                membership, stored, key, clean_name(file_name), note.strip()[:300], conversion
            )
        except BaseException:
            remove_file(stored.key)
            raise
    facts = {"submission": str(submission.pk), "competition": competition.slug, "bytes": submission.size}
    log.info("received", extra={**facts, "status": submission.status})
    return submission


def _refuse_repeats(membership: Membership, stored: StoredFile) -> None:
    """Files that used no attempt are no reason to ask: their bytes will use none either, or were never scored."""
    counts = Submission.objects.filter(status__in=[Submission.Status.PENDING, Submission.Status.SCORED])
    earlier = counts.with_same_bytes(membership.team_id, stored.sha256).first()
    if earlier is not None:
        raise DuplicateFile(earlier)


def _refuse_beyond_quota(membership: Membership, stored: StoredFile) -> None:
    """Small files are bounded by the attempts of a day, so only large ones cost the question."""
    if stored.size < LARGE:
        return
    files = Submission.objects.with_stored_file().filter(team=membership.team_id)
    taken = files.aggregate(bytes=Sum("size", default=0))["bytes"]
    if taken + stored.size > settings.TEAM_BYTES:
        words = _(
            "Your team's files would exceed %(most)s, the limit. Unreadable files are deleted after two "
            "weeks. Compress this file (.gz), or ask a host."
        )
        raise SubmissionRefused("team_bytes", words % {"most": size_text(settings.TEAM_BYTES)})


@contextmanager
def _log_refusals(competition: Competition) -> Iterator[None]:
    """Log and count a refusal."""
    try:
        yield
    except SubmissionRefused as refusal:
        log.info("refused", extra={"competition": competition.slug, "code": refusal.code})
        prometheus_counters.REFUSED_UPLOADS.labels(refusal.code).inc()
        raise


def _create_submission(
    membership: Membership,
    stored: StoredFile,
    key: str,
    file_name: str,
    note: str,
    conversion: Conversion | None = None,
) -> Submission:
    received_at = database_now()
    membership, ground_truth = submit_conditions.refresh_membership(membership)
    competition = membership.competition
    day = competition.day_of(received_at)
    problems = check_beginning(stored, ground_truth)
    submission = Submission(
        competition=competition,
        team=membership.team,
        user=membership.user,
        note=note,
        file_name=file_name,
        file_key=stored.key,
        sha256=stored.sha256,
        size=stored.size,
        received_at=received_at,
        upload_key=key,
    )
    if problems:
        submission.status = Submission.Status.INVALID
        submission.problems = problems
        submission.finished_at = received_at
    try:
        with transaction.atomic():
            held = submit_conditions.lock_competition(competition)
            if refusal := submit_conditions.refusal_begun_before(held, membership.team_id, received_at):
                raise refusal
            effective_limits = effective_limits_of(membership.team_id, held, day)
            submission.is_late = submit_conditions.check_deadline(held, effective_limits, received_at)
            _take_attempt(membership, received_at, effective_limits.daily_attempts, is_refused=bool(problems))
            submission.save(force_insert=True)
            if conversion is not None:
                conversion.submission = submission
                conversion.save(force_insert=True)
            if not problems and not queue.is_queue_long_enough():
                tasks.wake_workers_after_commit(tasks.score_submission, submission.pk, ground_truth and ground_truth.pk)
    except IntegrityError:
        earlier = Submission.objects.filter(competition=competition, upload_key=key).first()
        if earlier is None:
            if submit_conditions.refresh_membership(membership)[0].team_id != membership.team_id:
                return _create_submission(membership, stored, key, file_name, note, conversion)
            raise
        remove_file(stored.key)
        return earlier
    return submission


def select_finals(*, competition: Competition, user: User, submission_ids: Sequence[str], at: datetime) -> None:
    """Pick the submissions that decide; raises `SubmissionRefused` after the deadline or for more than allowed."""
    membership = submit_conditions.membership_with_ground_truth(competition, user)
    if membership is None:
        raise SubmissionRefused("not_joined", _("Join the competition first."))
    with transaction.atomic():
        if (
            at
            >= effective_limits_of(
                membership.team_id, submit_conditions.lock_competition(competition), competition.day_of(at)
            ).closes_at
        ):
            raise SubmissionRefused("closed", _("The deadline has passed. You can't change your final submissions."))
        mine = Submission.objects.select_for_update().filter(
            team=membership.team_id, status=Submission.Status.SCORED, is_late=False
        )
        chosen = mine.filter(pk__in=submission_ids, hidden_at=None)
        if len(chosen) > competition.limits.final_count:
            raise SubmissionRefused(
                "too_many",
                ngettext(
                    "Choose at most %(number)s submission.",
                    "Choose at most %(number)s submissions.",
                    competition.limits.final_count,
                )
                % {"number": competition.limits.final_count},
            )
        # A hidden pick is given up too: shown again, it would be one too many.
        mine.exclude(pk__in=[file.pk for file in chosen]).update(is_selected=False)
        chosen.update(is_selected=True)
        # No board shows picks before the reveal, but a host's pages are made of what they decide.
        competition.touch_board()


def save_note(*, submission: Submission, note: str) -> None:
    """Write what a team remembers of a file; nothing that counts rests on it, so it may change at any time."""
    Submission.objects.filter(pk=submission.pk).update(note=note.strip()[:300])


def _take_attempt(membership: Membership, received_at: datetime, limit: int, *, is_refused: bool) -> None:
    """Inside the transaction that holds the competition, so that files of the same moment are counted one by one."""
    if refused_today(membership, received_at) >= REFUSED_FILES_PER_DAY:
        raise SubmissionRefused(
            "refused_files",
            _(
                "%(number)s of your files were unreadable today. Use “Check only” first, and try again after "
                "midnight. Your teammates can still submit."
            )
            % {"number": REFUSED_FILES_PER_DAY},
        )
    day = membership.competition.day_of(received_at)
    if not DailyAttempts.use_attempt(membership.team_id, day, limit):
        raise out_of_attempts(limit)
    if is_refused:
        DailyAttempts.return_attempt(membership.team_id, day, refused=True)
