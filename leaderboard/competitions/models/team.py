"""Teams (a lone student is a team of one), their members, their daily attempts.

Which names of a competition's teams are taken.

Without pseudonyms no two teams have names that look the same. Under pseudonyms they may: a team that is refused a name
would learn that another one has it, which the pseudonyms hide. Hosts then distinguish such teams by pseudonym.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, ClassVar

from django.db import models
from django.db.models import F, Max, Q, QuerySet, Value
from django.db.models.functions import Greatest, Lower
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.names import lookalike_key

from .competition import Competition

if TYPE_CHECKING:
    from .competition import Competition


def new_invitation() -> str:
    return secrets.token_urlsafe(18)


class Team(models.Model):
    """Who is ranked. The invitation lets others in while there is room."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=60)
    # Counts the teams that share a name. It is 0 but under pseudonyms: there a refused name would reveal
    # that another team has it.
    name_copy = models.PositiveIntegerField(default=0, editable=False)
    # What other teams read where the competition has pseudonyms; given once and never changed (see `pseudonyms.py`).
    pseudonym = models.CharField(max_length=60, blank=True, editable=False)
    captain = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    invitation = models.CharField(max_length=40, unique=True, default=new_invitation)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # A disqualified team hands nothing in and stands on no board; its files and scores stay.
    disqualified_at = models.DateTimeField(null=True, editable=False)
    disqualified_reason = models.CharField(max_length=300, blank=True, editable=False)
    # Files that failed before this moment do not count against the limit of failed files of a day.
    failed_files_reset_at = models.DateTimeField(null=True, editable=False)
    # When the account of its last member was deleted. Until the reveal such a team stands on no board.
    vacated_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint("competition", Lower("name"), "name_copy", name="team_name_once_per_competition"),
            models.CheckConstraint(
                name="a_disqualified_team_reads_why",
                condition=Q(disqualified_at__isnull=True) | ~Q(disqualified_reason=""),
            ),
            models.UniqueConstraint(
                fields=["competition", "pseudonym"], name="team_pseudonym_once", condition=~Q(pseudonym="")
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_name(self) -> str:
        """What everybody may read: the only name of a team that may stand in bytes for other teams.

        The team itself and those who run the competition read `name`. Needs `competition` loaded.
        """
        return (
            self.name
            if not self.competition.board.uses_pseudonyms
            else self.pseudonym or _("Team {number}").format(number=self.pk)
        )

    def is_led_by(self, user: User) -> bool:
        """The captain; where their account is gone, every member."""
        return self.captain_id in (None, user.pk)


class Membership(models.Model):
    """A user in a team, and which version of the rules they accepted."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    rules_version = models.PositiveIntegerField(default=0)
    rules_accepted_at = models.DateTimeField(null=True)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["joined_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "user"], name="one_team_per_user_and_competition"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"

    def has_accepted_rules(self) -> bool:
        """Where there are no rules nobody is asked; those that come later ask everybody."""
        return not self.competition.rules.strip() or self.rules_version >= self.competition.rules_version


class MergeOffer(models.Model):
    """A team offers another one to become part of it; its captain agrees or declines."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="offers_made")
    other = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="offers_received")
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "other"], name="one_offer_between_two_teams"),
            models.CheckConstraint(name="an_offer_is_for_another_team", condition=~Q(team=F("other"))),
        ]

    def __str__(self) -> str:
        return f"{self.team} to {self.other}"

    @classmethod
    def between(cls, team: Team) -> models.QuerySet[MergeOffer]:
        """Those that a team made or received."""
        return cls.objects.filter(Q(team=team) | Q(other=team))


class DailyAttempts(models.Model):
    """How many attempts a team used on a UTC day, and how many of its files were refused on it.

    Taken by compare-and-set, so that no number of parallel uploads can exceed the limit.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="daily_attempts")
    day = models.DateField()
    used = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    # Of `used`, what a member who left another team on this day brought along; no file of this team stands for it.
    carried_over = models.PositiveIntegerField(default=0)
    # The most a team could use when it took its last attempt: a host may change the limit at any time.
    limit = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "day"], name="one_count_per_team_and_day"),
            models.CheckConstraint(name="attempts_not_negative", condition=Q(used__gte=0, refused__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.day}: {self.used}"

    @classmethod
    def use_attempt(cls, team_id: int, day: object, limit: int) -> bool:
        """Use one attempt; False when none is left. Inside a transaction, where the first one of a day costs no commit
        of its own."""
        left = cls.objects.filter(team_id=team_id, day=day, used__lt=limit)
        if left.update(used=F("used") + 1, limit=limit):
            return True
        cls.objects.get_or_create(team_id=team_id, day=day)
        return bool(left.update(used=F("used") + 1, limit=limit))

    @staticmethod
    def create_for(files: Iterable[tuple[int, date]], limit: int) -> None:
        """Write the counts of made-up files, team and UTC day of each, for teams that have none yet."""
        DailyAttempts.objects.bulk_create(
            DailyAttempts(team_id=team, day=day, used=used, limit=max(used, limit))
            for (team, day), used in Counter(files).items()
        )

    @classmethod
    def return_attempt(cls, team_id: int, day: object, *, refused: bool) -> None:
        """Return the attempt of a file that did not count; `refused` files have a generous limit of their own."""
        cls.objects.filter(team_id=team_id, day=day, used__gt=0).update(
            used=F("used") - 1, refused=F("refused") + (1 if refused else 0)
        )

    @classmethod
    def count_again(cls, team_id: int, day: object, number: int, *, refused: int) -> None:
        """Count files that were given back once more, `refused` of them as unreadable, also beyond what a team may use:
        a host has them scored again."""
        cls.objects.get_or_create(team_id=team_id, day=day)
        used = F("used") + number
        cls.objects.filter(team_id=team_id, day=day).update(
            used=used, limit=Greatest(F("limit"), used), refused=Greatest(F("refused") - refused, 0)
        )


LONGEST = 60


def teams_called(competition: Competition, name: str) -> QuerySet[Team]:
    """The teams of a competition whose names look like this one. Reads all of their names."""
    wanted = lookalike_key(name)
    found = [pk for pk, other in competition.teams.values_list("pk", "name") if lookalike_key(other) == wanted]
    return competition.teams.filter(pk__in=found)


def name_with_number(competition: Competition, base: str) -> str:
    """The name itself, with a number where a team is called so."""
    name, number = base, 2
    while teams_called(competition, name).exists():
        name, number = f"{base[: LONGEST - 6]} {number}", number + 1
    return name


def next_copy_number(competition: Competition, name: str, *, exclude: int | None = None) -> int:
    """The number that distinguishes a further team of this name in the database; 0 for the first. The team
    `exclude` is about to get the name."""
    called = competition.teams.annotate(lower=Lower("name")).filter(lower=Lower(Value(name)))
    highest = called.exclude(pk=exclude or 0).aggregate(highest=Max("name_copy"))["highest"]
    return 0 if highest is None else highest + 1


def number_shared_names(competition: Competition) -> None:
    """Give numbers to teams that took a name under pseudonyms which an older team has; real names are shown again."""
    seen = set[str]()
    for team in competition.teams.order_by("created_at", "pk"):
        if lookalike_key(team.name) in seen:
            competition.teams.filter(pk=team.pk).update(name=name_with_number(competition, team.name), name_copy=0)
            team.refresh_from_db(fields=["name"])
        seen.add(lookalike_key(team.name))
