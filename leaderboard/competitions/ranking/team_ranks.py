"""Where single teams stand, without reading a board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import IntegerField, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from leaderboard.common.subqueries import count_rows

from ..models import Competition, GroundTruth, Standing, Team
from ..models.competition import Split
from .boards import is_hidden, standings_in_order
from .rows import Placing


@dataclass(frozen=True)
class PlaceQuery:
    """Whose place is wanted on which board; with `earlier` (sort key and receipt) also the rank with that."""

    team_id: int
    ground_truth: GroundTruth
    split: Split
    earlier: tuple[float, datetime] | None = None


def placing_of(
    team: Team | int, ground_truth: GroundTruth, split: Split, *, earlier: tuple[float, datetime] | None = None
) -> Placing | None:
    """Where a team stands; None before its first score, and on a hidden board."""
    key = team if isinstance(team, int) else team.pk
    return placings_of([PlaceQuery(key, ground_truth, split, earlier)]).get(key)


def placings_of(wanted: Iterable[PlaceQuery]) -> dict[int, Placing]:
    """Team → where it stands, in one query for all; teams without a place are left out."""
    places = {place.team_id: place for place in wanted if not is_hidden(place.ground_truth, place.split)}
    if not places:
        return {}
    asked = reduce(
        or_,
        (Q(team=key, ground_truth=place.ground_truth, split=place.split) for key, place in places.items()),
    )
    everybody = standings_in_order(OuterRef("ground_truth"), OuterRef("split")).order_by()
    found = Standing.objects.filter(asked).annotate(
        above=_number(everybody.filter(_is_better(OuterRef("sort_key"), OuterRef("received_at")))),
        total=_number(everybody),
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
    """Team → where it stands on the board that counts at a moment: the private one once it is open to everybody."""
    wanted = []
    for team_id, competition in teams.items():
        if (ground_truth := competition.ground_truth) is not None:
            ground_truth.competition = competition  # which board shows its scores: asked for without a query
            wanted.append(
                PlaceQuery(team_id, ground_truth, Split.PRIVATE if competition.is_revealed(at) else Split.PUBLIC)
            )
    return placings_of(wanted)


def _above_before(everybody: QuerySet[Standing], places: Iterable[PlaceQuery]) -> Coalesce | Value:
    """How many others are better than what the one team had earlier."""
    with_earlier = [place.earlier for place in places if place.earlier]
    if not with_earlier:
        return Value(0, IntegerField())
    assert len(with_earlier) == 1, "an earlier place is asked of one team alone"
    return _number(everybody.exclude(team=OuterRef("team")).filter(_is_better(*with_earlier[0])))


def _is_better(sort_key: object, received_at: object) -> Q:
    return Q(sort_key__lt=sort_key) | Q(sort_key=sort_key, received_at__lt=received_at)


def _number(rows: QuerySet[Standing]) -> Coalesce:
    return count_rows(rows, "split")
