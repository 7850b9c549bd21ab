"""Score files without a score once more, after the cause was fixed; delete invalid files after two weeks."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common import storage
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent, audit_team
from leaderboard.competitions import hooks, wake_ups
from leaderboard.competitions.models import Competition, DailyAttempts, Submission
from leaderboard.competitions.services import CannotHost, lock_competition

MAX_AT_ONCE = 500
NAMED = 20
WITHOUT_SCORE = (Submission.Status.FAILED, Submission.Status.INVALID)


def submissions_without_score(files: QuerySet[Submission]) -> QuerySet[Submission]:
    """Teams' files that failed or were invalid and are still stored, in order of receipt."""
    stored = files.filter(file_removed_at=None)
    return stored.filter(team__isnull=False, status__in=WITHOUT_SCORE).order_by("received_at", "pk")


def score_again(*, competition: Competition, user: User | None, files: QuerySet[Submission]) -> int:
    """Queue files that failed or were invalid for scoring once more; returns how many.

    At most `MAX_AT_ONCE`, oldest first. Times of receipt stay, so files received on time count. Each file uses an
    attempt of its day again, even beyond the limit; it is returned if the file again gets no score. Raises `CannotHost`
    if there is no such file.
    """
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        chosen = list(submissions_without_score(files.filter(competition=locked)).select_related("team")[:MAX_AT_ONCE])
        if not chosen or locked.ground_truth_id is None:
            raise CannotHost(_("All these submissions have scores."))
        keys = [file.pk for file in chosen]
        Submission.objects.with_stored_file().filter(pk__in=keys).reset_to_pending(rescored_requested_at=database_now())
        _count_attempts(chosen)
        for key in keys[: wake_ups.MAX_WAKE_UPS]:  # workers that are awake go on with the others
            wake_ups.wake_workers_after_commit(wake_ups.SCORE_NEXT_SUBMISSIONS, key, locked.ground_truth_id)
        hooks.scored_again(competition=locked, teams={file.team_id for file in chosen})
        teams = {audit_team(file.team) for file in chosen if file.team}
        AuditEntry.append(
            AuditEvent.SCORED_AGAIN,
            user=user,
            competition=locked,
            about=teams.pop() if len(teams) == 1 else "",
            after={"files": len(keys), "submissions": [str(key) for key in keys[:NAMED]]},
        )
    return len(keys)


def _count_attempts(files: list[Submission]) -> None:
    """Count the files among the attempts of their days again."""
    used: Counter[tuple[int, date]] = Counter()
    for file in files:
        assert file.team_id is not None, "baselines use no attempts"
        used[file.team_id, file.competition.day_of(file.received_at)] += 1
    for (team, day), number in used.items():
        DailyAttempts.count_again(team, day, number)


log = logging.getLogger(__name__)

INVALID_FILES_STAY = timedelta(days=14)
"""Long enough for a host to find a mistake in the ground truth and to score the files again."""


def remove_invalid_files(*, at: datetime) -> int:
    """Delete the bytes of files that have been invalid for `INVALID_FILES_STAY`; returns the number of files.

    The row with receipt, hash and problems stays. It is marked first: if this process dies before the bytes are
    deleted, the sweep for orphaned files deletes them.
    """
    old = Submission.objects.filter(
        team__isnull=False,
        status=Submission.Status.INVALID,
        finished_at__lt=at - INVALID_FILES_STAY,
        file_removed_at=None,
        converted=None,  # the receipt of a converted file names the original too
    )
    number = 0
    for pk, key in list(old.order_by().values_list("pk", "file_key")):
        # Filter again, because a host may have just had the file scored again.
        if old.filter(pk=pk).update(file_removed_at=at):
            storage.remove_file(key)
            number += 1
    if number:
        log.info("files of invalid submissions were removed", extra={"files": number})
    return number
