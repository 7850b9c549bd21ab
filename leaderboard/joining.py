"""A student enters a competition, forms a team, accepts the rules."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from . import telling
from .models import (
    AuditEntry,
    Competition,
    DailyAttempts,
    Deed,
    Kind,
    Membership,
    RosterEntry,
    Team,
    User,
    account_in_trail,
    entry_of,
    give_pseudonyms,
    obstacle_to_joining,
    team_in_trail,
)
from .models.clock import database_now
from .models.competition import normal_code
from .models.names import skeleton, tidy
from .models.team import new_invitation


class CannotJoin(Exception):
    """Why a person did not get in, or a team did not change; the text is for them."""


def competition_of(code: str) -> Competition | None:
    """The launched competition of a join code, however it was typed."""
    return Competition.objects.filter(join_code__iexact=normal_code(code), launched_at__isnull=False).first()


def lets_in(*, code: str = "", invitation: str = "", slip: str = "") -> bool:
    """Whether a join code, a team's invitation or a one-time link (its digest) leads into a competition that still
    takes people."""
    if slip:
        entry = RosterEntry.of_slip(slip, database_now())
        competition = entry.competition if entry and entry.competition.launched_at else None
    elif invitation:
        team = Team.objects.select_related("competition").filter(invitation=invitation).first()
        competition = team.competition if team else None
    else:
        competition = competition_of(code)
    return competition is not None and database_now() < competition.closes_at


def by_code(*, user: User, code: str) -> Membership:
    """Join the competition of a code, as a team of one."""
    competition = competition_of(code)
    if competition is None:
        raise CannotJoin(_("No competition has this code. Check it with your teacher."))
    return enter(user=user, competition=competition)


def openly(*, user: User, competition: Competition) -> Membership:
    """Join a listed competition that asks for no code."""
    if competition.needs_code or not competition.is_listed or competition.launched_at is None:
        raise CannotJoin(_("This competition needs its join code."))
    return enter(user=user, competition=competition)


def by_slip(*, user: User, digest: str) -> Membership:
    """Join as exactly the person of a one-time link, which is used up by it. Who has joined before is linked."""
    with transaction.atomic():
        entry = RosterEntry.objects.select_for_update(of=("self",)).filter(slip_digest=digest).first()
        waiting = RosterEntry.of_slip(digest, database_now())
        if entry is None or waiting is None or waiting.competition.launched_at is None:
            raise CannotJoin(_("This link does not work any more. Ask your teacher for a new one."))
        if waiting.competition.roster.filter(user=user).exclude(pk=waiting.pk).exists():
            raise CannotJoin(
                _("Your account is somebody else of this roster already. Sign in with your own, or ask your teacher.")
            )
        return enter(user=user, competition=waiting.competition, entry=waiting)


def enter(*, user: User, competition: Competition, entry: RosterEntry | None = None) -> Membership:
    """Make a person a member, in a team of one; joining twice gives the first membership. Links them to the roster.

    `entry` is who they are on the roster where a one-time link says so; it asks no further.
    """
    if existing := Membership.objects.filter(competition=competition, user=user).first():
        _link(existing, entry)
        return existing
    if database_now() >= competition.closes_at:
        raise CannotJoin(_("The deadline of this competition has passed."))
    _refuse_hosts(competition, user)
    if entry is None:
        _refuse_uninvited(competition, user)
    try:
        with transaction.atomic():
            team = _team_of_one(competition, user)
            made = Membership.objects.create(team=team, competition=competition, user=user)
            _link(made, entry)
            return made
    except IntegrityError:
        joined = Membership.objects.filter(competition=competition, user=user).first()
        # Else somebody else's team took the name of this one in the same moment.
        return joined or enter(user=user, competition=competition, entry=entry)


def by_invitation(*, user: User, invitation: str) -> Membership:
    """Join the team of an invitation link. A team of one without submissions is given up for it."""
    wanted = Team.objects.filter(invitation=invitation)
    with transaction.atomic():
        for competition_id in wanted.values_list("competition", flat=True):
            _hold(competition_id)
        team = wanted.select_related("competition").first()
        if team is None:
            raise CannotJoin(_("This invitation is not valid any more. Ask your team for a new link."))
        competition = team.competition
        held = Membership.objects.select_related("team").filter(competition=competition, user=user).first()
        if held and held.team_id == team.pk:
            return held
        if obstacle := obstacle_to(team, held):
            raise CannotJoin(obstacle)
        _refuse_hosts(competition, user)
        if held:
            return _move(held, team)
        _refuse_uninvited(competition, user)
        made = Membership.objects.create(team=team, competition=competition, user=user)
        _link(made, None)
        return made


def obstacle_to(team: Team, held: Membership | None) -> str:
    """Why somebody who holds this membership (or none) cannot move into a team; empty when they can."""
    competition = team.competition
    if reason := competition.why_teams_stay(database_now()):
        return reason
    if team.memberships.count() >= competition.team_size:
        words = _("“%(team)s” is full: a team has at most %(number)s members here.")
        return words % {"team": team, "number": competition.team_size}
    if team.disqualified_at or (held and held.team.disqualified_at):
        return _("A disqualified team takes nobody in, and its members cannot go on in another one.")
    if held and held.team.submissions.exists():
        return _(
            "Your present team has submissions already, so you cannot change to another one. Two teams can become one: "
            "your captain finds it on your team’s page."
        )
    return ""


def accept_rules(*, membership: Membership) -> None:
    """Store that a member accepted the rules as they are now."""
    Membership.objects.filter(pk=membership.pk).update(
        rules_version=membership.competition.rules_version, rules_accepted_at=timezone.now()
    )


def rename(*, membership: Membership, name: str) -> None:
    """Give the team another name, unique in the competition. The deadline fixes names: grades go by them."""
    _refuse_after_the_deadline(membership.competition)
    cleaned = clean_team_name(name)
    if not cleaned:
        raise CannotJoin(_("A team needs a name."))
    words = _("Another team is called “%(name)s” already, or so alike that nobody could tell them apart.")
    taken = CannotJoin(words % {"name": cleaned})
    if _alike(membership.competition, cleaned).exclude(pk=membership.team_id).exists():
        raise taken
    try:
        with transaction.atomic():
            Team.objects.filter(pk=membership.team_id).update(name=cleaned)
            membership.competition.touch_board()
    except IntegrityError as error:
        raise taken from error


def renew_invitation(*, membership: Membership) -> None:
    """Make the old invitation link stop working."""
    _refuse_where_teams_stay(membership.competition)
    Team.objects.filter(pk=membership.team_id).update(invitation=new_invitation())


def leave(*, membership: Membership) -> Membership:
    """Leave a team for a team of one; the team keeps its submissions. The last member cannot leave them behind."""
    _refuse_where_teams_stay(membership.competition)
    with transaction.atomic():
        _hold(membership.competition_id)
        team = Team.objects.filter(pk=membership.team_id, memberships=membership.pk).first()
        if team is None:
            raise CannotJoin(_("You have left this team already, or it has become part of another one."))
        if team.disqualified_at is not None:
            raise CannotJoin(_("Your team is disqualified; its members cannot go on in another one."))
        if team.memberships.count() == 1:
            raise CannotJoin(_("You are the only member of this team."))
        membership.team = _team_of_one(membership.competition, membership.user)
        membership.save(update_fields=["team"])
        # Whoever leaves takes what the team used today along: leaving must not buy attempts.
        for count in team.daily_attempts.filter(day=database_now().date()):
            DailyAttempts.objects.create(
                team=membership.team,
                day=count.day,
                used=count.used,
                refused=count.refused,
                carried=count.used,
                limit=count.limit,
            )
        if team.captain_id == membership.user_id:
            heir = team.memberships.order_by("joined_at").first()
            Team.objects.filter(pk=team.pk).update(captain=heir.user_id if heir else None)
    return membership


def remove_member(*, captain: Membership, member_id: int) -> Membership:
    """The captain sends somebody out: as `leave`, for another member, and noted."""
    with transaction.atomic():
        team = _led_by(captain)
        membership = team.memberships.exclude(pk=captain.pk).select_related("competition", "user").filter(pk=member_id)
        if (found := membership.first()) is None:
            raise CannotJoin(_("This person is not in your team any more."))
        leave(membership=found)
        words = gettext_lazy(
            "The captain of “%(team)s” removed you from it. You are a team of your own now; its files stay there."
        )
        _tell(found.user, found, lambda: _("You left a team"), lambda: words % {"team": team})
        _note(Deed.MEMBER_REMOVED, captain, found.user)
    return found


def hand_over(*, captain: Membership, member_id: int) -> None:
    """Make another member the captain."""
    with transaction.atomic():
        team = _led_by(captain)
        heir = team.memberships.select_related("user").filter(pk=member_id).first()
        if heir is None:
            raise CannotJoin(_("This person is not in your team any more."))
        if heir.user_id == team.captain_id:
            return
        before, after = account_in_trail(team.captain), account_in_trail(heir.user)
        Team.objects.filter(pk=team.pk).update(captain=heir.user)
        words = gettext_lazy("You lead “%(team)s” now: you may remove members and decide about merging.")
        _tell(heir.user, captain, lambda: _("You are the captain"), lambda: words % {"team": team})
        _note(Deed.CAPTAIN_CHANGED, captain, heir.user, before={"captain": before}, after={"captain": after})


def _hold(competition_id: int) -> None:
    """Until the end of the transaction no other team of the competition changes, and no file is taken: one lock for
    all of it, taken first, so that nobody waits for each other."""
    list(Competition.objects.select_for_update(no_key=True).filter(pk=competition_id).values_list("pk"))


def _led_by(captain: Membership) -> Team:
    """The team, if this member leads it and teams can still change; it stays so until the end of the transaction."""
    _refuse_where_teams_stay(captain.competition)
    _hold(captain.competition_id)
    team = Team.objects.select_related("captain").filter(pk=captain.team_id, memberships=captain.pk).first()
    if team is None or not team.is_led_by(captain.user):
        raise CannotJoin(_("Only the captain of a team can do this."))
    return team


def _tell(user: User, membership: Membership, title: telling.Words, words: telling.Words) -> None:
    competition = membership.competition
    link = reverse("team", kwargs={"slug": competition.slug})
    telling.tell([user], kind=Kind.TEAM, competition=competition, title=title, text=words, link=link)


def _note(deed: Deed, captain: Membership, about: User, **changes: dict[str, str | None]) -> None:
    AuditEntry.append(
        deed,
        user=captain.user,
        competition=captain.competition,
        account=about,
        about=team_in_trail(captain.team),
        **changes,
    )


def clean_team_name(name: str) -> str:
    """Visible characters only, compatibility forms unified, single spaces, at most 60 characters."""
    return tidy(name)[:60].strip()


def _refuse_hosts(competition: Competition, user: User) -> None:
    if competition.hosts.filter(pk=user.pk).exists():
        raise CannotJoin(_("You host this competition and see its private scores, so you cannot compete in it."))
    if competition.assistants.filter(pk=user.pk).exists():
        raise CannotJoin(_("You assist in this competition and see its private scores, so you cannot compete in it."))


def _refuse_uninvited(competition: Competition, user: User) -> None:
    if obstacle := obstacle_to_joining(competition, user):
        raise CannotJoin(obstacle)


def _link(membership: Membership, entry: RosterEntry | None) -> None:
    """Say on the roster who this is: the person of the link, else whose confirmed address is there. Once is enough."""
    entry = entry or entry_of(membership.competition, membership.user)
    if entry is not None and entry.user_id is None:
        RosterEntry.objects.filter(pk=entry.pk, user=None).update(
            user=membership.user_id,
            joined_at=database_now(),
            slip_digest="",
            slip_expires_at=None,
            mail_asked_at=None,
            mail_at=None,
        )


def _refuse_after_the_deadline(competition: Competition) -> None:
    if database_now() >= competition.closes_at:
        raise CannotJoin(_("The deadline has passed; teams stay as they are."))


def _refuse_where_teams_stay(competition: Competition) -> None:
    if reason := competition.why_teams_stay(database_now()):
        raise CannotJoin(reason)


def _move(held: Membership, team: Team) -> Membership:
    left = held.team
    held.team = team
    held.save(update_fields=["team"])
    if not left.memberships.exists():
        left.delete()
    return held


def _team_of_one(competition: Competition, user: User) -> Team:
    team = Team.objects.create(competition=competition, name=_free_name(competition, user), captain=user)
    if competition.uses_pseudonyms:
        give_pseudonyms(competition)
        team.refresh_from_db(fields=["pseudonym"])
    return team


def _free_name(competition: Competition, user: User) -> str:
    base = clean_team_name(user.get_username()) or "team"
    name, number = base, 2
    while _alike(competition, name).exists():
        name, number = f"{base[:54]} {number}", number + 1
    return name


def _alike(competition: Competition, name: str) -> QuerySet[Team]:
    """The competition's teams whose names look like this one. Reads all of their names."""
    kept = skeleton(name)
    found = [pk for pk, other in competition.teams.values_list("pk", "name") if skeleton(other) == kept]
    return competition.teams.filter(pk__in=found)
