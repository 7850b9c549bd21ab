"""The reveal: from one moment on, both boards show each team's best final."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from leaderboard.accounts.models import User
from leaderboard.common import logs
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_values

from ..models import Competition, Extension, Submission
from ..models.team_history import FormerMember
from .standings import rebuild_standings


@transaction.atomic
def reveal_private_board(competition: Competition, at: datetime, *, user: User | None = None) -> bool:
    """Open the private board at `at`; False when it is open already or has no ground truth. Rebuilds both boards.

    `user` is the host who asked for it; None at the deadline.
    """
    opened = Competition.objects.filter(
        pk=competition.pk, revealed_at=None, ground_truth__isnull=False, launched_at__isnull=False
    ).update(revealed_at=at)
    if not opened:
        return False
    competition.refresh_from_db()
    assert competition.ground_truth is not None
    rebuild_standings(competition.ground_truth)
    FormerMember.objects.filter(competition=competition).delete()
    AuditEntry.append(AuditEvent.REVEALED, user=user, competition=competition, after=audit_values({"revealed_at": at}))
    return True


def reveal_due_competitions(at: datetime) -> list[Competition]:
    """Reveal what is past its deadline and reveals itself, once every team's time is over and every file received in
    time has its score."""
    opened = []
    for competition in _competitions_due(at):
        with logs.log_errors(competition=competition.slug):
            if _reveal_if_still_due(competition, at):
                opened.append(competition)
    return opened


@transaction.atomic
def _reveal_if_still_due(competition: Competition, at: datetime) -> bool:
    """Boards of other competitions were made since this one was found due, which takes a while; a host may have given
    more time meanwhile, and gives none for as long as this holds the lock."""
    Competition.objects.select_for_update().filter(pk=competition.pk).first()
    return _competitions_due(at).filter(pk=competition.pk).exists() and reveal_private_board(competition, at)


def _competitions_due(at: datetime) -> QuerySet[Competition]:
    waiting = Submission.objects.filter(
        status=Submission.Status.PENDING, competition=OuterRef("pk"), is_late=False, team__isnull=False
    )
    due = Competition.objects.filter(
        launched_at__isnull=False, revealed_at=None, board__reveals_itself=True, closes_at__lte=at
    ).exclude(Exists(waiting))
    has_time = Extension.objects.active().filter(
        team__competition=OuterRef("pk"), team__disqualified_at=None, closes_at__gt=at
    )
    return due.exclude(Exists(has_time))
