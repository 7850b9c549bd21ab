"""Ranks of single teams, without reading a whole board, and the history of their public scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import OuterRef, Q, QuerySet

from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, GroundTruth, Standing, Team
from leaderboard.competitions.models.competition import Split

from .queries import LEADERS, is_hidden, standings_in_order
from .ranking import ranked_scores
from .rows import Placing, shown_moment


def placing_of(team_id: int, ground_truth: GroundTruth, split: Split) -> Placing | None:
    """A team's rank and score; None before its first score, and on a hidden board."""
    if is_hidden(ground_truth, split):
        return None
    standing = _ranked_standing.only_row(team_id=team_id, ground_truth=ground_truth.pk, split=str(split))
    return None if standing is None else _placing(standing)


@PreparedQuery
def _ranked_standing(team_id: int, ground_truth: int, split: str) -> QuerySet[Standing]:
    return _with_rank(Standing.objects.filter(team=team_id, ground_truth=ground_truth, split=split))


def placings_of(places: Iterable[tuple[int, GroundTruth, Split]]) -> dict[int, Placing]:
    """Team → rank and score on the board named beside it; teams without a rank are left out. One query."""
    shown = [
        Q(team=team_id, ground_truth=ground_truth, split=split)
        for team_id, ground_truth, split in places
        if not is_hidden(ground_truth, split)
    ]
    if not shown:
        return {}
    standings = _with_rank(Standing.objects.filter(reduce(or_, shown)))
    return {standing.team_id: _placing(standing) for standing in standings}


def _with_rank(standings: QuerySet[Standing]) -> QuerySet[Standing]:
    board = standings_in_order(OuterRef("ground_truth"), OuterRef("split")).order_by()
    return standings.annotate(
        above=count_rows(board.filter(Standing.is_better(OuterRef("sort_key"), OuterRef("received_at"))), "split"),
        total=count_rows(board, "split"),
    )


def _placing(standing: Any) -> Placing:
    return Placing(standing.above + 1, standing.total, standing.value, str(standing.submission_id))


def placings_now(teams: Mapping[Team, Competition], at: datetime) -> dict[int, Placing]:
    """Team → rank and score on the private board once it is revealed and the team in it, before that on the public
    one."""
    places = []
    for team, competition in teams.items():
        if (ground_truth := competition.ground_truth) is not None:
            ground_truth.competition = competition  # saves a query for it in `is_hidden`
            is_final = competition.is_revealed(at) and not team.is_awaited
            places.append((team.pk, ground_truth, Split.PRIVATE if is_final else Split.PUBLIC))
    return placings_of(places)


def next_better(placing: Placing, ground_truth: GroundTruth, split: Split) -> Standing | None:
    """The standing with the next better score; None if no score is better."""
    sign = ground_truth.sort_sign
    before = standings_in_order(ground_truth, split).filter(sort_key__lt=sign * placing.value)
    return before.reverse().select_related("team").first()


MAX_STEPS = 20


@dataclass(frozen=True)
class ScoreHistory:
    """A team's best public score over time, as (receipt, score from then on); at most `MAX_STEPS`."""

    team: Team
    steps: tuple[tuple[datetime, float], ...]


def score_histories(ground_truth: GroundTruth, *, also: Team | None = None) -> list[ScoreHistory]:
    """Histories of the first `LEADERS` teams of the public board, and of the team `also`; [] on a hidden board."""
    if is_hidden(ground_truth, Split.PUBLIC):
        return []
    leaders = [
        standing.team for standing in standings_in_order(ground_truth, Split.PUBLIC).select_related("team")[:LEADERS]
    ]
    for team in leaders:
        team.competition = ground_truth.competition
    if also is not None and also not in leaders:
        leaders.append(also)
    steps = _score_steps(ground_truth, leaders)
    competition = ground_truth.competition
    return [
        ScoreHistory(
            team, tuple((shown_moment(at, competition, sees_names=False), value) for at, value in steps[team.pk])
        )
        for team in leaders
        if team.pk in steps
    ]


def _score_steps(ground_truth: GroundTruth, teams: Sequence[Team]) -> dict[int, tuple[tuple[datetime, float], ...]]:
    rows = ranked_scores(ground_truth, Split.PUBLIC, teams=[team.pk for team in teams])
    received: dict[int, list[tuple[datetime, float]]] = defaultdict(list)
    for team_id, at, value in rows.order_by("submission__received_at", "submission_id").values_list(
        "submission__team", "submission__received_at", "value"
    ):
        assert team_id is not None
        received[team_id].append((at, value))
    return {
        team_id: _shorten_steps(_improved_files(ground_truth.sort_sign, files)) for team_id, files in received.items()
    }


def _improved_files(sign: float, files: Sequence[tuple[datetime, float]]) -> list[tuple[datetime, float]]:
    """Files that were better than all earlier ones."""
    steps: list[tuple[datetime, float]] = []
    for at, value in files:
        if not steps or sign * value < sign * steps[-1][1]:
            steps.append((at, value))
    return steps


def _shorten_steps(steps: Sequence[tuple[datetime, float]]) -> tuple[tuple[datetime, float], ...]:
    return tuple(steps) if len(steps) <= MAX_STEPS else (steps[0], *steps[1 - MAX_STEPS :])
