"""How a class did: scores against baselines, and whether many files fitted the public rows."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q

from leaderboard.common.csv_files import safe_cell
from leaderboard.competitions.models import Competition, GroundTruth, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards, standings
from leaderboard.competitions.ranking.scores import ranked_files, sign_of

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
# Standard deviations of normal values in one median absolute deviation, and how many are unusual.
NORMAL, UNUSUAL = 1.4826, 3.5


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
class ClassReport:
    """Everything about a class, from facts alone. `baselines` are (name, private score), best first."""

    teams: tuple[TeamFacts, ...]
    baselines: tuple[tuple[str, float], ...]
    correlation: float | None
    """Of the number of scored files with `gap`, by ranks; None with too few teams or where all values are equal."""
    above: tuple[tuple[str, int], ...]
    """For each baseline how many teams are better than it on the private rows."""

    @property
    def ranked(self) -> list[TeamFacts]:
        """Those with a score."""
        return [team for team in self.teams if team.private is not None]

    @property
    def private(self) -> list[float]:
        """The scores of `ranked`, the best first."""
        return [team.private for team in self.teams if team.private is not None]

    @property
    def usual_files(self) -> float:
        return statistics.median(team.files for team in self.ranked)

    @property
    def most_files(self) -> int:
        return max(team.files for team in self.ranked)

    @property
    def fallen(self) -> list[TeamFacts]:
        """Those whose private score is worse than their public one by far more than usual, the worst first."""
        gaps = [team.gap for team in self.ranked if team.gap is not None]
        if len(gaps) < FEWEST_FOR_CORRELATION:
            return []
        middle = statistics.median(gaps)
        spread = NORMAL * statistics.median(abs(gap - middle) for gap in gaps)
        found = [team for team in self.ranked if team.gap is not None and team.gap - middle > UNUSUAL * spread > 0]
        return sorted(found, key=lambda team: -(team.gap or 0.0))

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
    sign = sign_of(ground_truth) if ground_truth else 1.0
    private = [team.private for team in teams if team.private is not None]
    both = [(team.scored, team.gap) for team in teams if team.gap is not None]
    return ClassReport(
        teams=tuple(teams),
        baselines=tuple(baselines),
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
        ground_truth.competition, sign = competition, sign_of(ground_truth)
        for split, best in standings.deciding_candidates(ground_truth):
            found[split][best.team_id] = best.value
    public, private = found[Split.PUBLIC], found[Split.PRIVATE]
    rows = competition.teams.order_by().values("pk", "name")
    rows = rows.annotate(
        files=Count("submissions"),
        scored=Count("submissions", filter=ranked_files("submissions")),
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
