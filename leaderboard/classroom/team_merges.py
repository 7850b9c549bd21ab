"""Two teams become one: its captain offers, the other's agrees.

The rule is Kaggle's: together they have handed in no more than one team could have by now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_account, audit_team, audit_values
from leaderboard.competitions.models import (
    Competition,
    DailyAttempts,
    Extension,
    Membership,
    MergeOffer,
    Submission,
    Team,
)
from leaderboard.competitions.ranking import standings
from leaderboard.notifications.models import NoticeKind
from leaderboard.notifications.notices import mark_mention, notify_team

from .teams import CannotJoin


@dataclass(frozen=True)
class AttemptBalance:
    """The attempt rule in numbers: files of both that count, and what one team could have handed in by now."""

    used: int
    possible: int


def offer_merge(*, membership: Membership, invitation: str) -> MergeOffer:
    """Offer a team, known by its invitation link or the code at its end, to become one with the own. Raises
    `CannotJoin`; offering twice is one offer.

    Both read each other's real name, as the link does: a pseudonym shown here would be identified.
    """
    code = invitation.strip().rstrip("/").rpartition("/")[2]
    with transaction.atomic():
        competition = _lock_competition_of(membership)
        mine = _captained_team(membership)
        other = competition.teams.filter(invitation=code).first() if code else None
        if other is None:
            raise CannotJoin(
                _("No team in this competition has this invitation link. Ask its captain for the current one.")
            )
        _check_can_merge(competition, mine, other)
        made, is_new = MergeOffer.objects.get_or_create(team=mine, other=other, defaults={"by": membership.user})
        if is_new:
            what = {"team": mark_mention(mine)}
            notify_team(
                other,
                kind=NoticeKind.TEAM,
                title=lambda: _("Merge offer"),
                text=lambda: _("“%(team)s” wants to merge with your team. Your captain decides.") % what,
                key=_notice_key("offer", mine, other),
            )
    return made


def withdraw_merge(*, membership: Membership, offer_id: int) -> None:
    """Take an offer back, or decline one: either captain ends it."""
    with transaction.atomic():
        _lock_competition_of(membership)
        team = _captained_team(membership)
        for found in MergeOffer.between(team).filter(pk=offer_id).select_related("team", "other"):
            found.delete()
            if found.other_id == team.pk:
                notify_team(
                    found.team,
                    kind=NoticeKind.TEAM,
                    title=lambda: _("Your merge offer was declined"),
                    text=lambda: _("“%(team)s” declined to merge with your team.") % {"team": mark_mention(team)},
                    key=_notice_key("declined", found.team, team),
                )


def accept_merge(*, membership: Membership, offer_id: int) -> Team:
    """Let the own team become part of the one that offered: its name, captain and invitation stay, everything else of
    both belongs to it. Raises `CannotJoin`."""
    with transaction.atomic():
        competition = _lock_competition_of(membership)
        mine = _captained_team(membership)
        found = MergeOffer.objects.filter(pk=offer_id, other=mine).select_related("team").first()
        if found is None:
            raise CannotJoin(_("This offer no longer exists."))
        team = found.team
        balance = _check_can_merge(competition, team, mine)
        before = {"teams": [audit_team(team), audit_team(mine)], "members": [_members_of(team), _members_of(mine)]}
        what = {"other": mark_mention(mine), "team": mark_mention(team)}
        _merge_teams(competition, team, mine)
        if competition.ground_truth is not None:
            competition.ground_truth.competition = competition
            standings.rebuild_standings(competition.ground_truth)
        competition.touch_board()
        notify_team(
            team,
            kind=NoticeKind.TEAM,
            title=lambda: _("Your teams have merged"),
            text=lambda: _("“%(other)s” and “%(team)s” are now one team. Check your final submissions.") % what,
        )
        AuditEntry.append(
            AuditEvent.TEAMS_MERGED,
            user=membership.user,
            competition=competition,
            about=audit_team(team),
            before=audit_values(before),
            after=audit_values({"members": _members_of(team), "files": balance.used, "possible": balance.possible}),
        )
    return team


def attempt_balance(competition: Competition, teams: Sequence[Team], at: datetime) -> AttemptBalance:
    """What the attempt rule compares. Of extra attempts that a host granted, those of the kinder team count."""
    used = Submission.objects.using_attempts().filter(team__in=teams).count()
    today = competition.day_of(at)
    days = max(0, (today - competition.day_of(competition.opens_at)).days + 1)
    extra: Counter[int] = Counter()
    for granted in Extension.objects.active().filter(team__in=teams):
        if granted.day is None:
            extra[granted.team_id] += granted.extra_attempts * days
        elif granted.day <= today:
            extra[granted.team_id] += granted.extra_attempts
    return AttemptBalance(used, days * competition.limits.daily_attempts + max(extra.values(), default=0))


def _check_can_merge(competition: Competition, team: Team, other: Team) -> AttemptBalance:
    """Raise `CannotJoin` with the obstacle between two teams; else give the numbers of the attempt rule."""
    now = database_now()
    if team == other:
        raise CannotJoin(_("This is your own team’s link. Ask the other captain for theirs."))
    if reason := competition.why_teams_are_closed(now):
        raise CannotJoin(reason)
    if team.disqualified_at or other.disqualified_at:
        raise CannotJoin(_("A disqualified team can't merge."))
    size = Membership.objects.filter(team__in=[team, other]).count()
    if size > competition.limits.team_size:
        numbers = {"size": size, "most": competition.limits.team_size}
        raise CannotJoin(_("Together you'd have %(size)s members. Teams can have up to %(most)s.") % numbers)
    found = attempt_balance(competition, (team, other), now)
    if found.used > found.possible:
        words = _(
            "Together you have %(used)s submissions that count. One team could have %(possible)s by now. Each"
            " day allows %(daily)s more."
        )
        numbers = {"used": found.used, "possible": found.possible, "daily": competition.limits.daily_attempts}
        raise CannotJoin(words % numbers)
    return found


def _merge_teams(competition: Competition, team: Team, other: Team) -> None:
    Membership.objects.filter(team=other).update(team=team)
    Submission.objects.filter(team=other).update(team=team)
    picked = Submission.objects.filter(team=team, is_selected=True)
    if picked.count() > competition.limits.final_count:
        # Nobody but they can say which of their picks to give up.
        picked.update(is_selected=False)
    _add_attempts(team, other)
    _combine_extensions(team, other)
    team.standings.all().delete()
    other.delete()


def _add_attempts(team: Team, other: Team) -> None:
    """The day's attempts add up, and so does what could be used on the days that both used."""
    held = {count.day: count for count in team.daily_attempts.all()}
    for count in other.daily_attempts.all():
        if (mine := held.get(count.day)) is None:
            DailyAttempts.objects.filter(pk=count.pk).update(team=team)
            continue
        mine.used += count.used
        mine.limit += count.limit
        mine.save()


