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
from leaderboard.competitions.services import CannotHost, lock_competition, recompute_lateness, require_reason
from leaderboard.notifications import kinds
from leaderboard.notifications.events import notify_extension, notify_extension_revoked
from leaderboard.notifications.services import notify_team


def grant_extension(
    *,
    team: Team,
    user: User | None,
    reason: str,
    extra_attempts: int = 0,
    closes_at: datetime | None = None,
) -> Extension:
    """Grant a team more attempts per day, a later deadline, or both.

    Raises `ValidationError` for an invalid extension, `CannotHost` for a later deadline after the reveal.
    """
    with transaction.atomic():
        competition = lock_competition(team.competition_id)
        if closes_at is not None and competition.revealed_at is not None:
            raise CannotHost(_("The final ranking is open, so deadlines can't be extended any more."))
        team = Team.objects.select_related("competition").get(pk=team.pk)
        extension = Extension(team=team, extra_attempts=extra_attempts, closes_at=closes_at, reason=reason, by=user)
        extension.full_clean()
        extension.save()
        _apply_change(competition, is_about_time=closes_at is not None)
        notify_extension(extension)
        AuditEntry.append(
            AuditEvent.EXTENSION_GRANTED,
            user=user,
            competition=competition,
            about=audit_team(team),
            after=audit_values(_extension_facts(extension)),
        )
    return extension


def opens_final_ranking(extension: Extension) -> bool:
    """Whether revoking this extension would reveal the final ranking at once.

    True if the ranking reveals itself, the deadline has passed, and no other team still has time.
    """
    competition, now = extension.team.competition, database_now()
    if (
        extension.closes_at is None
        or extension.closes_at <= now
        or extension.revoked_at is not None
        or competition.revealed_at is not None
        or not competition.board.reveals_itself
        or now < competition.closes_at
    ):
        return False
    others = Extension.objects.active().filter(team__competition=competition, team__disqualified_at=None)
    return not others.filter(closes_at__gt=now).exclude(pk=extension.pk).exists()


def revoke_extension(*, extension: Extension, user: User | None) -> None:
    """Revoke an extension. Used attempts stay used; files that were on time only through it become late.

    Raises `CannotHost` for a later deadline after the reveal.
    """
    with transaction.atomic():
        competition = lock_competition(extension.team.competition_id)
        if extension.closes_at is not None and competition.revealed_at is not None:
            raise CannotHost(
                _("The final ranking is open, so this extension can't be revoked. Submissions made under it count.")
            )
        if not Extension.objects.active().filter(pk=extension.pk).update(revoked_at=database_now()):
            return
        _apply_change(competition, is_about_time=extension.closes_at is not None)
        notify_extension_revoked(extension)
        AuditEntry.append(
            AuditEvent.EXTENSION_REVOKED,
            user=user,
            competition=competition,
            about=audit_team(extension.team),
            before=audit_values(_extension_facts(extension)),
        )


def disqualify_team(*, team: Team, user: User | None, reason: str) -> None:
    """Remove a team from the boards and stop its submissions; files and scores stay. The team is told the reason.

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
    """End a disqualification: the team is ranked by its scores again.

    Raises `CannotHost` if the team has an extension beyond the reveal: it would see private scores and still submit.
    """
    with transaction.atomic():
        competition = lock_competition(team.competition_id)
        team = Team.objects.get(pk=team.pk)
        revealed_at = competition.revealed_at
        if revealed_at and team.extensions.filter(revoked_at=None, closes_at__gt=revealed_at).exists():
            raise CannotHost(
                _(
                    "“%(team)s” can't return: its extension ends later, so it could see the final ranking "
                    "and still submit."
                )
                % {"team": team.name}
            )
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


def _apply_change(competition: Competition, *, is_about_time: bool) -> None:
    if is_about_time:
        recompute_lateness(competition)
        rebuild_boards(competition=competition)


def _extension_facts(extension: Extension) -> dict[str, object]:
    facts = {
        "extra_attempts": extension.extra_attempts or None,
        "closes_at": extension.closes_at,
        "reason": extension.reason,
    }
    return {name: value for name, value in facts.items() if value is not None}
