"""What a host looks at between the deadline and the reveal: what is still open, and the board that would open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from django.db.models import Count, Q

from ..models import Competition, GroundTruth, Submission, Team
from ..models.competition import Split
from ..ranking import boards as boards_module
from ..ranking import standings
from ..ranking.standings import StandingCandidate

SHOWN_ROWS = 20
"""So many rows of the private board are shown before it opens."""

Status = Submission.Status


@dataclass(frozen=True)
class ReviewRow:
    """A team on the private board as the reveal would make it now, with its public rank."""

    team: Team
    rank: int
    public_rank: int | None
    value: float
    is_picked_by_system: bool

    @property
    def gained(self) -> int:
        """Ranks won, negative when lost."""
        return self.public_rank - self.rank if self.public_rank else 0


@dataclass(frozen=True)
class RevealReview:
    """Files and teams to look at first, in numbers; `rows` are the first ones of the private board."""

    scored: int
    waiting: int
    failed: int
    late: int
    hidden: int
    ranked: int
    picked_by_system: int
    disqualified: tuple[Team, ...]
    without: int
    """Teams in good standing that would be on no board."""
    candidate: GroundTruth | None
    rows: tuple[ReviewRow, ...]


def review_before_reveal(competition: Competition) -> RevealReview:
    """The state before the reveal, private ranks included: for hosts alone."""
    teams = list(competition.teams.all())
    by_key = {team.pk: team for team in teams}
    ground_truth = competition.ground_truth
    boards = _boards(competition, ground_truth)
    private = boards[Split.PRIVATE]
    ranks, public_ranks = boards_module.ranks_by_team(private), boards_module.ranks_by_team(boards[Split.PUBLIC])
    disqualified = tuple(team for team in teams if team.disqualified_at is not None)
    numbers = competition.submissions.filter(team__isnull=False).aggregate(
        scored=Count("pk", filter=Q(status=Status.SCORED)),
        waiting=Count("pk", filter=Q(status=Status.PENDING, is_late=False)),
        failed=Count("pk", filter=Q(status=Status.FAILED)),
        late=Count("pk", filter=Q(is_late=True)),
        hidden=Count("pk", filter=Q(hidden_at__isnull=False)),
    )
    return RevealReview(
        **numbers,
        ranked=len(private),
        picked_by_system=sum(best.is_picked_by_system for best in private),
        disqualified=disqualified,
        without=len(teams) - len(disqualified) - len(private),
        candidate=competition.candidate,
        rows=tuple(_rows(private, ranks, by_key, public_ranks)),
    )


def _boards(competition: Competition, ground_truth: GroundTruth | None) -> dict[Split, list[StandingCandidate]]:
    """Both boards by the files that would decide: the shake-up is computed from these afterwards."""
    boards: dict[Split, list[StandingCandidate]] = {Split.PUBLIC: [], Split.PRIVATE: []}
    if ground_truth is not None:
        ground_truth.competition = competition
        for split, best in standings.deciding_candidates(ground_truth):
            boards[split].append(best)
    return boards


def _rows(
    private: Sequence[StandingCandidate], ranks: dict[int, int], teams: dict[int, Team], public: dict[int, int]
) -> list[ReviewRow]:
    best_first = sorted(private, key=lambda best: (best.order, best.team_id))
    return [
        ReviewRow(
            teams[best.team_id],
            ranks[best.team_id],
            public.get(best.team_id),
            best.value,
            best.is_picked_by_system,
        )
        for best in islice(best_first, SHOWN_ROWS)
    ]
