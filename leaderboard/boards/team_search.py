"""Search on a board by name and by section."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Expression, ExpressionWrapper, Q, QuerySet, Value

from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, GroundTruth, Membership, Standing
from leaderboard.competitions.models.competition import Split

from .queries import PAGE_SIZE, is_hidden, ranked_rows, shared_ranks, shown_standings, standings_in_order
from .rows import BoardRowData
from .scores import sign_of

FOUND_SIZE = 30
"""Teams per page of a search. Fewer than on the board, because search results are not cached."""


@dataclass(frozen=True)
class FoundTeams:
    """One page of the teams that match a search."""

    rows: tuple[BoardRowData, ...] = ()
    page: int = 1
    pages: int = 1
    total: int = 0
    """Number of matching teams, on all pages."""
    among: int = 0
    """Number of teams searched: those of the section, or all of the board."""
    within: Mapping[int, int] = field(default_factory=dict)
    """Team → its rank in the section, in the order of the board; {} without a section, and on a hidden board."""
    leader: float | None = None
    """Score of the first place of the whole board; None on a hidden board."""


def find_teams(
    competition: Competition,
    split: Split,
    text: str,
    *,
    section: str = "",
    page: int = 1,
    at: datetime,
    sees_names: bool = False,
    people: Mapping[int, list[str]] | None = None,
) -> FoundTeams:
    """One page of the teams whose shown name contains a text, with their ranks on the whole board.

    With `section`, only teams with a member in it, and with their ranks among these. Callers check the same rights as
    for `board_page`, and that the reader may see sections. `people`: as for `board_page`.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return FoundTeams()
    ground_truth.competition = competition
    everybody = list(_search_teams(ground_truth, split, text, section, sees_names))
    of_section = [row for row in everybody if row[3]]
    wanted = [row[0] for row in of_section if row[4]]
    size = FOUND_SIZE if text else PAGE_SIZE
    pages = max(1, -(-len(wanted) // size))
    page = min(max(page, 1), pages)
    asked = wanted[(page - 1) * size : page * size]
    hides = is_hidden(ground_truth, split)
    rank, within = _ranks(everybody), _ranks(of_section) if section and not hides else {}
    found = shown_standings(ground_truth, split).filter(team__in=asked)
    standings = list(found)
    ranks = [rank[standing.team_id] for standing in standings]
    rows = ranked_rows(ground_truth, split, standings, ranks, at, sees_names, people)
    return FoundTeams(
        tuple(replace(row, within=within.get(row.team_id)) for row in rows),
        page,
        pages,
        len(wanted),
        len(of_section),
        within,
        None if hides or not everybody else sign_of(ground_truth) * everybody[0][1],
    )


def _search_teams(
    ground_truth: GroundTruth, split: Split, text: str, section: str, sees_names: bool
) -> QuerySet[Standing, tuple[Any, ...]]:
    """(team, sort key, receipt, is in the section, name matches) for each ranked team, in the order of the board."""
    competition = ground_truth.competition
    named = Q(team__pseudonym__icontains=text) if competition.board.uses_pseudonyms else Q(team__name__icontains=text)
    if sees_names:
        named |= Q(team__name__icontains=text)
    is_there: Expression = Value(value=True, output_field=BooleanField())
    if section:
        is_there = ExpressionWrapper(Q(team__in=hooks.roster.teams_of_section(competition, section)), BooleanField())
    is_named = ExpressionWrapper(named, BooleanField())
    return shown_standings(ground_truth, split).values_list("team_id", "sort_key", "received_at", is_there, is_named)


def rows_of_section(competition: Competition, section: str, rows: Iterable[BoardRowData]) -> list[BoardRowData]:
    """The rows of one section, with ranks among these (`within`). Callers check that the reader may see sections."""
    teams = set(hooks.roster.teams_of_section(competition, section))
    here = [row for row in rows if row.team_id in teams]
    within = shared_ranks([row.rank for row in here])
    return [row if row.rank is None else replace(row, within=place) for row, place in zip(here, within, strict=True)]


def _ranks(rows: Sequence[tuple[Any, ...]]) -> dict[int, int]:
    """Team → rank among these rows, each of which begins with team, sort key and receipt."""
    return dict(zip((row[0] for row in rows), shared_ranks([row[1:3] for row in rows]), strict=True))


@dataclass(frozen=True)
class BoardSections:
    """Sections for the filter of a board, and the members of its teams."""

    names: tuple[str, ...]
    """Sections with a team on the board, sorted."""
    own: Mapping[int, str]
    """User → their section, whether or not their team is on the board."""
    members: Mapping[int, list[str]]
    """Team → user names of its members; pass it as `people` to `board_page` to save a query."""


def sections_of_board(ground_truth: GroundTruth, split: Split) -> BoardSections:
    """The sections of a board. Callers check the same rights as for `find_teams`. One query."""
    here = ground_truth.competition_id
    ranked = Q(team__in=standings_in_order(ground_truth, split).order_by().values("team"))
    people = Membership.objects.filter(competition=here).annotate(
        section=hooks.roster.section_of_member(), is_ranked=ExpressionWrapper(ranked, BooleanField())
    )
    names, own, members = set(), {}, defaultdict(list)
    for team, user, name, section, is_ranked in people.values_list(
        "team_id", "user_id", "user__username", "section", "is_ranked"
    ):
        members[team].append(name)
        if section:
            own[user] = section
            names.update([section] if is_ranked else [])
    return BoardSections(tuple(sorted(names)), own, members)
