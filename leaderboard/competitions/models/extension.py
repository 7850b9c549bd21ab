"""Extensions of single teams: extra attempts, a later deadline; and the deadlines and limits that result from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.accounts.models import User
from leaderboard.common.prepared_queries import PreparedQuery

from .competition import Competition
from .team import Team


class ExtensionQuerySet(models.QuerySet["Extension"]):
    def active(self) -> ExtensionQuerySet:
        """Extensions that have not been ended by a host."""
        return self.filter(ended_at=None)


class Extension(models.Model):
    """Extra attempts, a later deadline, or both, for one team, with the reason.

    Several add up: extra attempts are summed, and the latest deadline counts, but never one before the competition's.
    `closes_at` moves with the competition's deadline. Ending an extension moves it to that time, so that files
    received until then stay on time.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="extensions")
    extra_attempts = models.PositiveIntegerField(
        gettext_lazy("extra attempts"), default=0, validators=[MaxValueValidator(1000)]
    )
    closes_at = models.DateTimeField(gettext_lazy("new deadline"), null=True, blank=True)
    reason = models.CharField(gettext_lazy("reason"), max_length=300)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)
    # Whether the final ranking waits for this extension. If not, it opens without the team, which is added later.
    delays_ranking = models.BooleanField(default=True)

    objects = ExtensionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-at", "-pk"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="an_extension_gives_something", condition=Q(extra_attempts__gt=0) | Q(closes_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.team}: {self.extra_attempts} attempts, until {self.closes_at}"

    def clean(self) -> None:
        if not self.extra_attempts and self.closes_at is None:
            # An error for this field suppresses a second message from the constraint above.
            raise ValidationError({"extra_attempts": _("Give extra attempts, a later deadline, or both.")})
        if self.closes_at is not None and self.closes_at <= self.team.competition.closes_at:
            raise ValidationError({"closes_at": _("This isn't later than the regular deadline.")})


@dataclass(frozen=True)
class EffectiveLimits:
    """Deadline and attempts per day of a team, with its extensions. Used by submitting and by pages."""

    closes_at: datetime
    daily_attempts: int

    @classmethod
    def from_extensions(cls, competition: Competition, extensions: Iterable[Extension]) -> EffectiveLimits:
        """The limits that result from all extensions of one team."""
        closes_at, attempts = competition.closes_at, competition.limits.daily_attempts
        for extension in extensions:
            closes_at = max(closes_at, extension.closes_at or closes_at)
            attempts += 0 if extension.ended_at else extension.extra_attempts
        return cls(closes_at, attempts)


def effective_limits_of(team: int, competition: Competition) -> EffectiveLimits:
    """The limits of one team; one query. While the competition is locked they do not change."""
    return EffectiveLimits.from_extensions(competition, _extensions_of.rows(team=team))


@PreparedQuery
def _extensions_of(team: int) -> QuerySet[Extension]:
    return Extension.objects.filter(team=team).order_by()


def effective_limits_of_teams(teams: Mapping[int, Competition]) -> dict[int, EffectiveLimits]:
    """Team → its limits, for teams of any competitions. One query."""
    granted: dict[int, list[Extension]] = {key: [] for key in teams}
    for extension in Extension.objects.filter(team__in=list(teams)):
        granted[extension.team_id].append(extension)
    return {key: EffectiveLimits.from_extensions(competition, granted[key]) for key, competition in teams.items()}


def extended_deadline() -> Subquery:
    """Annotation for rows with a `team`: the latest deadline granted to it; NULL without one."""
    granted = Extension.objects.filter(team=OuterRef("team"), closes_at__isnull=False)
    return Subquery(granted.order_by("-closes_at").values("closes_at")[:1])


def team_deadline() -> Combinable:
    """Annotation for submissions: the deadline of the team."""
    everybodys = F("competition__closes_at")
    return Greatest(everybodys, Coalesce(extended_deadline(), everybodys))


def ranking_opens_at(competition: Competition) -> datetime:
    """The time at which the final ranking opens, or from which a host can open it: the deadline, or the end of the last
    extension that delays the ranking. Disqualified teams delay nothing."""
    latest = _last_delay.only_row(competition=competition.pk)
    return max(competition.closes_at, (latest and latest.closes_at) or competition.closes_at)


@PreparedQuery
def _last_delay(competition: int) -> QuerySet[Extension]:
    teams = Team.objects.filter(competition=competition, disqualified_at=None)
    delaying = Extension.objects.filter(team__in=teams, delays_ranking=True, closes_at__isnull=False)
    return delaying.order_by("-closes_at")[:1]


def teams_with_time(competition: Competition, at: datetime) -> QuerySet[Team]:
    """Teams whose extension ends after `at`, with `extended_to`, its end; latest first. For use after the deadline."""
    teams = competition.teams.annotate(extended_to=Max("extensions__closes_at"))
    return teams.filter(extended_to__gt=at).order_by("-extended_to", "name")


def extensions_to_move(competition: Competition, by: timedelta) -> list[Extension]:
    """Extensions that move along with the deadline, with their new ends, not saved; latest first. Ended ones stay."""
    running = Extension.objects.active().filter(team__competition=competition, closes_at__isnull=False)
    moved = list(running.select_related("team").order_by("-closes_at"))
    for extension in moved:
        assert extension.closes_at is not None
        extension.closes_at += by
    return moved
