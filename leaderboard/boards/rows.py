"""Data classes of boards, and queries for the columns besides the score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, QuerySet, Subquery

from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import Competition, GroundTruth, Membership, Score, Standing, Submission
from leaderboard.competitions.models.competition import Split

from .scores import ranked_files
from .secondary import ShownSecondaryValue


def shown_moment(moment: datetime, competition: Competition, *, sees_names: bool) -> datetime:
    """A time of receipt as a board shows it: rounded down to the minute under pseudonyms.

    The exact second would reveal a pseudonym to a student who saw somebody else upload.
    """
    is_coarse = competition.board.uses_pseudonyms and not sees_names
    return moment.replace(second=0, microsecond=0) if is_coarse else moment


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
    within: int | None = None
    """Rank among the teams of the requested section; None without one."""


@dataclass(frozen=True)
class BoardPageData:
    """One page of a board: `rows` in order, `total` ranked teams on all pages."""

    ground_truth: GroundTruth
    split: Split
    rows: tuple[BoardRowData, ...]
    page: int
    pages: int
    total: int
    leader: float | None = None
    """The score of the first place; None on a hidden board."""


@dataclass(frozen=True)
class Placing:
    """Rank and score of one team on a board with `total` teams."""

    rank: int
    total: int
    value: float
    submission_id: str


def with_page_facts(standings: QuerySet[Standing], ground_truth: GroundTruth, split: Split) -> QuerySet[Standing]:
    """Standings with their teams, annotated with the columns of a board.

    `submission_count` and `last_at`: number and last receipt of the team's files that can be ranked. `stored`:
    secondary metrics of the standing's file, only if the ground truth has some.
    """
    files = Submission.objects.filter(ranked_files(), team=OuterRef("team"))
    found = standings.select_related("team").annotate(
        submission_count=count_rows(files.order_by(), "team"),
        last_at=Subquery(files.order_by("-received_at").values("received_at")[:1]),
    )
    if not ground_truth.secondary:
        return found
    score = Score.objects.filter(submission=OuterRef("submission"), ground_truth=ground_truth, split=split)
    return found.annotate(stored=Subquery(score.values("secondary")[:1]))


def member_names(standings: Sequence[Standing]) -> dict[int, list[str]]:
    """Team → user names of its members."""
    found: dict[int, list[str]] = defaultdict(list)
    for team_id, name in Membership.objects.filter(team__in=[standing.team_id for standing in standings]).values_list(
        "team_id", "user__username"
    ):
        found[team_id].append(name)
    return found
