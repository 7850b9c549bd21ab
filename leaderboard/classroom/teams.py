"""Members' services for their team: rename it, renew its link, leave it."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.names import clean_text
from leaderboard.common.shared_cache import count_tries, count_try
from leaderboard.competitions.models import Competition, Membership, Team
from leaderboard.competitions.models.team import new_invitation
from leaderboard.competitions.team_names import give_pseudonyms, name_with_number, next_copy_number, teams_called
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify_team

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
        notify_team(kinds.MEMBER_LEFT, team, name=membership.user)
    count_try("leave_team", membership.pk, seconds=86_400)
    return membership


def lock_teams(competition_id: int) -> None:
    """Lock a competition until the end of the transaction, against changes of members, roles and teams, and against
    new submissions. One lock for all of these, and always the first one taken, prevents deadlocks."""
    list(Competition.objects.select_for_update().filter(pk=competition_id).values_list("pk"))


def create_team_of_one(competition: Competition, user: User) -> Team:
    competition.board.refresh_from_db(fields=["uses_pseudonyms"])
    name = free_name(competition, user)
    copy = next_copy_number(competition, name) if competition.board.uses_pseudonyms else 0
    team = Team.objects.create(competition=competition, name=name, name_copy=copy)
    if competition.board.uses_pseudonyms:
        give_pseudonyms(competition)
        team.refresh_from_db(fields=["pseudonym"])
    return team
