"""Report about a class: its scores compared with baselines, and files per team."""

from __future__ import annotations

import csv
import io
import math
import statistics
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q

from leaderboard.boards import queries as boards
from leaderboard.boards import ranking
from leaderboard.common.file_formats import safe_cell
from leaderboard.competitions.models import Competition, GroundTruth, Submission
from leaderboard.competitions.models.competition import Split

CSV_COLUMNS = (
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


@dataclass(frozen=True)
class TeamFacts:
    """One team. `public` and `private` are its scores on the two boards, as revealed or as they would be revealed now.

    `scored` counts only files that are ranked, neither late nor hidden.
    """

    name: str
    files: int
    scored: int
    invalid: int
    first_at: datetime | None
    last_at: datetime | None
    public: float | None
    private: float | None
    gap: float | None
    """How much better the public score is than the private one; negative if it is worse."""


@dataclass(frozen=True)
class ClassReport:
    """The report about a class. `baselines` are (name, private score), best first."""

    teams: tuple[TeamFacts, ...]
    baselines: tuple[tuple[str, float], ...]
    above: tuple[tuple[str, int], ...]
    """(baseline, number of teams that are better on the private rows)."""

    @property
    def ranked(self) -> list[TeamFacts]:
        """Teams with a private score, best first."""
        return [team for team in self.teams if team.private is not None]

    @property
    def private(self) -> list[float]:
        """Private scores, best first."""
        return [team.private for team in self.teams if team.private is not None]

    @property
    def usual_files(self) -> float:
        return statistics.median(team.files for team in self.ranked)

    @property
    def most_files(self) -> int:
        return max(team.files for team in self.ranked)


def class_report(competition: Competition) -> ClassReport:
    """The report as of now. Only for hosts: it includes private scores. Its cost grows with the number of files."""
    ground_truth = competition.ground_truth
    teams = _team_facts(competition, ground_truth)
    shown = boards.baseline_rows(ground_truth, Split.PRIVATE) if ground_truth else []
    baselines = [(row.name, row.value) for row in shown if row.value is not None]
    sign = ground_truth.sort_sign if ground_truth else 1.0
    private = [team.private for team in teams if team.private is not None]
    return ClassReport(
        teams=tuple(teams),
        baselines=tuple(baselines),
        above=tuple((name, sum(sign * value < sign * score for value in private)) for name, score in baselines),
    )


def report_csv(competition: Competition) -> str:
    """CSV with one line per team, private scores included."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(CSV_COLUMNS)
    for team in class_report(competition).teams:
        times = ["" if at is None else at.isoformat() for at in (team.first_at, team.last_at)]
        values = ["" if value is None else repr(value) for value in (team.public, team.private, team.gap)]
        writer.writerow([safe_cell(team.name), team.files, team.scored, team.invalid, *times, *values])
    return text.getvalue()


def _team_facts(competition: Competition, ground_truth: GroundTruth | None) -> list[TeamFacts]:
    """All teams, best private score first, teams without one last."""
    scores: dict[Split, dict[int, float]] = {split: {} for split in Split}
    sign = 1.0
    if ground_truth is not None:
        ground_truth.competition, sign = competition, ground_truth.sort_sign
        for split, best in ranking.deciding_standings(ground_truth):
            scores[split][best.team_id] = best.value
    public, private = scores[Split.PUBLIC], scores[Split.PRIVATE]
    named = competition.teams.order_by().values("pk", "name")
    rows: Any = named.annotate(
        files=Count("submissions"),
        scored=Count("submissions", filter=ranking.ranked_files("submissions")),
        invalid=Count("submissions", filter=Q(submissions__status=Submission.Status.INVALID)),
        first_at=Min("submissions__received_at"),
        last_at=Max("submissions__received_at"),
    )
    teams = []
    for row in rows:
        team_id = row.pop("pk")
        scores_of_team = public.get(team_id), private.get(team_id)
        gap = _score_gap(*scores_of_team, sign)
        teams.append(TeamFacts(**row, public=scores_of_team[0], private=scores_of_team[1], gap=gap))
    return sorted(teams, key=lambda team: (math.inf if team.private is None else sign * team.private, team.name))


def _score_gap(public: float | None, private: float | None, sign: float) -> float | None:
    """How much better the public score is; None if one is missing or the difference overflows."""
    if public is None or private is None or not math.isfinite(private - public):
        return None
    # Adding 0.0 turns -0.0 into 0.0.
    return sign * (private - public) + 0.0
