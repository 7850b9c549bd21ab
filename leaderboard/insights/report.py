"""How a class did: scores against baselines, who took part when, and whether many files fitted the public rows."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Case, Count, Max, Min, Q, Value, When

from leaderboard.common.csv_files import safe_cell
from leaderboard.competitions.models import Competition, GroundTruth, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards, ladder, standings

MOST_BINS = 20
FEWEST_FOR_CORRELATION = 5
COLUMNS = (
    "team",
    "files",
    "scored",
    "invalid",
    "first_received",
    "last_received",
    "public",
    "private",
    "public_better_by",
)
# What of a correlation is worth a sentence.
SOME, MUCH = 0.3, 0.6
# Standard errors, 1 / √(n - 1) each, that a rank correlation passes by chance in 5 of 100 cases.
CHANCE_LIMIT = 1.645


@dataclass(frozen=True)
class TeamFacts:
    """One team: `public` and `private` are those of the file that decides, or would now. Of its `files` those are
    `scored` that a board counts: neither late nor hidden."""

    name: str
    files: int
    scored: int
    invalid: int
    first_at: datetime | None
    last_at: datetime | None
    public: float | None
    private: float | None
    gap: float | None
    """How much better the public score is than the private one: what was won on the public rows alone."""


@dataclass(frozen=True)
class HistogramBin:
    """Teams with `low` ≤ x < `high`, in the last bin x ≤ `high`."""

    low: float
    high: float
    teams: int


@dataclass(frozen=True)
class DayActivity:
    day: date
    files: int
    teams: int


@dataclass(frozen=True)
class ClassReport:
    """Everything about a class, from facts alone. `baselines` are (name, private score), best first."""

    teams: tuple[TeamFacts, ...]
    baselines: tuple[tuple[str, float], ...]
    scores: tuple[HistogramBin, ...]
    days: tuple[DayActivity, ...]
    attempts: tuple[HistogramBin, ...]
    correlation: float | None
    """Of the number of scored files with `gap`, by ranks; None with too few teams or where all values are equal."""
    above: tuple[tuple[str, int], ...]
    """For each baseline how many teams are better than it on the private rows."""

    @property
    def ranked(self) -> list[TeamFacts]:
        """Those with a score."""
        return [team for team in self.teams if team.private is not None]

    @property
    def overfitting(self) -> str:
        """What the correlation says: `none`, `some`, `much`, `chance` where as much is usual among so few teams
        by itself, or `unknown`."""
        if self.correlation is None:
            return "unknown"
        if self.correlation < SOME:
            return "none"
        if self.correlation * math.sqrt(len(self.ranked) - 1) < CHANCE_LIMIT:
            return "chance"
        return "much" if self.correlation >= MUCH else "some"


def class_report(competition: Competition) -> ClassReport:
    """The report at this moment, private scores included: for hosts alone. Cost grows with the number of files."""
    ground_truth = competition.ground_truth
    teams = _teams(competition, ground_truth)
    shown = boards.baseline_rows(ground_truth, Split.PRIVATE) if ground_truth else []
    baselines = [(row.name, row.value) for row in shown if row.value is not None]
    sign = ladder.sign_of(ground_truth) if ground_truth else 1.0
    private = [team.private for team in teams if team.private is not None]
    both = [(team.scored, team.gap) for team in teams if team.gap is not None]
    return ClassReport(
        teams=tuple(teams),
        baselines=tuple(baselines),
        scores=tuple(histogram(private, also=[value for _name, value in baselines])),
        days=tuple(_days(competition, teams)),
        attempts=tuple(histogram([team.files for team in teams], whole=True)),
        correlation=rank_correlation([files for files, _ in both], [gap for _, gap in both]),
        above=tuple((name, sum(sign * value < sign * its for value in private)) for name, its in baselines),
    )


def report_csv(competition: Competition) -> str:
    """One line per team; private scores included."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for team in class_report(competition).teams:
        times = ["" if at is None else at.isoformat() for at in (team.first_at, team.last_at)]
        values = ["" if value is None else repr(value) for value in (team.public, team.private, team.gap)]
        writer.writerow([safe_cell(team.name), team.files, team.scored, team.invalid, *times, *values])
    return text.getvalue()


