"""What any member may do about the team: rename it, renew its link, leave it.

Names of teams: how they are cleaned, and which are free.

What the captain of a team may do: remove a member, hand the team over.
"""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_account, audit_team
from leaderboard.common.names import clean_text
from leaderboard.common.shared_cache import count_tries, count_try
from leaderboard.competitions.models import Competition, Membership, Team
from leaderboard.competitions.models.team import (
    give_pseudonyms,
    name_with_number,
    new_invitation,
    next_copy_number,
    teams_called,
)
from leaderboard.competitions.models.team_history import record_team_change
from leaderboard.notifications.models.mentions import mark_mention

from .joining_refusals import CannotJoin, refuse_after_deadline, refuse_when_teams_closed
from .team_notices import notify_members, notify_new_captain, notify_of_leaving


def clean_team_name(name: str) -> str:
    """Visible characters only, compatibility forms unified, single spaces, at most 60 characters."""
    return clean_text(name)[:60].strip()


def free_name(competition: Competition, user: User) -> str:
    """What a new team of one is called: like its member, with a number where another team is. Under pseudonyms there
    is no number, because a number would reveal that another team has the name."""
    base = clean_team_name(user.get_username()) or "team"
    return base if competition.board.uses_pseudonyms else name_with_number(competition, base)


LEAVES_PER_DAY = 20
"""Of one member: each is replayed when a board or a day's attempts are counted."""


def rename_team(*, membership: Membership, name: str) -> None:
    """Give the team another name, unique in the competition. The deadline fixes names: grades go by them."""
    refuse_after_deadline(membership.competition)
    cleaned = clean_team_name(name)
    if not cleaned:
        raise CannotJoin(_("A team needs a name."))
    with transaction.atomic():
        lock_teams(membership.competition_id)
        competition = Competition.objects.get(pk=membership.competition_id)
        copy = 0
        if competition.board.uses_pseudonyms:
            copy = next_copy_number(competition, cleaned, exclude=membership.team_id)
        elif teams_called(competition, cleaned).exclude(pk=membership.team_id).exists():
            words = _("Another team is called “%(name)s” already, or so alike that nobody could tell them apart.")
            raise CannotJoin(words % {"name": cleaned})
        Team.objects.filter(pk=membership.team_id).update(name=cleaned, name_copy=copy)
        competition.touch_board()


def renew_invitation(*, membership: Membership) -> None:
    """Make the old invitation link stop working."""
    refuse_when_teams_closed(membership.competition)
    Team.objects.filter(pk=membership.team_id).update(invitation=new_invitation())


def leave_team(*, membership: Membership) -> Membership:
    """Leave a team for a team of one; the team keeps its submissions. The last member cannot leave them behind."""
    refuse_when_teams_closed(membership.competition)
    if count_tries("leave_team", membership.pk) >= LEAVES_PER_DAY:
        raise CannotJoin(
            _("You have left teams %(number)s times within a day. Wait until tomorrow.") % {"number": LEAVES_PER_DAY}
        )
    with transaction.atomic():
        lock_teams(membership.competition_id)
        team_left = Team.objects.select_related("competition").filter(pk=membership.team_id, memberships=membership.pk)
        if (team := team_left.first()) is None:
            raise CannotJoin(_("You have left this team already, or it has become part of another one."))
        if team.disqualified_at is not None:
            raise CannotJoin(_("Your team is disqualified; its members cannot go on in another one."))
        if team.memberships.count() == 1:
            raise CannotJoin(_("You are the only member of this team."))
        membership.team = create_team_of_one(membership.competition, membership.user)
        membership.save(update_fields=["team"])
        # Leaving must buy neither attempts nor a fresh steady board.
        now = database_now()
        record_team_change(membership.team, team.pk, at=now, now=now)
        team.competition.touch_board()
        notify_of_leaving(team, membership.user, heir=_next_captain(team, membership.user))
    count_try("leave_team", membership.pk, seconds=86_400)
    return membership


def _next_captain(team: Team, left: User) -> User | None:
    """Who leads the team now that its captain left; None where another one leads it."""
    if team.captain_id != left.pk:
        return None
    heir = team.memberships.select_related("user").order_by("joined_at").first()
    Team.objects.filter(pk=team.pk).update(captain=heir.user if heir else None)
    return heir.user if heir else None


def lock_teams(competition_id: int) -> None:
    """Lock until the end of the transaction: no one joins or gets a role, no other team of the competition changes,
    and no file is taken: one lock for all of it, taken first, so that nobody waits for each other."""
    list(Competition.objects.select_for_update(no_key=True).filter(pk=competition_id).values_list("pk"))


def create_team_of_one(competition: Competition, user: User) -> Team:
    competition.board.refresh_from_db(fields=["uses_pseudonyms"])
    name = free_name(competition, user)
    copy = next_copy_number(competition, name) if competition.board.uses_pseudonyms else 0
    team = Team.objects.create(competition=competition, name=name, name_copy=copy, captain=user)
    if competition.board.uses_pseudonyms:
        give_pseudonyms(competition)
        team.refresh_from_db(fields=["pseudonym"])
    return team


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
