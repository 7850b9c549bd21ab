"""Search on a board by name and by section."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import BooleanField, Expression, ExpressionWrapper, Q, Value

from leaderboard.common.names import without_accents
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, GroundTruth, Membership
from leaderboard.competitions.models.competition import Split

from .queries import PAGE_SIZE, discs_of, is_hidden, ranked_rows, shared_ranks, shown_standings, standings_in_order
from .rows import BoardPageData, BoardRowData

FOUND_SIZE = 30
"""Teams per page of a search. Fewer than on the board, because search results are not cached."""


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
) -> BoardPageData:
    """One page of the teams whose shown name contains a text, with their ranks on the whole board.

    With `section`, only teams with a member in it, and with their ranks among these. Callers check the same rights as
    for `board_page`, and that the reader may see sections. `people`: as for `board_page`.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return BoardPageData()
    ground_truth.competition = competition
    teams = _ranked_teams(ground_truth, split, text, section, sees_names)
    here = [team for team in teams if team.is_in_section]
    matches = [team.team_id for team in here if team.is_match]
    size = FOUND_SIZE if text else PAGE_SIZE
    pages = max(1, -(-len(matches) // size))
    page = min(max(page, 1), pages)
    hides = is_hidden(ground_truth, split)
    rank, within = _ranks_among(teams), _ranks_among(here) if section and not hides else {}
    on_page = shown_standings(ground_truth, split).filter(team__in=matches[(page - 1) * size : page * size])
    standings = list(on_page)
    ranks = [rank[standing.team_id] for standing in standings]
    discs = discs_of(team.sort_key for team in teams)
    rows = ranked_rows(ground_truth, split, standings, ranks, discs, at, sees_names, people)
    return BoardPageData(
        tuple(replace(row, within=within.get(row.team_id)) for row in rows),
        page,
        pages,
        len(matches),
        leader=None if hides or not teams else ground_truth.sort_sign * teams[0].sort_key,
        among=len(here),
        within=within,
    )


class _SearchedTeam(NamedTuple):
    team_id: int
    sort_key: float
    received_at: datetime
    is_in_section: bool
    is_match: bool


def _ranked_teams(
    ground_truth: GroundTruth, split: Split, text: str, section: str, sees_names: bool
) -> list[_SearchedTeam]:
    """All ranked teams in the order of the board."""
    competition = ground_truth.competition
    names = ["team__pseudonym"] if competition.board.uses_pseudonyms else ["team__name"]
    if sees_names:
        names.append("team__name")
    # Not by the database: each folds letters in its own way, and none of them ignores accents.
    wanted = without_accents(text)
    in_section: Expression = Value(value=True, output_field=BooleanField())
    if section:
        in_section = ExpressionWrapper(Q(team__in=hooks.roster.teams_of_section(competition, section)), BooleanField())
    standings = shown_standings(ground_truth, split).annotate(is_here=in_section)
    return [
        _SearchedTeam(team, key, received_at, is_here, any(wanted in without_accents(name) for name in shown))
        for team, key, received_at, is_here, *shown in standings.values_list(
            "team_id", "sort_key", "received_at", "is_here", *names
        )
    ]


def _ranks_among(teams: Sequence[_SearchedTeam]) -> dict[int, int]:
    """Team → rank among these teams."""
    ranks = shared_ranks([(team.sort_key, team.received_at) for team in teams])
    return dict(zip((team.team_id for team in teams), ranks, strict=True))


def rows_of_section(competition: Competition, section: str, rows: Iterable[BoardRowData]) -> list[BoardRowData]:
    """The rows of one section, with ranks among these (`within`). Callers check that the reader may see sections."""
    teams = set(hooks.roster.teams_of_section(competition, section))
    here = [row for row in rows if row.team_id in teams]
    within = shared_ranks([row.rank for row in here])
    return [row if row.rank is None else replace(row, within=place) for row, place in zip(here, within, strict=True)]


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
