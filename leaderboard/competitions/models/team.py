"""Teams (a single student is a team of one), memberships, daily attempts."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Lower
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User

from .competition import Competition


def new_invitation() -> str:
    return secrets.token_urlsafe(18)


class Team(models.Model):
    """A team: the unit that is ranked. Its invitation link lets others join while there is room."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=60)
    # Number that makes equal names unique in the database. Always 0 without pseudonyms, where names must differ.
    name_copy = models.PositiveIntegerField(default=0, editable=False)
    # The name for other teams if the competition uses pseudonyms; never changed (see `team_names.py`).
    pseudonym = models.CharField(max_length=60, blank=True, editable=False)
    invitation = models.CharField(max_length=40, unique=True, default=new_invitation)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # A disqualified team cannot submit and is on no board; its files and scores are kept.
    disqualified_at = models.DateTimeField(null=True, editable=False)
    disqualified_reason = models.CharField(max_length=300, blank=True, editable=False)
    # Whether the final ranking was opened without this team, because it still had time. Until it is added to the
    # ranking, its members see nothing private and the boards show its best public submission.
    is_awaited = models.BooleanField(default=False, editable=False)
    # Time at which the account of its last member was deleted. Until the reveal such a team is on no board.
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
        """The name for other teams: the pseudonym if the competition uses them, else `name`.

        Only the team itself, hosts and assistants may see `name`. Needs `competition` loaded.
        """
        return (
            self.name
            if not self.competition.board.uses_pseudonyms
            else self.pseudonym or _("Team {number}").format(number=self.pk)
        )


class Membership(models.Model):
    """A user in a team, with the version of the rules that they accepted."""

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
        """Whether the current version of the rules is accepted; True without rules."""
        return not self.competition.rules.strip() or self.rules_version >= self.competition.rules_version


class DailyAttempts(models.Model):
    """Attempts that a team used on a day in the competition's time zone.

    Counted by compare-and-set, so that parallel uploads cannot exceed the limit.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="daily_attempts")
    day = models.DateField()
    used = models.PositiveIntegerField(default=0)
    # The limit when the last attempt was used; hosts may change it at any time.
    limit = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "day"], name="one_count_per_team_and_day"),
            models.CheckConstraint(name="attempts_not_negative", condition=Q(used__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.day}: {self.used}"

    @classmethod
    def use_attempt(cls, team_id: int, day: object, limit: int) -> bool:
        """Use one attempt; False if none is left. Call it in a transaction: the first one of a day writes twice."""
        left = cls.objects.filter(team_id=team_id, day=day, used__lt=limit)
        if left.update(used=F("used") + 1, limit=limit):
            return True
        cls.objects.get_or_create(team_id=team_id, day=day)
        return bool(left.update(used=F("used") + 1, limit=limit))

    @staticmethod
    def create_for(files: Iterable[tuple[int, date]], limit: int) -> None:
        """Write the counts for generated files, given as (team, UTC day); for teams without counts."""
        DailyAttempts.objects.bulk_create(
            DailyAttempts(team_id=team, day=day, used=used, limit=max(used, limit))
            for (team, day), used in Counter(files).items()
        )

    @classmethod
    def return_attempt(cls, team_id: int, day: object) -> None:
        """Return the attempt of a file that got no score."""
        cls.objects.filter(team_id=team_id, day=day, used__gt=0).update(used=F("used") - 1)

    @classmethod
    def count_again(cls, team_id: int, day: object, number: int) -> None:
        """Count returned attempts once more, because a host has the files scored again; even beyond the limit."""
        cls.objects.get_or_create(team_id=team_id, day=day)
        used = F("used") + number
        cls.objects.filter(team_id=team_id, day=day).update(used=used, limit=Greatest(F("limit"), used))
