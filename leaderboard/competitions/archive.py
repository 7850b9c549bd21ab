"""Archive competitions, and delete them with the option to restore them for some days."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common import logs
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent

from .models import Archive, Competition
from .services import CannotHost, delete_competition


def archive_competition(*, competition: Competition, user: User) -> None:
    """Remove a competition from the lists; it stays readable. Raises `CannotHost` before the deadline."""
    now = database_now()
    if competition.state(now) in ("upcoming", "live"):
        raise CannotHost(_("You can archive it after the deadline."))
    _change(competition, AuditEvent.ARCHIVED, user, archived_at=now)


def unarchive_competition(*, competition: Competition, user: User) -> None:
    _change(competition, AuditEvent.UNARCHIVED, user, archived_at=None)


def bin_competition(*, competition: Competition, user: User) -> None:
    """Move a competition to the bin: its pages are closed, and it can be restored for `Archive.BIN_DAYS` days."""
    _change(competition, AuditEvent.BINNED, user, binned_at=database_now(), binned_by=user)


def restore_competition(*, competition: Competition, user: User) -> None:
    _change(competition, AuditEvent.RESTORED, user, binned_at=None, binned_by=None)


def empty_bin(at: datetime) -> int:
    """Delete competitions for good whose days in the bin are over; returns how many."""
    due = Competition.objects.filter(archive__binned_at__lte=at - timedelta(days=Archive.BIN_DAYS))
    removed = 0
    for competition in due.select_related("archive__binned_by"):
        with logs.log_errors(competition=competition.slug):
            delete_competition(competition=competition, user=competition.archive.binned_by)
            removed += 1
    return removed


def _change(competition: Competition, event: AuditEvent, user: User, **fields: object) -> None:
    with transaction.atomic():
        Archive.objects.filter(competition=competition).update(**fields)
        competition.bump_board_version()
        AuditEntry.append(event, user=user, competition=competition)
