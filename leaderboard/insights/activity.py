"""What a host looks at while a class is at work: team by team, exact whatever the board shows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import TruncHour

from leaderboard.classroom.models.roster import name_on_roster
from leaderboard.competitions.models import Competition, Grant, Membership, Submission, Team, Worker
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import Terms
from leaderboard.competitions.models.submission import waiting_since
from leaderboard.competitions.ranking import boards, ladder, standings
from leaderboard.competitions.scoring.workers import HEARD_WITHIN

Status = Submission.Status


@dataclass(frozen=True)
class TeamLine:
    """A team, what became of its files, and what a host granted it. `best` is its best exact public score."""

    team: Team
    memberships: tuple[Membership, ...]
    files: int
    scored: int
    invalid: int
    failed: int
    last_at: datetime | None
    best: float | None
    terms: Terms
    is_granted: bool

    @property
    def members(self) -> list[str]:
        """Their names: those that the class list knows, with the account."""
        names = [(one.user.get_username(), getattr(one, "listed_as", None)) for one in self.memberships]
        return [f"{listed_as} ({username})" if listed_as else username for username, listed_as in names]


@dataclass(frozen=True)
class Below:
    """A baseline, its public score, and the teams whose best public score is worse."""

    name: str
    pk: int
    value: float
    teams: frozenset[int]

    @property
    def key(self) -> str:
        """Its name in addresses."""
        return f"below-{self.pk}"


def team_lines(teams: Sequence[Team], competition: Competition, day: date) -> list[TeamLine]:
    """Lines of some teams, in their order. Four queries."""
    keys = [team.pk for team in teams]
    members: dict[int | None, list[Membership]] = defaultdict(list)
    held = Membership.objects.filter(team__in=keys).select_related("user").annotate(listed_as=name_on_roster())
    for membership in held:
        members[membership.team_id].append(membership)
    fates = {str(status): Count("pk", filter=Q(status=status)) for status in (Status.SCORED, Status.INVALID)}
    counted = (
        Submission.objects.filter(team__in=keys)
        .order_by()
        .values("team_id")
        .annotate(
            files=Count("pk"), failed=Count("pk", filter=Q(status=Status.FAILED)), last=Max("received_at"), **fates
        )
    )
    facts: dict[int | None, dict[str, Any]] = {row["team_id"]: dict(row) for row in counted}
    best = best_public(competition, keys)
    grants: dict[int, list[Grant]] = defaultdict(list)
    for grant in Grant.objects.live().filter(team__in=keys):
        grants[grant.team_id].append(grant)
    nothing: dict[str, Any] = {"files": 0, "scored": 0, "invalid": 0, "failed": 0, "last": None}
    lines = []
    for team in teams:
        row = facts.get(team.pk, nothing)
        lines.append(
            TeamLine(
                team=team,
                memberships=tuple(members[team.pk]),
                files=row["files"],
                scored=row["scored"],
                invalid=row["invalid"],
                failed=row["failed"],
                last_at=row["last"],
                best=best.get(team.pk),
                terms=Terms.summed(competition, grants[team.pk], day),
                is_granted=bool(grants[team.pk]),
            )
        )
    return lines


def best_public(competition: Competition, teams: Sequence[int] | None = None) -> dict[int, float]:
    """Team → best exact public score of its files that can be ranked."""
    ruler = competition.ground_truth
    if ruler is None:
        return {}
    ruler.competition = competition
    return standings.best_values(ruler, teams=teams)


def below_baselines(competition: Competition) -> list[Below]:
    """For each scored baseline, best first, who is worse than it. Teams without a score are not counted here."""
    ruler = competition.ground_truth
    if ruler is None:
        return []
    sign = ladder.sign_of(ruler)
    scored = boards.reference_scores(competition.pk, Split.PUBLIC).filter(ground_truth=ruler)
    found = scored.values_list("submission__baseline__name", "submission__baseline", "value")
    baselines = sorted(found, key=lambda row: sign * row[2])
    best = best_public(competition) if baselines else {}
    return [
        Below(name, pk, value, frozenset(team for team, its in best.items() if sign * its > sign * value))
        for name, pk, value in baselines
        if name is not None and pk is not None
    ]


def without_valid_file(competition: Competition) -> QuerySet[Team]:
    """Teams of which no file could be scored so far; what still waits may change that."""
    scored = Submission.objects.filter(team=OuterRef("pk"), status=Status.SCORED)
    return competition.teams.filter(~Exists(scored), disqualified_at=None)


# --- the whole class, now ---------------------------------------------------------------------------------------

HOURS = 24
LOOKED_AT = 500
"""Invalid files whose reasons are counted: the latest tell what goes wrong now."""


@dataclass(frozen=True)
class Pulse:
    """How a competition is doing: numbers of files and teams, ages in seconds, reasons with their numbers of files."""

    teams: int
    without_valid: int
    active_today: int
    submissions: int
    pending: int
    scored: int
    invalid: int
    failed: int
    oldest: int | None
    hours: tuple[int, ...]
    """Files received in each of the last 24 hours of the clock, the present one last."""
    reasons: tuple[tuple[str, int], ...]
    below: tuple[Below, ...]
    scorer_heard: int | None
    """Seconds since a worker was heard of; None where none ever was."""

    @property
    def scorer_works(self) -> bool:
        return self.scorer_heard is not None and self.scorer_heard <= HEARD_WITHIN.total_seconds()


def pulse(competition: Competition, at: datetime, below: Sequence[Below] | None = None) -> Pulse:
    """Six queries at most, whatever the size of the class; `below` is what `below_baselines` gives, where it is at
    hand."""
    files = Submission.objects.filter(competition=competition, team__isnull=False).order_by()
    day_ago = at - timedelta(days=1)
    counted = {str(status): Count("pk", filter=Q(status=status)) for status in Status}
    numbers: dict[str, Any] = files.aggregate(
        submissions=Count("pk"),
        active_today=Count("team", distinct=True, filter=Q(received_at__gte=day_ago)),
        oldest=Min(waiting_since(), filter=Q(status=Status.PENDING)),
        **counted,
    )
    scored = Submission.objects.filter(team=OuterRef("teams"), status=Status.SCORED)
    beside = Competition.objects.filter(pk=competition.pk).annotate(
        number=Count("teams"),
        without=Count("teams", filter=~Exists(scored) & Q(teams__disqualified_at=None)),
        heard=Subquery(Worker.objects.order_by("-seen_at").values("seen_at")[:1]),
    )
    teams, without, heard = beside.values_list("number", "without", "heard").get()
    oldest = numbers.pop("oldest")
    return Pulse(
        teams=teams,
        without_valid=without,
        **numbers,
        oldest=_age(oldest, at),
        hours=_per_hour(files, at) if numbers["active_today"] else (0,) * HOURS,
        reasons=_reasons(files) if numbers["invalid"] else (),
        below=tuple(below_baselines(competition) if below is None else below),
        scorer_heard=_age(heard, at),
    )


def _age(moment: datetime | None, at: datetime) -> int | None:
    return None if moment is None else max(0, round((at - moment).total_seconds()))


def _per_hour(files: QuerySet[Submission], at: datetime) -> tuple[int, ...]:
    this = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    first = this - timedelta(hours=HOURS - 1)
    rows = files.filter(received_at__gte=first, received_at__lt=this + timedelta(hours=1))
    found = dict(rows.annotate(hour=TruncHour("received_at", tzinfo=UTC)).values_list("hour").annotate(n=Count("pk")))
    return tuple(found.get(first + timedelta(hours=number), 0) for number in range(HOURS))


def _reasons(files: QuerySet[Submission]) -> tuple[tuple[str, int], ...]:
    """Code of a problem → files that have it, the most frequent first."""
    latest = files.filter(status=Status.INVALID).order_by("-received_at").values_list("problems", flat=True)[:LOOKED_AT]
    counted = Counter(code for problems in latest for code in {problem.get("code", "") for problem in problems})
    return tuple(counted.most_common(8))
