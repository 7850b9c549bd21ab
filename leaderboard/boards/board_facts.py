"""Facts above the table of a board: the viewer's rank, the team before it, highlights of the day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import Competition, GroundTruth, Standing
from leaderboard.competitions.models.competition import Split

from . import queries as boards
from . import team_ranks
from .rows import BoardPageData, BoardRowData, Placing


@dataclass(frozen=True)
class Neighbour:
    """The team with the next better score, for the first place the team after it; `gap` is the absolute difference."""

    rank: int
    name: str
    value: float
    gap: float


def neighbour_of(own_value: float, rank: int, standing: Standing, competition: Competition) -> Neighbour:
    """The team of this standing, compared with the viewer's score."""
    standing.team.competition = competition
    return Neighbour(rank, standing.team.shown_name, standing.value, abs(standing.value - own_value))


@dataclass(frozen=True)
class BoardFacts:
    own: Placing | None = None
    movement: int | None = None
    """Ranks that the viewer's team has gained."""
    neighbour: Neighbour | None = None
    first: BoardRowData | None = None
    """The first row, for viewers without a rank."""
    best_today: BoardRowData | None = None
    """The best row whose file was received today."""
    climb: BoardRowData | None = None
    """The team that gained the most ranks since yesterday."""

    def __bool__(self) -> bool:
        return bool(self.own or self.first)


def board_facts(page_context: PageContext, split: Split, table: BoardPageData, own: Placing | None) -> BoardFacts:
    """Facts for the viewer; none on a hidden board.

    Those of the day only on the first page of the public board, while the competition is live.
    """
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None or boards.is_hidden(ground_truth, split):
        return BoardFacts()
    ranked = [row for row in table.rows if row.rank is not None]
    mine = next((row for row in ranked if own and row.submission_id == own.submission_id), None)
    neighbour = None
    if own is not None:
        neighbour = _neighbour_on_page(own, ranked)
        if neighbour is None and own.rank > 1:
            neighbour = _better_team(page_context, own, ground_truth, split)
    first_page = ranked if table.page == 1 else []
    is_moving = split == Split.PUBLIC and page_context.state == "live"
    begin = page_context.competition.begin_of_day(page_context.at)
    today = [row for row in first_page if row.received_at >= begin] if is_moving else []
    climbers = [row for row in first_page if (row.movement or 0) > 0] if is_moving else []
    return BoardFacts(
        own,
        mine.movement if mine else None,
        neighbour,
        first_page[0] if first_page else None,
        today[0] if today else None,
        max(climbers, key=lambda row: row.movement or 0, default=None),
    )


def _better_team(page_context: PageContext, own: Placing, ground_truth: GroundTruth, split: Split) -> Neighbour | None:
    """The team with the next better score, read from the database."""
    before = team_ranks.next_better(own, ground_truth, split)
    if before is None:
        return None
    before.ground_truth = ground_truth
    return neighbour_of(own.value, boards.rank_of(before), before, page_context.competition)


def _neighbour_on_page(own: Placing, ranked: Sequence[BoardRowData]) -> Neighbour | None:
    """The last row of the page with a better score; for the first place the next row; None if not on this page."""
    scored = [(row.rank, row.name, row.value) for row in ranked if row.rank is not None and row.value is not None]
    if own.rank == 1:
        neighbour = next((row for row in scored if row[0] > 1), None)
    else:
        neighbour = next((row for row in reversed(scored) if row[0] < own.rank and row[2] != own.value), None)
    return Neighbour(*neighbour, abs(neighbour[2] - own.value)) if neighbour else None
