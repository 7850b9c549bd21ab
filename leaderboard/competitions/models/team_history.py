"""Carry shown scores and the day's attempts along when people change teams."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.crypto import salted_hmac

from leaderboard.accounts.models import User
from leaderboard.common.names import lookalike_key

from .competition import Competition
from .submission import Submission
from .team import DailyAttempts, Team

COUNTING = (Submission.Status.PENDING, Submission.Status.SCORED)


class TeamChange(models.Model):
    """At a moment, a member of one team came to another: by leaving, joining, merging, or signing up again.

    The teams are numbers and no keys, because a row outlives the teams it names.
    """

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="team_origins")
    team = models.BigIntegerField()
    former = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="a_team_comes_from_another_one", condition=~Q(team=models.F("former"))),
        ]

    def __str__(self) -> str:
        return f"{self.former} → {self.team} at {self.at:%Y-%m-%d %H:%M}"


class FormerMember(models.Model):
    """A person whose account was deleted while a competition runs, as a keyed hash of the name or of an address.

    Signing up again therefore gives no second attempts of a day and no fresh steady board. The rows of a competition
    are deleted when it is revealed or over.
    """

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="former_members")
    digest = models.CharField(max_length=64)
    team = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["competition", "digest"], name="former_member_by_digest")]

    def __str__(self) -> str:
        return f"{self.digest[:8]} of team {self.team}"

    @classmethod
    def remember(cls, user: User, team: Team, at: datetime) -> None:
        """Store the digests of a member whose account is about to be deleted."""
        FormerMember.objects.bulk_create(
            FormerMember(competition_id=team.competition_id, digest=digest, team=team.pk, at=at)
            for digest in digests_of(user, team.competition_id)
        )

    @classmethod
    def forget_ended(cls, at: datetime) -> int:
        """Delete the rows of competitions that nobody can join any more; gives their number."""
        ended = Q(competition__closes_at__lte=at) | Q(competition__revealed_at__isnull=False)
        return cls.objects.filter(ended).delete()[0]


def digests_of(user: User, competition_id: int) -> set[str]:
    """Keyed hashes of the user name and of every address of an account; they differ from competition to competition."""
    addresses = {user.email, *user.emailaddress_set.values_list("email", flat=True)}  # type: ignore[attr-defined]
    texts = {f"name:{lookalike_key(user.get_username())}", *(f"address:{_mailbox(one)}" for one in addresses if one)}
    salt = f"leaderboard.former_member.{competition_id}"
    return {salted_hmac(salt, text, algorithm="sha256").hexdigest() for text in texts}


def _mailbox(address: str) -> str:
    """Where mail to an address arrives: capitals and what follows a `+` make no other mailbox."""
    name, _, domain = address.strip().casefold().rpartition("@")
    return f"{name.partition('+')[0]}@{domain}"


def link_returning_person(user: User, team: Team, now: datetime) -> None:
    """Let what an account that was deleted had been shown and had used follow its owner into a team."""
    known = FormerMember.objects.filter(
        competition=team.competition_id, digest__in=digests_of(user, team.competition_id)
    )
    for former, at in set(known.values_list("team", "at")):
        record_team_change(team, former, at=at, now=now)


def record_team_change(team: Team, former: int, *, at: datetime, now: datetime) -> None:
    """Store that a member of `former` came to a team, and count the attempts that `former` had used on this day."""
    TeamChange.objects.create(competition_id=team.competition_id, team=team.pk, former=former, at=at)
    recount_attempts(team, now)


def recount_attempts(team: Team, now: datetime) -> None:
    """Count the attempts of a day again: files of the team, and those that its members handed in with other teams.

    A file counts once, also where several members bring it along.
    """
    competition = team.competition
    day = competition.day_of(now)
    files = Submission.objects.filter(
        competition=team.competition_id,
        team__isnull=False,
        status__in=COUNTING,
        received_at__gte=competition.midnight(day),
        received_at__lt=competition.midnight(day + timedelta(days=1)),
    )
    rows = list(files.order_by().values_list("pk", "team_id", "former_team", "received_at"))
    own = {pk for pk, team_id, _, _ in rows if team_id == team.pk}
    handed_in = [(pk, former or team_id, at) for pk, team_id, former, at in rows if team_id is not None]
    carried = len(_files_of_linked_teams(team, handed_in) - own)
    if own or carried or DailyAttempts.objects.filter(team=team, day=day).exists():
        count, _ = DailyAttempts.objects.get_or_create(team=team, day=day)
        DailyAttempts.objects.filter(pk=count.pk).update(used=len(own) + carried, carried_over=carried)


def _files_of_linked_teams(team: Team, files: Sequence[tuple[UUID, int, datetime]]) -> set[UUID]:
    """The files that other teams handed in before a member of them came here, over any number of teams between."""
    origins = list(TeamChange.objects.filter(competition=team.competition_id).values_list("team", "former", "at"))
    merged = Submission.objects.filter(team=team).order_by().values_list("former_team", flat=True).distinct()
    waiting: list[tuple[int, datetime | None]] = [(former or team.pk, None) for former in {None, *merged}]
    seen, found = set(waiting), set[UUID]()
    while waiting:
        here, until = waiting.pop()
        if until is not None:
            found |= {pk for pk, lane, at in files if lane == here and at < until}
        for to, former, at in origins:
            if to == here and (until is None or at < until) and (former, at) not in seen:
                seen.add((former, at))
                waiting.append((former, at))
    return found
