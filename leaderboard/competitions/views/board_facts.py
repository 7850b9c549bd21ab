"""What stands above the table of a board: the reader's place, the next one, and what happened today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..access import PageContext
from ..models import GroundTruth
from ..models.competition import Split
from ..ranking import boards, team_ranks
from ..ranking.rows import BoardRowData, Placing


class ShownBoard(Protocol):
    """A page of a board: its number, its rows; none where some teams alone were asked for."""

    @property
    def page(self) -> int: ...
    @property
    def rows(self) -> Sequence[BoardRowData]: ...


@dataclass(frozen=True)
class Neighbour:
    """The team before one's own, or the one behind the first place; `gap` lies between both scores."""

    rank: int
    name: str
    value: float
    gap: float


@dataclass(frozen=True)
class BoardFacts:
    own: Placing | None = None
    movement: int | None = None
    """Of one's own team."""
    neighbour: Neighbour | None = None
    first: BoardRowData | None = None
    """For readers without a place."""
    best_today: BoardRowData | None = None
    """The best score that was handed in today."""
    climb: BoardRowData | None = None
    """The team that won the most ranks since yesterday."""

    def __bool__(self) -> bool:
        return bool(self.own or self.first)


def board_facts(page_context: PageContext, split: Split, table: ShownBoard, own: Placing | None) -> BoardFacts:
    """Facts of the board of the visitor; of the day on the first page of the public board alone, while it moves."""
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None or boards.is_hidden(ground_truth, split):
        return BoardFacts()
    ranked = [row for row in table.rows if row.rank is not None]
    mine = next((row for row in ranked if own and row.submission_id == own.submission_id), None)
    neighbour = None
    if own is not None:
        neighbour = _neighbour_of(own, ranked)
        if neighbour is None and own.rank > 1:
            neighbour = _team_before(page_context, own, ground_truth, split)
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


def _team_before(page_context: PageContext, own: Placing, ground_truth: GroundTruth, split: Split) -> Neighbour | None:
    """The team just before a place, read from the database."""
    before = team_ranks.next_better(own, ground_truth, split)
    if before is None:
        return None
    before.team.competition, before.ground_truth = page_context.competition, ground_truth
    return Neighbour(boards.rank_of(before), before.team.shown_name, before.value, abs(before.value - own.value))


def _neighbour_of(own: Placing, ranked: Sequence[BoardRowData]) -> Neighbour | None:
    """Among the rows of a page the last one with a better score; for the first place the next one."""
    scored = [(row.rank, row.name, row.value) for row in ranked if row.rank is not None and row.value is not None]
    if own.rank == 1:
        found = next((row for row in scored if row[0] > 1), None)
    else:
        found = next((row for row in reversed(scored) if row[0] < own.rank and row[2] != own.value), None)
    return Neighbour(*found, abs(found[2] - own.value)) if found else None
