"""Data classes of boards: a page, a row, a team's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from leaderboard.competitions.models import Competition

from .secondary import ShownSecondaryValue


def shown_moment(moment: datetime, competition: Competition, *, sees_names: bool) -> datetime:
    """A time of receipt as a board shows it: rounded down to the minute under pseudonyms.

    The exact second would reveal a pseudonym to a student who saw somebody else upload.
    """
    is_coarse = competition.board.uses_pseudonyms and not sees_names
    return moment.replace(second=0, microsecond=0) if is_coarse else moment


MEDALS = {1: "first", 2: "second", 3: "third"}


@dataclass(frozen=True)
class BoardRowData:
    """One row of a board. Baselines have no rank and team id 0; on a hidden board rank, value and movement are None."""

    rank: int | None
    name: str
    team_id: int
    value: float | None
    movement: int | None
    """Ranks gained, negative when lost; None for a team that was not on the board before."""
    submission_id: str
    received_at: datetime
    submission_count: int = 0
    last_at: datetime | None = None
    members: tuple[str, ...] = ()
    is_baseline: bool = False
    is_picked_by_system: bool = False
    secondary: tuple[ShownSecondaryValue, ...] = ()
    """Secondary metrics of the row's file; () if there are none to show."""
    real_name: str = ""
    """The name behind the pseudonym, in rows for hosts and assistants; "" if `name` is the real one."""
    medal: str = ""
    """The disc of the first three ranks; equal scores have equal discs."""
    within: int | None = None
    """Rank among the teams of the requested section; None without one."""


@dataclass(frozen=True)
class BoardPageData:
    """One page of a board, or of the teams on it that match a search."""

    rows: tuple[BoardRowData, ...] = ()
    page: int = 1
    pages: int = 1
    total: int = 0
    """Number of ranked or matching teams, on all pages."""
    leader: float | None = None
    """The score of the first place of the whole board; None on a hidden board."""
    among: int = 0
    """Number of teams searched: those of the section, or all of the board."""
    within: Mapping[int, int] = field(default_factory=dict)
    """Team → its rank in the section, in the order of the board; {} without a section, and on a hidden board."""
    html: str = ""
    """The rendered table, with nothing about its viewer."""

    @property
    def picked(self) -> list[str]:
        """Names of teams whose final submissions were picked by the system."""
        return [row.name for row in self.rows if row.is_picked_by_system]


@dataclass(frozen=True)
class Placing:
    """Rank and score of one team on a board with `total` teams."""

    rank: int
    total: int
    value: float
    submission_id: str
