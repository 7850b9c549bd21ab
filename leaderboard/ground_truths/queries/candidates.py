"""The effect of a candidate ground truth on the board, before it is applied; and the candidates that were discarded."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import OuterRef

from leaderboard.boards import queries as boards
from leaderboard.boards import standings
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import CandidateProblem, Competition, GroundTruth, Score, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.submissions import score

MAX_SHOWN_REFUSALS = 50


@dataclass(frozen=True)
class RankMove:
    """A team's rank and score under the current ground truth (`now`) and under the candidate (`then`)."""

    team: Team
    rank_now: int | None
    rank_then: int | None
    value_now: float | None
    value_then: float | None

    @property
    def gained(self) -> int:
        """Ranks gained, negative when lost; 0 for a team on only one of the two boards."""
        return self.rank_now - self.rank_then if self.rank_now and self.rank_then else 0

    @property
    def is_affected(self) -> bool:
        return (self.rank_now, self.value_now) != (self.rank_then, self.value_then)

    @property
    def size(self) -> tuple[int, int]:
        """Sort key, largest moves first: teams that appear or disappear, then by number of ranks."""
        stays = self.rank_now is not None and self.rank_then is not None
        return (-abs(self.gained) if stays else -(10**9), self.rank_then or 10**9)


@dataclass(frozen=True)
class RescoringPreview:
    """Effect of a candidate on the board, and progress of scoring with it (numbers of files).

    `refused` files cannot be scored with the candidate; `invalid` ones are not tried. `moves`, largest first, are
    computed once no file is `waiting`.
    """

    ground_truth: GroundTruth
    invalid: int
    scored: int
    waiting: int
    refused: int
    refusals: list[CandidateProblem]
    moves: list[RankMove]

    @property
    def is_complete(self) -> bool:
        return self.waiting == 0

    @property
    def done(self) -> int:
        return self.scored + self.refused

    @property
    def total(self) -> int:
        return self.done + self.waiting

    @property
    def affected(self) -> int:
        return sum(move.is_affected for move in self.moves)

    @property
    def rising(self) -> int:
        return sum(move.gained > 0 for move in self.moves)

    @property
    def falling(self) -> int:
        return sum(move.gained < 0 for move in self.moves)

    @property
    def moved(self) -> int:
        return sum(move.rank_now != move.rank_then for move in self.moves)

    @property
    def leaders(self) -> tuple[list[Team], list[Team]]:
        """(teams in first place now, teams that would be)."""
        now = [move.team for move in self.moves if move.rank_now == 1]
        return now, [move.team for move in self.moves if move.rank_then == 1]


def preview_candidate(competition: Competition, *, split: Split | None = None) -> RescoringPreview | None:
    """Effect of the candidate on the board that counts now, or on that of `split`; None without a candidate."""
    candidate, current = competition.candidate, competition.ground_truth
    if candidate is None or current is None:
        return None
    candidate.competition = current.competition = competition
    scores = Score.objects.filter(ground_truth=OuterRef("pk"), split=Split.PUBLIC)
    invalid_files = Submission.objects.filter(competition=OuterRef("competition"), status=Submission.Status.INVALID)
    scored, refused, invalid = GroundTruth.objects.values_list(
        count_rows(scores, "ground_truth"),
        count_rows(CandidateProblem.objects.filter(ground_truth=OuterRef("pk")), "ground_truth"),
        count_rows(invalid_files, "competition"),
    ).get(pk=candidate.pk)
    refusals = CandidateProblem.objects.filter(ground_truth=candidate).select_related("submission__team")
    waiting = score.without_scores(candidate).count()
    return RescoringPreview(
        ground_truth=candidate,
        invalid=invalid,
        scored=scored,
        waiting=waiting,
        refused=refused,
        refusals=list(refusals[:MAX_SHOWN_REFUSALS]) if refused else [],
        moves=[] if waiting else rank_moves(current, candidate, split=split),
    )


def rank_moves(current: GroundTruth, candidate: GroundTruth, *, split: Split | None = None) -> list[RankMove]:
    """The teams on the board under either ground truth, largest moves first; `split` as for `preview_candidate`."""
    now, then = _deciding_by_team(current, split), _deciding_by_team(candidate, split)
    ranks_now, ranks_then = boards.ranks_by_team(now.values()), boards.ranks_by_team(then.values())
    moves = [
        RankMove(
            team,
            ranks_now.get(team.pk),
            ranks_then.get(team.pk),
            now[team.pk].value if team.pk in now else None,
            then[team.pk].value if team.pk in then else None,
        )
        for team in Team.objects.filter(competition=current.competition_id, pk__in=now.keys() | then.keys())
    ]
    return sorted(moves, key=lambda move: (move.size, move.team.name))


def _deciding_by_team(ground_truth: GroundTruth, split: Split | None) -> dict[int, standings.StandingCandidate]:
    if split is None:
        return {best.team_id: best for best in standings.expected_candidates(ground_truth)}
    return {best.team_id: best for board, best in standings.deciding_candidates(ground_truth) if board == split}


def discarded_numbers(competition: Competition) -> set[int]:
    """Numbers of the candidates that a host discarded."""
    entries = AuditEntry.objects.filter(competition=competition.pk, event=AuditEvent.TRUTH_DISCARDED)
    return {before["number"] for before in entries.values_list("before", flat=True)}
