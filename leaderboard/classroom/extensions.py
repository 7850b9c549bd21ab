"""Services for one team: extra attempts, a later deadline, disqualification and readmission."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards.standings import rebuild_boards
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent, audit_team, audit_values
from leaderboard.competitions.models import Competition, Extension, Team
from leaderboard.competitions.models.extension import ranking_opens_at
from leaderboard.competitions.services import (
    CannotHost,
    extension_facts,
    lock_competition,
    recompute_lateness,
    require_reason,
)
from leaderboard.notifications import kinds
from leaderboard.notifications.events import notify_extension
from leaderboard.notifications.services import notify_team


def grant_extension(
    *,
    team: Team,
    user: User | None,
    reason: str,
    extra_attempts: int = 0,
    closes_at: datetime | None = None,
    delays_ranking: bool = True,
) -> Extension:
    """Grant a team more attempts per day, a later deadline, or both. `end_extension` of `competitions` ends it.

    With `delays_ranking` everyone waits for the final ranking until the later deadline; else the others see it on
    time, and the team is added to it later. Raises `ValidationError` for an invalid extension, `CannotHost` for a later
    deadline of a team that is in the open final ranking.
    """
    with transaction.atomic():
        competition = lock_competition(team.competition_id)
        team = Team.objects.select_related("competition").get(pk=team.pk)
        if closes_at is not None and competition.revealed_at is not None and not team.is_awaited:
            raise CannotHost(_("The final ranking is open, so accept late submissions or give points by hand instead."))
        extension = Extension(
            team=team,
            extra_attempts=extra_attempts,
            closes_at=closes_at,
            delays_ranking=delays_ranking,
            reason=reason,
            by=user,
        )
        extension.full_clean()
        extension.save()
        if closes_at is not None:
            recompute_lateness(competition)
            rebuild_boards(competition=competition)
        notify_extension(extension)
        AuditEntry.append(
            AuditEvent.EXTENSION_GRANTED,
            user=user,
            competition=competition,
            about=audit_team(team),
            after=audit_values(extension_facts(extension)),
        )
    return extension


def opening_dates(competition: Competition, closes_at: datetime) -> tuple[datetime, datetime] | None:
    """(opening of the final ranking for the others if they do not wait for an extension until `closes_at`, opening if
    they do); None if the extension changes nothing for them."""
    opens_at = ranking_opens_at(competition)
    return (opens_at, closes_at) if competition.revealed_at is None and closes_at > opens_at else None


def opens_final_ranking(extension: Extension, at: datetime) -> bool:
    """Whether ending this extension would open the final ranking at once: the ranking opens by itself, the deadline has
    passed, and no other extension delays it."""
    competition = extension.team.competition
    if competition.revealed_at or not competition.board.reveals_itself or not extension.delays_ranking:
        return False
    others = Extension.objects.filter(team__competition=competition, team__disqualified_at=None, delays_ranking=True)
    return at >= competition.closes_at and not others.filter(closes_at__gt=at).exclude(pk=extension.pk).exists()


def disqualify_team(*, team: Team, user: User | None, reason: str) -> None:
    """Remove a team from the boards and stop its submissions; files and scores stay. Its members read the reason.

    Raises `CannotHost` without a reason, or if the team is disqualified already.
    """
    reason = require_reason(reason)
    with transaction.atomic():
        competition = lock_competition(team.competition_id)
        now = database_now()
        if not Team.objects.filter(pk=team.pk, disqualified_at=None).update(
            disqualified_at=now, disqualified_reason=reason
        ):
            raise CannotHost(_("“%(team)s” is already disqualified.") % {"team": team.name})
        rebuild_boards(competition=competition)
        after = audit_values({"disqualified_at": now, "reason": reason})
        notify_team(kinds.TEAM_DISQUALIFIED, team, reason=reason)
        AuditEntry.append(
            AuditEvent.DISQUALIFIED, user=user, competition=competition, about=audit_team(team), after=after
        )


def readmit_team(*, team: Team, user: User | None) -> None:
    """End a disqualification: the team is ranked by its scores again."""
    with transaction.atomic():
        competition = lock_competition(team.competition_id)
        team = Team.objects.get(pk=team.pk)
        if not Team.objects.filter(pk=team.pk, disqualified_at__isnull=False).update(
            disqualified_at=None, disqualified_reason=""
        ):
            return
        rebuild_boards(competition=competition)
        before = audit_values({"disqualified_at": team.disqualified_at, "reason": team.disqualified_reason})
        notify_team(kinds.TEAM_READMITTED, team)
        AuditEntry.append(
            AuditEvent.READMITTED, user=user, competition=competition, about=audit_team(team), before=before
        )