def _combine_extensions(team: Team, other: Team) -> None:
    """Extra attempts of the team that had more of them, and the latest deadline; they do not add up."""
    theirs, ours = (list(Extension.objects.active().filter(team=one)) for one in (other, team))
    kinder = max((ours, theirs), key=lambda extensions: sum(one.extra_attempts for one in extensions))
    latest = max((one for one in ours + theirs if one.closes_at), key=lambda one: (one.closes_at, one.pk), default=None)
    Extension.objects.active().filter(team=team).update(revoked_at=database_now())
    for one in kinder:
        if one.extra_attempts:
            Extension.objects.create(team=team, extra_attempts=one.extra_attempts, day=one.day, reason=one.reason)
    if latest is not None:
        Extension.objects.create(team=team, closes_at=latest.closes_at, reason=latest.reason)


def _lock_competition_of(membership: Membership) -> Competition:
    """The competition, locked: while two teams become one no file is taken, and none finished."""
    rows = Competition.objects.select_for_update(of=("self",)).select_related("ground_truth")
    return rows.get(pk=membership.competition_id)


def _captained_team(membership: Membership) -> Team:
    held = Membership.objects.select_related("team__competition").filter(pk=membership.pk).first()
    if held is None or not held.team.is_led_by(membership.user):
        raise CannotJoin(_("Only the captain can merge the team."))
    return held.team


def _members_of(team: Team) -> list[str | None]:
    return [audit_account(one.user) for one in team.memberships.order_by("joined_at").select_related("user")]


def _notice_key(what: str, team: Team, other: Team) -> str:
    """One notice per day and pair of teams, so that repeated offers flood no page."""
    return f"merge:{what}:{team.pk}:{other.pk}:{database_now().astimezone(UTC):%Y%m%d}"
