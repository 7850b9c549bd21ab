"""Figures for the hosts' dashboard during a competition, even of a hidden board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Case, Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery, Value, When

from leaderboard.classroom.models import RosterEntry
from leaderboard.classroom.queries import best_public_scores, teams_below_baselines
from leaderboard.common.charts import Day
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, Membership, Submission, Team
from leaderboard.competitions.models.page_task import Worker
from leaderboard.competitions.models.submission import waiting_since
from leaderboard.submissions.queue_health import HEARD_WITHIN

Status = Submission.Status

DAYS = 14
MAX_DAYS = 366
KINDS = ("stuck", "nothing", "below")
DAY = timedelta(days=1)
MIN_INVALID_OF_STUCK = 3
"""A team with at least this many invalid files within 24 hours, and none scored, needs help."""


@dataclass(frozen=True)
class TeamInNeed:
    """A team that needs help; `kind` is the reason, one of `KINDS`.

    `problem` is the code of the last file's problem for `stuck`, and the name of a baseline for `below`.
    """

    team_id: int
    name: str
    kind: str
    joined_at: datetime | None = None
    invalid: int = 0
    problem: str = ""
    best: float | None = None

    def order(self) -> tuple[int, int, str]:
        return (KINDS.index(self.kind), -self.invalid, self.name.casefold())


@dataclass(frozen=True)
class ClassActivity:
    """Figures for the dashboard: numbers of teams, students and files, scores, ages in seconds."""

    teams: int
    students: int
    not_joined: int
    """Students on the roster who have not joined."""
    active_today: int
    active_yesterday: int
    submissions: int
    pending: int
    invalid: int
    failed: int
    oldest: int | None
    best: float | None
    best_team: str
    baseline: str
    above_baseline: int
    days: tuple[Day, ...]
    in_need: tuple[TeamInNeed, ...]
    without_valid: int
    seconds_since_worker: int | None
    """Seconds since the last sign of life from a worker; None without any."""

    @property
    def scorer_works(self) -> bool:
        return self.seconds_since_worker is not None and self.seconds_since_worker <= HEARD_WITHIN.total_seconds()

    @property
    def more_active(self) -> int:
        return self.active_today - self.active_yesterday


def class_activity(competition: Competition, at: datetime) -> ClassActivity:
    """The figures at this time. A fixed number of queries."""
    files = Submission.objects.filter(competition=competition, team__isnull=False).order_by()
    by_team = {row.pop("team"): row for row in _numbers_by_team(files, at)}
    rows = by_team.values()
    teams = list(
        competition.teams.order_by().annotate(members=Count("memberships"), joined=Min("memberships__joined_at"))
    )
    heard = Subquery(Worker.objects.order_by("-last_seen_at").values("last_seen_at")[:1])
    members = Membership.objects.filter(competition=competition, user=OuterRef("user"))
    expected = RosterEntry.objects.filter(~Exists(members), course=OuterRef("course"), left_at=None)
    this_competition = Competition.objects.filter(pk=competition.pk).order_by()
    site: Any = this_competition.values(heard=heard, not_joined=count_rows(expected, "course")).get()
    zone = ZoneInfo(competition.zone)
    today = at.astimezone(zone).date()
    last_days = [today - number * DAY for number in reversed(range(DAYS))]
    days = _count_by_day(files, last_days, zone) if by_team else []
    oldest = min((row["oldest"] for row in rows if row["oldest"]), default=None)
    return ClassActivity(
        teams=sum(team.members > 0 for team in teams),
        students=sum(team.members for team in teams),
        not_joined=site["not_joined"],
        active_today=sum(row["today"] > 0 for row in rows),
        active_yesterday=sum(row["yesterday"] > 0 for row in rows),
        submissions=sum(row["files"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in ("pending", "invalid", "failed")},
        oldest=_age_in_seconds(oldest, at),
        days=tuple(days) if any(day.scored or day.invalid for day in days) else (),
        **_score_facts(competition, teams, by_team, files),
        seconds_since_worker=_age_in_seconds(site["heard"], at),
    )


def _numbers_by_team(files: QuerySet[Submission], at: datetime) -> Iterable[dict[str, Any]]:
    today = Q(received_at__gte=at - DAY)
    counted = {str(status): Count("pk", filter=Q(status=status)) for status in Status}
    rows: Any = files.values("team").annotate(
        **counted,
        files=Count("pk"),
        today=Count("pk", filter=today),
        yesterday=Count("pk", filter=Q(received_at__gte=at - 2 * DAY, received_at__lt=at - DAY)),
        scored_today=Count("pk", filter=today & Q(status=Status.SCORED)),
        invalid_today=Count("pk", filter=today & Q(status=Status.INVALID)),
        oldest=Min(waiting_since(), filter=Q(status=Status.PENDING)),
    )
    return rows  # type: ignore[no-any-return]


def _age_in_seconds(moment: datetime | None, at: datetime) -> int | None:
    return None if moment is None else max(0, round((at - moment).total_seconds()))


def _score_facts(
    competition: Competition,
    teams: Sequence[Any],
    by_team: Mapping[int, Mapping[str, Any]],
    files: QuerySet[Submission],
) -> dict[str, Any]:
    """Fields of `ClassActivity` about scores, baselines and teams that need help."""
    best = best_public_scores(competition)
    baselines = teams_below_baselines(competition, best)
    names = {team.pk: team.name for team in teams}
    competing = {team.pk: team for team in teams if team.disqualified_at is None and team.members}
    sign = competition.ground_truth.sort_sign if competition.ground_truth else 1.0
    first = min(best.keys() & competing.keys(), key=lambda team: sign * best[team], default=None)
    strongest, weakest = (baselines[0], baselines[-1]) if baselines else (None, None)
    below = weakest.teams if weakest else frozenset()
    in_need = _teams_in_need(competing, by_team, _last_problems(files, competing, by_team))
    in_need += [
        TeamInNeed(pk, competing[pk].name, "below", best=best[pk], problem=weakest.name if weakest else "")
        for pk in below & competing.keys() - {team.team_id for team in in_need}
    ]
    return {
        "best": None if first is None else best[first],
        "best_team": names.get(first, "") if first else "",
        "baseline": strongest.name if strongest else "",
        "above_baseline": len(best.keys() & competing.keys() - strongest.teams) if strongest else 0,
        "in_need": tuple(sorted(in_need, key=TeamInNeed.order)),
        "without_valid": sum(not _has_valid(by_team, pk) for pk in competing),
    }


def _has_valid(by_team: Mapping[int, Mapping[str, Any]], team: int) -> bool:
    return team in by_team and by_team[team]["scored"] > 0


def _is_stuck(row: Mapping[str, Any]) -> bool:
    return bool(row["invalid_today"] >= MIN_INVALID_OF_STUCK and not row["scored_today"])


def _teams_in_need(
    teams: Mapping[int, Any], by_team: Mapping[int, Mapping[str, Any]], problems: Mapping[int, str]
) -> list[TeamInNeed]:
    """Teams with only invalid files lately (`stuck`), and other teams without a valid file (`nothing`)."""
    in_need = []
    for pk, team in teams.items():
        if pk in problems:
            invalid = by_team[pk]["invalid_today"]
            in_need.append(TeamInNeed(pk, team.name, "stuck", invalid=invalid, problem=problems[pk]))
        elif not _has_valid(by_team, pk):
            in_need.append(TeamInNeed(pk, team.name, "nothing", joined_at=team.joined))
    return in_need


def _last_problems(
    files: QuerySet[Submission], teams: Mapping[int, Any], by_team: Mapping[int, Mapping[str, Any]]
) -> dict[int, str]:
    """Stuck team → code of the first problem of its newest invalid file."""
    stuck = [pk for pk in teams if pk in by_team and _is_stuck(by_team[pk])]
    if not stuck:
        return {}
    newest = files.filter(team=OuterRef("pk"), status=Status.INVALID).order_by("-received_at")
    latest = Team.objects.filter(pk__in=stuck).annotate(problems=Subquery(newest.values("problems")[:1]))
    return {
        pk: problems[0].get("code", "") if problems else ""
        for pk, problems in latest.order_by().values_list("pk", "problems")
    }


# --- days and hours -------------------------------------------------------------------------------------------------


def files_per_day(competition: Competition, at: datetime) -> list[Day]:
    """Teams' files per day in the competition's time zone, at most for the last `MAX_DAYS` days.

    From its opening or first file, whichever is earlier, to now or its deadline; longer if files came after that.
    """
    zone = ZoneInfo(competition.zone)
    files = files_of_teams(competition)
    ends = files.aggregate(first=Min("received_at"), last=Max("received_at"))
    first = min(competition.opens_at, ends["first"] or competition.opens_at).astimezone(zone).date()
    last = max(first, max(min(at, competition.closes_at), ends["last"] or competition.opens_at).astimezone(zone).date())
    first = max(first, last - timedelta(days=MAX_DAYS - 1))
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return _count_by_day(files, days, zone)


def _count_by_day(files: QuerySet[Submission], days: Sequence[date], zone: ZoneInfo) -> list[Day]:
    """The days with their numbers of files."""
    begins = [datetime.combine(day, time(), zone) for day in days]
    rows = (
        files.filter(received_at__gte=begins[0])
        .values(place=_day_index(begins))
        .annotate(
            scored=Count("pk", filter=Q(status=Status.SCORED)),
            invalid=Count("pk", filter=Q(status=Status.INVALID)),
        )
    )
    by_place = {row["place"]: row for row in rows.order_by("place")}
    counts = [by_place.get(place, {"scored": 0, "invalid": 0}) for place in range(len(days))]
    return [Day(day, count["scored"], count["invalid"]) for day, count in zip(days, counts, strict=True)]


def today_of(competition: Competition, at: datetime) -> date | None:
    """Today in the competition's time zone; None after the deadline."""
    return at.astimezone(ZoneInfo(competition.zone)).date() if at < competition.closes_at else None


def files_of_teams(competition: Competition) -> QuerySet[Submission]:
    return Submission.objects.filter(competition=competition, team__isnull=False).order_by()


def _day_index(begins: Sequence[datetime], first: int = 0) -> Case | Value:
    """SQL expression for the index of the day on which a file was received, by binary search in the starts of days.

    Django's `TruncDate` calls Python for each row in SQLite, which takes ten times as long.
    """
    if len(begins) == 1:
        return Value(first)
    middle = len(begins) // 2
    return Case(
        When(received_at__lt=begins[middle], then=_day_index(begins[:middle], first)),
        default=_day_index(begins[middle:], first + middle),
    )
