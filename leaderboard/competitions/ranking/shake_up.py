"""From the public board to the private one: who rose, who fell, what it can be put down to, and what a team should
have picked. Callers ask `private_is_visible_to` first."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import Literal

from ..models import Competition, GroundTruth, Score, Standing, Team
from ..models.competition import Split
from .boards import ranked_lines, standings_in_order
from .rows import BoardRowData
from .scores import ranked_scores, sign_of
from .standings import StandingCandidate

Reason = Literal["chance", "many_files", "fitted", "held", "unknown"]

# A gap of more than this many standard errors is more than the draw of the rows explains.
BEYOND_CHANCE = 2.0
# Whoever handed in this many times the files of the median team had more chances to fit the public rows.
MANY_FILES = 2.0


@dataclass(frozen=True)
class TeamShakeUp:
    """One team on both boards, with the file that decided for it."""

    team_id: int
    name: str
    public_rank: int
    private_rank: int
    public: float
    private: float
    files: int
    lost: float
    """How much worse the private score is than the public one; negative where it is better."""
    beyond: float
    """`lost` without what the median team lost: the private rows may simply be harder."""
    noise: float | None
    """Standard error of `lost`; None where nobody knows it."""
    reason: Reason
    real_name: str = ""
    """What a pseudonym stands for, for those who may know."""

    @property
    def gained(self) -> int:
        """Ranks won, negative when lost."""
        return self.public_rank - self.private_rank

    @property
    def is_clear(self) -> bool:
        """Whether chance alone does not explain the move."""
        return self.reason not in ("chance", "unknown")

    @property
    def fell(self) -> int:
        return -self.gained


@dataclass(frozen=True)
class ShakeUp:
    """All teams in the order of the private board, and what is said about them as a whole."""

    teams: tuple[TeamShakeUp, ...]
    moved: int
    usual_noise: float | None

    @property
    def beyond_chance(self) -> int:
        """Teams that moved against the others by more than the draw of the rows explains."""
        return sum(team.is_clear for team in self.teams)

    @property
    def risers(self) -> list[TeamShakeUp]:
        """Those who won most ranks first."""
        return sorted((team for team in self.teams if team.gained > 0), key=lambda team: team.fell)

    @property
    def fallers(self) -> list[TeamShakeUp]:
        return sorted((team for team in self.teams if team.gained < 0), key=lambda team: team.gained)


def shake_up_of(competition: Competition, *, sees_names: bool = False) -> ShakeUp | None:
    """Compare both boards of a revealed competition; None before the reveal and for empty boards."""
    ground_truth = competition.ground_truth
    if ground_truth is None or competition.revealed_at is None:
        return None
    public = {row.team_id: row for row in ranked_lines(competition, Split.PUBLIC)}
    after = ranked_lines(competition, Split.PRIVATE, sees_names=sees_names)
    pairs = [(public[row.team_id], row) for row in after if row.team_id in public]
    if not pairs:
        return None
    sign, noises = sign_of(ground_truth), _noises(ground_truth)
    usual_loss = median(_loss(before, after, sign) for before, after in pairs)
    usual_files = median(after.submission_count for _, after in pairs)
    teams = tuple(
        _team_shake_up(
            before, after, _loss(before, after, sign), usual_loss, usual_files, noises.get(after.submission_id)
        )
        for before, after in pairs
    )
    known = [team.noise for team in teams if team.noise is not None]
    moved = sum(team.gained != 0 for team in teams)
    return ShakeUp(teams, moved, median(known) if known else None)


def _loss(before: BoardRowData, after: BoardRowData, sign: float) -> float:
    return sign * ((after.value or 0.0) - (before.value or 0.0))


def _team_shake_up(
    before: BoardRowData, after: BoardRowData, lost: float, usual_loss: float, usual_files: float, noise: float | None
) -> TeamShakeUp:
    beyond = lost - usual_loss
    return TeamShakeUp(
        team_id=after.team_id,
        name=after.name,
        public_rank=before.rank or 0,
        private_rank=after.rank or 0,
        public=before.value or 0.0,
        private=after.value or 0.0,
        files=after.submission_count,
        lost=lost,
        beyond=beyond,
        noise=noise,
        reason=_reason(beyond, noise, has_many=after.submission_count >= MANY_FILES * usual_files),
        real_name=after.real_name,
    )


def _reason(beyond: float, noise: float | None, *, has_many: bool) -> Reason:
    if noise is None:
        return "unknown"
    if abs(beyond) <= BEYOND_CHANCE * noise:
        return "chance"
    if beyond < 0:
        return "held"
    return "many_files" if has_many else "fitted"


def _noises(ground_truth: GroundTruth) -> dict[str, float]:
    """Submission → standard error of the difference of its two scores: the splits share no row, so variances add."""
    decided = Standing.objects.filter(ground_truth=ground_truth, split=Split.PRIVATE).values("submission")
    rows = Score.objects.filter(ground_truth=ground_truth, submission__in=decided, standard_error__isnull=False)
    found: dict[str, list[float]] = defaultdict(list)
    for submission_id, error in rows.values_list("submission_id", "standard_error"):
        found[str(submission_id)].append(error or 0.0)
    return {key: math.hypot(*errors) for key, errors in found.items() if len(errors) == len(Split)}


@dataclass(frozen=True)
class MissedFinal:
    """The file that decided for a team, its best private one, and the rank that this would have had."""

    decided: StandingCandidate
    best: StandingCandidate
    rank: int
    file_name: str = ""
    """Of the best one, where that is another one than decided."""

    @property
    def picked_the_best(self) -> bool:
        return self.best.order >= self.decided.order


def missed_final(team: Team, ground_truth: GroundTruth) -> MissedFinal | None:
    """What a team should have picked; None before the reveal and for a team that is not on the private board."""
    board = list(standings_in_order(ground_truth, Split.PRIVATE))
    held = next((standing for standing in board if standing.team_id == team.pk), None)
    if ground_truth.competition.revealed_at is None or held is None:
        return None
    sign = sign_of(ground_truth)
    decided = StandingCandidate(
        team.pk, held.submission_id, held.value, held.sort_key, held.received_at, held.is_picked_by_system
    )
    named = _private_files(team, ground_truth, sign)
    best, file_name = min(((decided, ""), *named), key=lambda one: one[0].order)
    better = sum((other.sort_key, other.received_at) < best.order for other in board if other is not held)
    return MissedFinal(decided, best, 1 + better, file_name)


def _private_files(team: Team, ground_truth: GroundTruth, sign: float) -> list[tuple[StandingCandidate, str]]:
    """The team's ranked files by their private scores, with their names."""
    rows = ranked_scores(ground_truth, Split.PRIVATE, teams=[team.pk])
    facts = rows.values_list("submission_id", "value", "submission__received_at", "submission__file_name")
    return [
        (StandingCandidate(team.pk, pk, value, sign * value, received_at), name)
        for pk, value, received_at, name in facts
    ]
