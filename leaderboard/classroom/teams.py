"""Members' services for their team: rename it, renew its link, leave it; for captains remove a member, hand over."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent, audit_account, audit_team
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
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify_people, notify_team

MAX_LEAVES_PER_DAY = 20
"""For one member. Limited because the team that was left gets a notice each time."""


class CannotJoin(Exception):
    """A refusal to join or to change teams; the message is shown to the person."""


def refuse_when_teams_closed(competition: Competition) -> None:
    if reason := competition.why_teams_are_closed(database_now()):
        raise CannotJoin(reason)


def clean_team_name(name: str) -> str:
    """The name with visible characters only, compatibility forms unified, single spaces, at most 60 characters."""
    return clean_text(name)[:60].strip()


def free_name(competition: Competition, user: User) -> str:
    """The name of a new team of one: its member's user name, with a number if another team has it.

    Without a number under pseudonyms, because the number would reveal that there is another team of this name.
    """
    base = clean_team_name(user.get_username()) or "team"
    return base if competition.board.uses_pseudonyms else name_with_number(competition, base)


def rename_team(*, membership: Membership, name: str) -> None:
    """Rename a team; names are unique in a competition, and fixed after its deadline. Raises `CannotJoin`."""
    if database_now() >= membership.competition.closes_at:
        raise CannotJoin(_("The deadline has passed, so teams can't change any more."))
    cleaned = clean_team_name(name)
    if not cleaned:
        raise CannotJoin(_("Enter a team name."))
    with transaction.atomic():
        lock_teams(membership.competition_id)
        competition = Competition.objects.get(pk=membership.competition_id)
        copy = 0
        if competition.board.uses_pseudonyms:
            copy = next_copy_number(competition, cleaned, exclude=membership.team_id)
        elif teams_called(competition, cleaned).exclude(pk=membership.team_id).exists():
            fault = _("The name “%(name)s” is taken or looks like another team's. Choose a different name.")
            raise CannotJoin(fault % {"name": cleaned})
        Team.objects.filter(pk=membership.team_id).update(name=cleaned, name_copy=copy)
        competition.bump_board_version()


def renew_invitation(*, membership: Membership) -> None:
    """Replace the invitation link; the old one stops working. Raises `CannotJoin` after the deadline."""
    refuse_when_teams_closed(membership.competition)
    Team.objects.filter(pk=membership.team_id).update(invitation=new_invitation())


def leave_team(*, membership: Membership) -> Membership:
    """Leave a team for a new team of one; submissions stay with the old team. Raises `CannotJoin`.

    The last member cannot leave, so that submissions are not left without an owner.
    """
    refuse_when_teams_closed(membership.competition)
    if count_tries("leave_team", membership.pk) >= MAX_LEAVES_PER_DAY:
        raise CannotJoin(
            _("You've left teams %(number)s times in a day. Try again tomorrow.") % {"number": MAX_LEAVES_PER_DAY}
        )
    with transaction.atomic():
        lock_teams(membership.competition_id)
        team_left = Team.objects.select_related("competition").filter(pk=membership.team_id, memberships=membership.pk)
        if (team := team_left.first()) is None:
            raise CannotJoin(_("You've already left this team."))
        if team.disqualified_at is not None:
            raise CannotJoin(_("Your team is disqualified, so you can't change teams."))
        if team.memberships.count() == 1:
            raise CannotJoin(_("You're the only member of this team."))
        membership.team = create_team_of_one(membership.competition, membership.user)
        membership.save(update_fields=["team"])
        team.competition.bump_board_version()
        note_departure(team, membership)
    count_try("leave_team", membership.pk, seconds=86_400)
    return membership


def lock_teams(competition_id: int) -> None:
    """Lock a competition until the end of the transaction, against changes of members, roles and teams, and against
    new submissions. One lock for all of these, and always the first one taken, prevents deadlocks."""
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


def note_departure(team: Team, left: Membership) -> None:
    """Notify the members who stay. If the captain left, the member who joined first becomes captain."""
    notify_team(kinds.MEMBER_LEFT, team, name=left.user)
    if team.captain_id == left.user_id:
        heir = team.memberships.select_related("user").earliest("joined_at").user
        Team.objects.filter(pk=team.pk).update(captain=heir)
        _notify_new_captain(heir, team)


def remove_member(*, captain: Membership, member_id: int) -> Membership:
    """Remove a member from the captain's team, as with `leave_team`; the person is notified. Raises `CannotJoin`."""
    with transaction.atomic():
        team = _lock_led_team(captain)
        others = team.memberships.exclude(pk=captain.pk).select_related("competition", "user").filter(pk=member_id)
        if (member := others.first()) is None:
            raise CannotJoin(_("This person is no longer in your team."))
        leave_team(membership=member)
        notify_people(kinds.MEMBER_REMOVED, [member.user], competition=team.competition, team=team)
        _log_captain_action(AuditEvent.MEMBER_REMOVED, captain, member.user)
    return member


def hand_over_captaincy(*, captain: Membership, member_id: int) -> None:
    """Make another member the captain. Raises `CannotJoin`."""
    with transaction.atomic():
        team = _lock_led_team(captain)
        heir = team.memberships.select_related("user").filter(pk=member_id).first()
        if heir is None:
            raise CannotJoin(_("This person is no longer in your team."))
        if heir.user_id == team.captain_id:
            return
        before, after = audit_account(team.captain), audit_account(heir.user)
        Team.objects.filter(pk=team.pk).update(captain=heir.user)
        _notify_new_captain(heir.user, team)
        _log_captain_action(
            AuditEvent.CAPTAIN_CHANGED, captain, heir.user, before={"captain": before}, after={"captain": after}
        )


def _lock_led_team(captain: Membership) -> Team:
    """Lock and return the captain's team. Raises `CannotJoin` for other members, or once teams cannot change."""
    refuse_when_teams_closed(captain.competition)
    lock_teams(captain.competition_id)
    team = (
        Team.objects.select_related("captain", "competition").filter(pk=captain.team_id, memberships=captain.pk).first()
    )
    if team is None or not team.is_led_by(captain.user):
        raise CannotJoin(_("Only the team captain can do this."))
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


def _notify_new_captain(user: User, team: Team) -> None:
    notify_people(kinds.CAPTAIN_CHANGED, [user], competition=team.competition, team=team)
