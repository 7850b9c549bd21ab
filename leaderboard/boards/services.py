"""Services for boards: add and remove baselines, open the final ranking."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.display_time import moment_text
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.storage import clean_name, remove_file, store_file
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Baseline, Competition, Extension, Submission
from leaderboard.competitions.models.extension import ranking_opens_at
from leaderboard.competitions.services import CannotHost, end_extension, lock_competition

from . import reveal


def add_baseline(
    *, competition: Competition, user: User | None, name: str, file_name: str, chunks: Iterable[bytes]
) -> Submission:
    """Store a baseline and queue it for scoring; the same name replaces an earlier one.

    Raises `CannotHost` without a ground truth.
    """
    if competition.ground_truth_id is None:
        raise CannotHost(_("Publish the answers first; baselines are scored with them."))
    stored = store_file(chunks, f"submissions/{competition.pk}")
    with transaction.atomic():
        competition.bump_board_version()
        earlier = Submission.objects.filter(baseline__competition=competition, baseline__name=name)
        replaced = list(earlier.values_list("file_key", flat=True))
        hashes = list(earlier.values_list("sha256", flat=True))
        Baseline.objects.filter(competition=competition, name=name).delete()
        baseline = Baseline.objects.create(competition=competition, name=name)
        submission = Submission.objects.create(
            competition=competition,
            baseline=baseline,
            user=user,
            file_name=clean_name(file_name),
            file_key=stored.key,
            sha256=stored.sha256,
            size=stored.size,
            received_at=database_now(),
            upload_key=uuid.uuid4().hex,
        )
        wake_ups.wake_workers_after_commit(wake_ups.SCORE_NEXT_SUBMISSIONS, submission.pk, competition.ground_truth_id)
        AuditEntry.append(
            AuditEvent.BASELINE_ADDED,
            user=user,
            competition=competition,
            about=name,
            before={"sha256": list(hashes)} if hashes else {},
            after={"sha256": [stored.sha256]},
        )
    for key in replaced:
        remove_file(key)
    return submission


def remove_baseline(*, baseline: Baseline, user: User | None = None) -> None:
    """Delete a baseline and its file."""
    files = list(Submission.objects.filter(baseline=baseline))
    with transaction.atomic():
        baseline.competition.bump_board_version()
        baseline.delete()
        AuditEntry.append(
            AuditEvent.BASELINE_REMOVED,
            user=user,
            competition=baseline.competition,
            about=baseline.name,
            before={"sha256": [file.sha256 for file in files]},
        )
    for file in files:
        remove_file(file.file_key)


class LateTeams(StrEnum):
    """The host's choice for teams that still have time when the final ranking is opened."""

    WAIT = "wait"
    """Open it only after the extensions that delay it have ended."""
    END = "end"
    """End their extensions now."""
    LATER = "later"
    """Open it for the others; these teams are added when their time is over."""


def reveal_competition(
    *, competition: Competition, user: User | None = None, late_teams: LateTeams = LateTeams.WAIT
) -> None:
    """Open the private board now.

    Raises `CannotHost` before the launch, before the deadline, with `LateTeams.WAIT` before the end of an extension
    that delays it, while files wait for scores, or if it is open.
    """
    with transaction.atomic():
        # Changes of deadlines and extensions take this lock too, so none comes between the check and the reveal.
        locked = Competition.objects.select_for_update().get(pk=competition.pk)
        if late_teams is LateTeams.END:
            end_extensions(competition=locked, user=user)
        _refuse_early(locked, now := database_now(), late_teams)
        if not reveal.reveal_private_board(competition, now, user=user):
            raise CannotHost(_("The final ranking is already open."))


def end_extensions(*, competition: Competition, user: User | None) -> None:
    """End the extensions of all teams that still have time, disqualified ones aside. Raises `CannotHost` before it."""
    with transaction.atomic():
        locked, now = lock_competition(competition.pk), database_now()
        if now < locked.closes_at:
            raise CannotHost(_("You can open the final ranking after the deadline."))
        running = Extension.objects.active().filter(team__competition=locked, team__disqualified_at=None)
        for extension in running.filter(closes_at__gt=now).select_related("team__competition"):
            end_extension(extension=extension, user=user)


def _refuse_early(competition: Competition, now: datetime, late_teams: LateTeams) -> None:
    if competition.launched_at is None:
        raise CannotHost(_("The competition hasn't launched."))
    if now < competition.closes_at:
        raise CannotHost(_("You can open the final ranking after the deadline."))
    if late_teams is LateTeams.WAIT and now < (opens_at := ranking_opens_at(competition)):
        raise CannotHost(
            _("A team has an extension until %(moment)s. End it, or open the final ranking for the others.")
            % {"moment": moment_text(opens_at, competition.zone)}
        )
    waiting = reveal.files_to_wait_for(now).filter(competition=competition).count()
    if waiting:
        raise CannotHost(
            ngettext(
                "%(number)s submission is still waiting for its score.",
                "%(number)s submissions are still waiting for their scores.",
                waiting,
            )
            % {"number": waiting}
        )
