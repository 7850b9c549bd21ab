"""What boards are made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..models import Competition, GroundTruth, Team
from ..models.competition import Split
from .ladder import Ladder
from .secondary import ShownSecondaryValue
from .uncertainties import ScoreUncertainty


def shown_moment(moment: datetime, competition: Competition, *, sees_names: bool) -> datetime:
    """When a file was received, as a board shows it: to the minute where names are hidden, because a student who saw
    somebody upload at an exact moment would find the pseudonym by it."""
    is_coarse = competition.board.uses_pseudonyms and not sees_names
    return moment.replace(second=0, microsecond=0) if is_coarse else moment


@dataclass(frozen=True)
class BoardRowData:
    """One line of a board. A baseline has no rank, team id 0 and no history; on a hidden board nobody has a rank, a
    value, a movement or a trend."""

    rank: int | None
    name: str
    team_id: int
    value: float | None
    movement: int | None
    """Ranks gained, negative when lost (see `movements`); None for a team that was not on the board before."""
    submission_id: str
    received_at: datetime
    attempts: int = 0
    last_at: datetime | None = None
    trend: tuple[float, ...] = ()
    members: tuple[str, ...] = ()
    is_baseline: bool = False
    is_picked_by_system: bool = False
    secondary: tuple[ShownSecondaryValue, ...] = ()
    """Of the file that stands here; empty where none are shown."""
    real_name: str = ""
    """What a pseudonym stands for: only in rows for those who run the competition, empty where `name` is real."""
    within: int | None = None
    """Its rank among the teams of the section that was asked for; None where none was."""
    uncertainty: ScoreUncertainty | None = None
    """Of the score; None where nothing is known, and where the board does not show exact scores."""


@dataclass(frozen=True)
class BoardPageData:
    """One page of a board: `rows` in order, `total` ranked teams on all pages."""

    ground_truth: GroundTruth
    split: Split
    rows: tuple[BoardRowData, ...]
    page: int
    pages: int
    total: int
    ladder: Ladder | None = None
    """How scores are shown; None where they are exact."""
    leaders: tuple[Team, ...] = ()
    """The best teams, on the first page alone."""

    @property
    def placings(self) -> dict[int, Placing]:
        """Team → where it stands, of those on this page; empty on a hidden board."""
        return {
            row.team_id: Placing(row.rank, self.total, row.value, row.submission_id)
            for row in self.rows
            if row.rank is not None and row.value is not None
        }


@dataclass(frozen=True)
class Placing:
    """Where one team stands."""

    rank: int
    total: int
    value: float
    submission_id: str
    rank_before: int | None = None
    """Its rank with what it had earlier, among the others as they are now; None where nobody asked."""
