"""What any member may do about the team: rename it, renew its link, leave it."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.shared_cache import count_tries, count_try
from leaderboard.competitions.models import Competition, Membership, Team
from leaderboard.competitions.models.pseudonyms import give_pseudonyms
from leaderboard.competitions.models.team import new_invitation
from leaderboard.competitions.models.team_history import record_team_change
from leaderboard.competitions.models.team_names import next_copy_number, teams_called

from . import team_names
from .joining_refusals import CannotJoin, refuse_after_deadline, refuse_when_teams_closed
from .team_notices import notify_of_leaving

LEAVES_PER_DAY = 20
"""Of one member: each is replayed when a board or a day's attempts are counted."""


def rename_team(*, membership: Membership, name: str) -> None:
    """Give the team another name, unique in the competition. The deadline fixes names: grades go by them."""
    refuse_after_deadline(membership.competition)
    cleaned = team_names.clean_team_name(name)
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
    name = team_names.free_name(competition, user)
    copy = next_copy_number(competition, name) if competition.board.uses_pseudonyms else 0
    team = Team.objects.create(competition=competition, name=name, name_copy=copy, captain=user)
    if competition.board.uses_pseudonyms:
        give_pseudonyms(competition)
        team.refresh_from_db(fields=["pseudonym"])
    return team
