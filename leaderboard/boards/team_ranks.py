"""Ranks of single teams, without reading a whole board, and the history of their public scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import IntegerField, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, GroundTruth, Standing, Team
from leaderboard.competitions.models.competition import Split

from .queries import LEADERS, is_better, is_hidden, standings_in_order
from .rows import Placing, shown_moment
from .scores import ranked_scores, sign_of


@dataclass(frozen=True)
class PlaceQuery:
    """Request for a team's rank on a board; with `earlier` (sort key, receipt) also for the rank that would have."""

    team_id: int
    ground_truth: GroundTruth
    split: Split
    earlier: tuple[float, datetime] | None = None


def placing_of(
    team: Team | int, ground_truth: GroundTruth, split: Split, *, earlier: tuple[float, datetime] | None = None
) -> Placing | None:
    """A team's rank and score; None before its first score, and on a hidden board."""
    key = team if isinstance(team, int) else team.pk
    return placings_of([PlaceQuery(key, ground_truth, split, earlier)]).get(key)


def placings_of(wanted: Iterable[PlaceQuery]) -> dict[int, Placing]:
    """Team → rank and score; teams without a rank are left out. One query."""
    places = {place.team_id: place for place in wanted if not is_hidden(place.ground_truth, place.split)}
    if not places:
        return {}
    asked = reduce(
        or_,
        (Q(team=key, ground_truth=place.ground_truth, split=place.split) for key, place in places.items()),
    )
    everybody = standings_in_order(OuterRef("ground_truth"), OuterRef("split")).order_by()
    found = Standing.objects.filter(asked).annotate(
        above=count_rows(everybody.filter(is_better(OuterRef("sort_key"), OuterRef("received_at"))), "split"),
        total=count_rows(everybody, "split"),
        above_before=_above_before(everybody, places.values()),
    )
    return {
        standing.team_id: Placing(
            rank=standing.above + 1,
            total=standing.total,
            value=standing.value,
            submission_id=str(standing.submission_id),
            rank_before=standing.above_before + 1 if places[standing.team_id].earlier else None,
        )
        for standing in found
    }


def placings_now(teams: Mapping[int, Competition], at: datetime) -> dict[int, Placing]:
    """Team → rank and score on the private board once it is revealed, before that on the public one."""
    wanted = []
    for team_id, competition in teams.items():
        if (ground_truth := competition.ground_truth) is not None:
            ground_truth.competition = competition  # saves a query for it in `is_hidden`
            wanted.append(
                PlaceQuery(team_id, ground_truth, Split.PRIVATE if competition.is_revealed(at) else Split.PUBLIC)
            )
    return placings_of(wanted)


def _above_before(everybody: QuerySet[Standing], places: Iterable[PlaceQuery]) -> Coalesce | Value:
    """SQL expression for the number of other teams better than the earlier score; 0 if none was requested."""
    with_earlier = [place.earlier for place in places if place.earlier]
    if not with_earlier:
        return Value(0, IntegerField())
    assert len(with_earlier) == 1, "an earlier place is asked of one team alone"
    return count_rows(everybody.exclude(team=OuterRef("team")).filter(is_better(*with_earlier[0])), "split")


def next_better(placing: Placing, ground_truth: GroundTruth, split: Split) -> Standing | None:
    """The standing with the next better score; None for the first place."""
    sign = sign_of(ground_truth)
    before = standings_in_order(ground_truth, split).filter(sort_key__lt=sign * placing.value)
    return before.reverse().select_related("team").first()


MOST_STEPS = 20


@dataclass(frozen=True)
class ScoreHistory:
    """A team's best public score over time, as (receipt, score from then on); at most `MOST_STEPS`."""

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
    found = _steps(ground_truth, leaders)
    competition = ground_truth.competition
    return [
        ScoreHistory(
            team, tuple((shown_moment(at, competition, sees_names=False), value) for at, value in found[team.pk])
        )
        for team in leaders
        if team.pk in found
    ]


def _steps(ground_truth: GroundTruth, teams: Sequence[Team]) -> dict[int, tuple[tuple[datetime, float], ...]]:
    rows = ranked_scores(ground_truth, Split.PUBLIC, teams=[team.pk for team in teams])
    received: dict[int, list[tuple[datetime, float]]] = defaultdict(list)
    for team_id, at, value in rows.order_by("submission__received_at", "submission_id").values_list(
        "submission__team", "submission__received_at", "value"
    ):
        assert team_id is not None
        received[team_id].append((at, value))
    return {team_id: _shortened(_improvements(sign_of(ground_truth), files)) for team_id, files in received.items()}


def _improvements(sign: float, files: Sequence[tuple[datetime, float]]) -> list[tuple[datetime, float]]:
    """Files that were better than all earlier ones."""
    steps: list[tuple[datetime, float]] = []
    for at, value in files:
        if not steps or sign * value < sign * steps[-1][1]:
            steps.append((at, value))
    return steps


def _shortened(steps: Sequence[tuple[datetime, float]]) -> tuple[tuple[datetime, float], ...]:
    return tuple(steps) if len(steps) <= MOST_STEPS else (steps[0], *steps[1 - MOST_STEPS :])