def _teams(competition: Competition, ground_truth: GroundTruth | None) -> list[TeamFacts]:
    """Every team, those with the best private score first, those without one last."""
    found: dict[Split, dict[int, float]] = {split: {} for split in Split}
    sign = 1.0
    if ground_truth is not None:
        ground_truth.competition, sign = competition, ladder.sign_of(ground_truth)
        for split, best in standings.deciding_candidates(ground_truth):
            found[split][best.team_id] = best.value
    public, private = found[Split.PUBLIC], found[Split.PRIVATE]
    rows = competition.teams.order_by().values("pk", "name")
    rows = rows.annotate(
        files=Count("submissions"),
        scored=Count("submissions", filter=ladder.ranked_files("submissions")),
        invalid=Count("submissions", filter=Q(submissions__status=Submission.Status.INVALID)),
        first_at=Min("submissions__received_at"),
        last_at=Max("submissions__received_at"),
    )
    teams = []
    for row in rows:
        team = row["pk"]
        facts: dict[str, Any] = {name: value for name, value in row.items() if name != "pk"}
        gap = _score_gap(public.get(team), private.get(team), sign)
        teams.append(TeamFacts(**facts, public=public.get(team), private=private.get(team), gap=gap))
    return sorted(teams, key=lambda team: (math.inf if team.private is None else sign * team.private, team.name))


def _score_gap(public: float | None, private: float | None, sign: float) -> float | None:
    """None also where the two are so far apart that no number says it."""
    if public is None or private is None or not math.isfinite(private - public):
        return None
    # Without the sign of a zero.
    return sign * (private - public) + 0.0


def _days(competition: Competition, teams: Sequence[TeamFacts]) -> list[DayActivity]:
    """Days by the competition's clock on which files came."""
    times = [at for team in teams for at in (team.first_at, team.last_at) if at is not None]
    if not times:
        return []
    zone = ZoneInfo(competition.zone)
    first, last = (at.astimezone(zone).date() for at in (min(times), max(times)))
    files = competition.submissions.filter(team__isnull=False).order_by()
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    begins = [datetime.combine(day, time(), zone) for day in days]
    rows = files.values(place=_day_index(begins)).annotate(files=Count("pk"), teams=Count("team", distinct=True))
    return [DayActivity(days[row["place"]], row["files"], row["teams"]) for row in rows.order_by("place")]


def _day_index(begins: Sequence[datetime], first: int = 0) -> Case | Value:
    """Which of the days a file came on, by binary search in the beginnings of days. SQLite would ask Python
    for the day of each file, which takes ten times as long."""
    if len(begins) == 1:
        return Value(first)
    middle = len(begins) // 2
    return Case(
        When(received_at__lt=begins[middle], then=_day_index(begins[:middle], first)),
        default=_day_index(begins[middle:], first + middle),
    )


def histogram(values: Sequence[float], *, whole: bool = False, also: Sequence[float] = ()) -> list[HistogramBin]:
    """Equal bins from the least to the greatest value; of `whole` numbers with whole ends.

    Empty bins are added up to the values in `also`, where these are no further away than the bins themselves reach.
    """
    if not values:
        return []
    low, high = float(min(values)), float(max(values))
    number = min(MOST_BINS, max(5, math.ceil(math.sqrt(len(values)))))
    if low == high or not math.isfinite(high - low):
        return [HistogramBin(low, high, len(values))]
    width = (high - low) / number
    if whole:
        width = math.ceil((high - low + 1) / number)
        number = math.ceil((high - low + 1) / width)
    counts = [0] * number
    for value in values:
        counts[min(number - 1, int((value - low) / width))] += 1
    before = _empty([(low - value) / width for value in also], number)
    behind = _empty([(value - high) / width for value in also], number)
    ends = [low + place * width for place in range(-before, number + behind + 1)]
    return [
        HistogramBin(ends[place], ends[place + 1] - 1 if whole else ends[place + 1], count)
        for place, count in enumerate([0] * before + counts + [0] * behind)
    ]


def _empty(distances: Sequence[float], most: int) -> int:
    """How many bins of width 1 reach all that are not too far."""
    return max((math.ceil(one) for one in distances if 0 < one <= most), default=0)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's; None with fewer than five pairs, or where all values of one side are equal."""
    if len(first) < FEWEST_FOR_CORRELATION or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return statistics.correlation(_ranks(first), _ranks(second))


def _ranks(values: Sequence[float]) -> list[float]:
    """Equal values share the middle of their ranks."""
    ordered = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(ordered)))}
    counts = {value: ordered.count(value) for value in first}
    return [first[value] + (counts[value] - 1) / 2 for value in values]
