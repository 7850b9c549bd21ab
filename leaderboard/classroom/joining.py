"""Services for joining a competition or a team, and for accepting the rules.

A competition admits students by a join code, by its roster, or by certain e-mail addresses. Only confirmed addresses
count, because anybody can sign up with somebody else's address.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.institution.people import student_numbers_of
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent, audit_team
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.competitions.models import Admission, Competition, Membership, Team
from leaderboard.competitions.models.competition import normalize_code
from leaderboard.competitions.services import lock_course
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify_team

from .extensions import disqualify_team
from .models import RosterEntry, has_student_number, joined_values
from .teams import CannotJoin, create_team_of_one, lock_teams

ROLE_LOST = (AuditEvent.HOST_REMOVED, AuditEvent.ASSISTANT_REMOVED)


def confirmed_addresses(user: User) -> set[str]:
    addresses = user.emailaddress_set.filter(verified=True)  # type: ignore[attr-defined]
    return {address.casefold() for address in addresses.values_list("email", flat=True)}


def roster_entry_of(competition: Competition, user: User) -> RosterEntry | None:
    """The person's roster entry; else an entry without account that has the student number sent by their institution,
    or one of their confirmed addresses; else None."""
    # By the competition's number, because it may have been moved to another course meanwhile.
    roster = RosterEntry.objects.filter(course__competitions=competition.pk)
    if (own := roster.filter(user=user).first()) is not None:
        return own
    waiting = roster.filter(user=None, left_at=None)
    numbers = [number for _user, number in student_numbers_of([user.pk])]
    by_number = list(waiting.filter(has_student_number(numbers))[:2]) if numbers else []
    if len(by_number) == 1:
        return by_number[0]
    addresses = confirmed_addresses(user)
    return waiting.filter(email__in=addresses).first() if addresses else None


def join_refusal(competition: Competition, user: User) -> str:
    """The reason why this person may not join, shown to them; "" if they may. Not asked for one-time links."""
    kind = competition.admission.kind
    if kind == Admission.Kind.CODE:
        return ""
    addresses = confirmed_addresses(user)
    shown = ", ".join(sorted(addresses))
    if kind == Admission.Kind.ROSTER:
        entry = roster_entry_of(competition, user)
        if entry is not None and entry.left_at is None:
            return ""
        if not addresses:
            return _(
                "Only people on the roster can join. Confirm your e-mail address, or use your teacher's join "
                "card or invitation."
            )
        return _(
            "Your e-mail address isn't on the roster: {addresses}. Add your course address to your account, "
            "or use your teacher's join card or invitation."
        ).format(addresses=shown)
    allowed = set(competition.admission.allowed_addresses.split())
    if any(address in allowed or "@" + address.rpartition("@")[2] in allowed for address in addresses):
        return ""
    if not addresses:
        return _("Only certain e-mail addresses can join. Confirm yours in your account.")
    return _(
        "Your e-mail address ({addresses}) isn't allowed to join. Add your course address to your account and"
        " confirm it, or ask your teacher."
    ).format(addresses=shown)


def competition_by_code(code: str) -> Competition | None:
    """The launched competition with this join code, in any case and with any separators; None without one."""
    return _launched_with_code.only_row(code=normalize_code(code))


@PreparedQuery
def _launched_with_code(code: str) -> QuerySet[Competition]:
    return Competition.objects.outside_bin().filter(admission__join_code=code, launched_at__isnull=False)


def team_by_invitation(invitation: str) -> Team | None:
    """The team with this invitation link; None if its competition was deleted."""
    teams = Team.objects.select_related("competition").filter(competition__archive__binned_at=None)
    return teams.filter(invitation=invitation).first()


@on(accounts_hooks.lets_in)
def is_valid_way_in(*, code: str = "", invitation: str = "", join_card: str = "") -> bool:
    """Whether a join code, a team's invitation or a one-time link (by its digest, `join_card`) belongs to a competition
    that students can still join."""
    if join_card:
        entry = RosterEntry.find_by_join_card(join_card, database_now())
        competition = entry.competition_to_join(database_now()) if entry else None
    elif invitation:
        team = team_by_invitation(invitation)
        competition = team.competition if team else None
    else:
        competition = competition_by_code(code)
    if competition is None or competition.launched_at is None or competition.is_in_bin:
        return False
    return database_now() < competition.closes_at


def join_by_code(*, user: User, code: str) -> Membership:
    """Join the competition of a code, in a new team of one. Raises `CannotJoin`."""
    competition = competition_by_code(code)
    if competition is None:
        raise CannotJoin(_("This code doesn't match a launched competition. Check it with your teacher."))
    return enter_competition(user=user, competition=competition)


def join_openly(*, user: User, competition: Competition) -> Membership:
    """Join a listed competition that needs no code. Raises `CannotJoin`."""
    if competition.admission.needs_code or not competition.admission.is_listed or competition.launched_at is None:
        raise CannotJoin(_("This competition needs a join code."))
    return enter_competition(user=user, competition=competition)


def join_by_card(*, user: User, digest: str) -> Membership:
    """Join as the student of a one-time link, which then stops working. An existing member is linked to the entry.

    Raises `CannotJoin`.
    """
    with transaction.atomic():
        lock_course(*RosterEntry.objects.filter(join_card_digest=digest).values_list("course", flat=True))
        waiting = RosterEntry.find_by_join_card(digest, at := database_now())
        competition = waiting.competition_to_join(at) if waiting else None
        if waiting is None or competition is None or competition.launched_at is None:
            raise CannotJoin(_("This link no longer works. Ask your teacher for a new one."))
        if waiting.course.roster.filter(user=user).exclude(pk=waiting.pk).exists():
            raise CannotJoin(
                _(
                    "Your account is already someone else on this roster. Sign in with your own account, or ask "
                    "your teacher."
                )
            )
        return enter_competition(user=user, competition=competition, entry=waiting)


def enter_competition(*, user: User, competition: Competition, entry: RosterEntry | None = None) -> Membership:
    """Make a person a member in a team of one, and link them to the roster. Returns an existing membership unchanged.

    `entry` is the roster entry of a one-time link, which admits without further conditions. Raises `CannotJoin`.
    """
    try:
        with transaction.atomic():
            lock_teams(competition.pk)
            return _create_membership(user, competition, entry)
    except IntegrityError:
        joined = Membership.objects.filter(competition=competition, user=user).first()
        # No membership: another new team has just taken this team's name, so try again.
        return joined or enter_competition(user=user, competition=competition, entry=entry)


def _create_membership(user: User, competition: Competition, entry: RosterEntry | None) -> Membership:
    """The membership, new or existing. The caller holds the lock of `lock_teams`, which also blocks new hosts."""
    membership = Membership.objects.filter(competition=competition, user=user).first()
    if membership is None:
        if competition.is_in_bin:
            raise CannotJoin(_("This competition was deleted."))
        if database_now() >= competition.closes_at:
            raise CannotJoin(_("The deadline of this competition has passed."))
        _refuse_hosts(competition, user)
        if entry is None:
            _refuse_uninvited(competition, user)
        membership = Membership.objects.create(
            team=create_team_of_one(competition, user), competition=competition, user=user
        )
    _link_to_roster(membership, entry)
    return membership


def join_by_invitation(*, user: User, invitation: str) -> Membership:
    """Join the team of an invitation link; a previous team without submissions is left. Raises `CannotJoin`."""
    with transaction.atomic():
        for competition_id in Team.objects.filter(invitation=invitation).values_list("competition", flat=True):
            lock_teams(competition_id)
        team = team_by_invitation(invitation)
        if team is None:
            raise CannotJoin(_("This invitation is no longer valid. Ask your team for a new link."))
        competition = team.competition
        membership = Membership.objects.select_related("team").filter(competition=competition, user=user).first()
        if membership and membership.team_id == team.pk:
            return membership
        if refusal := move_refusal(team, membership):
            raise CannotJoin(refusal)
        _refuse_hosts(competition, user)
        if membership:
            _move_membership(membership, team)
        else:
            _refuse_uninvited(competition, user)
            membership = Membership.objects.create(team=team, competition=competition, user=user)
            _link_to_roster(membership, None)
        competition.bump_board_version()
        # Notify the team: the link may have reached people it was not meant for.
        notify_team(kinds.MEMBER_JOINED, team, without=user, name=user)
        return membership


def move_refusal(team: Team, membership: Membership | None) -> str:
    """The reason why a person with this membership (None: not joined yet) cannot move into a team; "" if they can."""
    if refusal := _team_refusal(team, membership):
        return refusal
    if membership and membership.team.submissions.exists():
        return _("Your team already has submissions, so you can't switch teams. A host can move you.")
    return ""


def _team_refusal(team: Team, membership: Membership | None) -> str:
    """The reason why even hosts cannot move a student into a team: deadline, size, a disqualification; "" if none."""
    competition = team.competition
    if reason := competition.why_teams_are_closed(database_now()):
        return reason
    if team.memberships.count() >= competition.limits.team_size:
        reason = _("“%(team)s” is full. Teams can have up to %(number)s members.")
        return reason % {"team": team, "number": competition.limits.team_size}
    if team.disqualified_at or (membership and membership.team.disqualified_at):
        return _("A disqualified team can't get new members, and its members can't change teams.")
    return ""


def move_student(*, membership: Membership, team: Team, user: User) -> None:
    """Move a student into another team, by a host. Raises `CannotJoin`.

    Submissions stay with the old team. If no member is left, that team is disqualified, or without submissions deleted.
    """
    with transaction.atomic():
        lock_teams(membership.competition_id)
        membership = Membership.objects.select_related("team", "user", "competition").get(pk=membership.pk)
        old_team, competition = membership.team, membership.competition
        if team.pk == old_team.pk:
            return
        team = competition.teams.get(pk=team.pk)
        if refusal := _team_refusal(team, membership):
            raise CannotJoin(refusal)
        before = {"team": audit_team(old_team)}
        _move_membership(membership, team)
        if old_team.pk and not old_team.memberships.exists():
            disqualify_team(team=old_team, user=user, reason=_("Its last member moved to another team."))
        competition.bump_board_version()
        notify_team(kinds.MEMBER_MOVED, team, name=membership.user)
        AuditEntry.append(
            AuditEvent.MEMBER_MOVED,
            user=user,
            competition=competition,
            account=membership.user,
            about=audit_team(team),
            before=before,
            after={"team": audit_team(team)},
        )


@on(accounts_hooks.student_number_confirmed)
def link_by_student_number(*, account: User) -> None:
    """Link a person to the rosters of all competitions that they have joined."""
    unknown = Membership.objects.filter(user=account).exclude(competition__course__roster__user=account)
    for membership in unknown.select_related("competition", "user"):
        with transaction.atomic():
            lock_teams(membership.competition_id)
            _link_to_roster(membership, None)


def accept_rules(*, membership: Membership) -> None:
    """Store that a member accepted the current version of the rules."""
    Membership.objects.filter(pk=membership.pk).update(
        rules_version=membership.competition.rules_version, rules_accepted_at=timezone.now()
    )


def _refuse_hosts(competition: Competition, user: User) -> None:
    if competition.hosts.filter(pk=user.pk).exists():
        raise CannotJoin(_("You host this competition and see its private scores, so you can't compete."))
    if competition.assistants.filter(pk=user.pk).exists():
        raise CannotJoin(_("You're an assistant here and see the private scores, so you can't compete."))
    # A person could read the answers, give up the role and compete. If another host removed the role, they may compete:
    # that host has decided so.
    lost = AuditEntry.objects.filter(competition=competition.pk, account=user.pk, event__in=ROLE_LOST).first()
    if lost is not None and lost.by == user.pk:
        raise CannotJoin(_("You had a role here and have seen the answers, so you can't compete."))


def _refuse_uninvited(competition: Competition, user: User) -> None:
    if refusal := join_refusal(competition, user):
        raise CannotJoin(refusal)


def _link_to_roster(membership: Membership, entry: RosterEntry | None) -> None:
    """Link a member to an entry of the roster: that of the one-time link, else the one `roster_entry_of` finds."""
    entry = entry or roster_entry_of(membership.competition, membership.user)
    if entry is not None and entry.user_id is None:
        RosterEntry.objects.filter(pk=entry.pk, user=None).update(**joined_values(membership.user_id, database_now()))
        # The board can be filtered by section, and the team has one now.
        membership.competition.bump_board_version()


def _move_membership(membership: Membership, team: Team) -> None:
    """Move a member. Notify the rest of the old team, or delete it if it has neither members nor submissions."""
    old_team = membership.team
    membership.team = team
    membership.save(update_fields=["team"])
    if old_team.memberships.exists():
        notify_team(kinds.MEMBER_LEFT, old_team, name=membership.user)
    elif not old_team.submissions.exists():
        old_team.delete()
