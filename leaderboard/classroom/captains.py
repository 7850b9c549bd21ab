"""What the captain of a team may do: remove a member, hand the team over."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_account, audit_team
from leaderboard.competitions.models import Membership, Team
from leaderboard.notifications.models.mentions import mark_mention

from .joining_refusals import CannotJoin, refuse_when_teams_closed
from .team_notices import notify_members, notify_new_captain
from .teams import leave_team, lock_teams


def remove_member(*, captain: Membership, member_id: int) -> Membership:
    """The captain sends somebody out: as `leave`, for another member, and noted."""
    with transaction.atomic():
        team = _lock_led_team(captain)
        membership = team.memberships.exclude(pk=captain.pk).select_related("competition", "user").filter(pk=member_id)
        if (found := membership.first()) is None:
            raise CannotJoin(_("This person is not in your team any more."))
        leave_team(membership=found)
        words = gettext_lazy(
            "The captain of “%(team)s” removed you from it. You are a team of your own now; its files stay there."
        )
        notify_members(
            [found.user],
            team.competition,
            lambda: _("You are out of a team"),
            lambda: words % {"team": mark_mention(team)},
        )
        _log_captain_action(AuditEvent.MEMBER_REMOVED, captain, found.user)
    return found


def hand_over_captaincy(*, captain: Membership, member_id: int) -> None:
    """Make another member the captain."""
    with transaction.atomic():
        team = _lock_led_team(captain)
        heir = team.memberships.select_related("user").filter(pk=member_id).first()
        if heir is None:
            raise CannotJoin(_("This person is not in your team any more."))
        if heir.user_id == team.captain_id:
            return
        before, after = audit_account(team.captain), audit_account(heir.user)
        Team.objects.filter(pk=team.pk).update(captain=heir.user)
        notify_new_captain(heir.user, team)
        _log_captain_action(
            AuditEvent.CAPTAIN_CHANGED, captain, heir.user, before={"captain": before}, after={"captain": after}
        )


def _lock_led_team(captain: Membership) -> Team:
    """The team, if this member leads it and teams can still change; it stays so until the end of the transaction."""
    refuse_when_teams_closed(captain.competition)
    lock_teams(captain.competition_id)
    team = (
        Team.objects.select_related("captain", "competition").filter(pk=captain.team_id, memberships=captain.pk).first()
    )
    if team is None or not team.is_led_by(captain.user):
        raise CannotJoin(_("Only the captain of a team can do this."))
    return team


def _log_captain_action(event: AuditEvent, captain: Membership, about: User, **changes: dict[str, str | None]) -> None:
    AuditEntry.append(
        event,
        user=captain.user,
        competition=captain.competition,
        account=about,
        about=audit_team(captain.team),
        **changes,
    )
