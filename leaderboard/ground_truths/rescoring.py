"""Preview of a candidate ground truth; services that apply or discard it. The board switches in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import OuterRef
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards import standings
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.queries import count_rows
from leaderboard.competitions import hooks, wake_ups
from leaderboard.competitions.models import (
    CandidateProblem,
    Competition,
    GroundTruth,
    Rescoring,
    Score,
    Submission,
    Team,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import CannotHost
from leaderboard.submissions import score

from .publishing import ground_truth_facts, log_ground_truth_event


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
    measured: int
    waiting: int
    refused: int
    refusals: list[CandidateProblem]
    moves: list[RankMove]

    @property
    def is_complete(self) -> bool:
        return self.waiting == 0

    @property
    def done(self) -> int:
        return self.measured + self.refused

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


MAX_SHOWN_REFUSALS = 50


def preview_candidate(competition: Competition, *, split: Split | None = None) -> RescoringPreview | None:
    """Effect of the candidate on the board that counts now, or on that of `split`; None without a candidate."""
    candidate, current = competition.candidate, competition.ground_truth
    if candidate is None or current is None:
        return None
    candidate.competition = current.competition = competition
    measured, refused, invalid = _rescoring_progress(candidate)
    refusals = CandidateProblem.objects.filter(ground_truth=candidate).select_related("submission__team")
    waiting = score.without_scores(candidate).count()
    return RescoringPreview(
        ground_truth=candidate,
        invalid=invalid,
        measured=measured,
        waiting=waiting,
        refused=refused,
        refusals=list(refusals[:MAX_SHOWN_REFUSALS]) if refused else [],
        moves=[] if waiting else _rank_moves(current, candidate, split=split),
    )


def _rescoring_progress(candidate: GroundTruth) -> tuple[int, int, int]:
    """Numbers of files that are scored with a candidate, cannot be scored with it, and are invalid."""
    scores = Score.objects.filter(ground_truth=OuterRef("pk"), split=Split.PUBLIC)
    files = Submission.objects.filter(competition=OuterRef("competition"))
    measured, refused, invalid = GroundTruth.objects.values_list(
        count_rows(scores, "ground_truth"),
        count_rows(CandidateProblem.objects.filter(ground_truth=OuterRef("pk")), "ground_truth"),
        count_rows(files.filter(status=Submission.Status.INVALID), "competition"),
    ).get(pk=candidate.pk)
    return measured, refused, invalid


def _rank_moves(
    current: GroundTruth,
    candidate: GroundTruth,
    *,
    split: Split | None = None,
) -> list[RankMove]:
    now, then = (
        {
            best.team_id: best
            for best in (
                standings.expected_candidates(ground_truth)
                if split is None
                else [best for its, best in standings.deciding_candidates(ground_truth) if its == split]
            )
        }
        for ground_truth in (current, candidate)
    )
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


def apply_candidate(*, competition: Competition, user: User | None = None, words: str = "", tells: bool = False) -> int:
    """Make the candidate current in one transaction; returns the number of people notified.

    With `tells`, members of teams whose score or rank changes are notified, with the host's `words` if any. Raises
    `CannotHost` without a candidate, and while files are not scored with it.
    """
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        candidate, current = held.candidate, held.ground_truth
        if candidate is None or current is None:
            raise CannotHost(_("There is no pending correction to apply."))
        if score.without_scores(candidate).exists():
            wake_ups.wake_workers_after_commit(wake_ups.RESCORE_CANDIDATE, candidate.pk)
            raise CannotHost(_("Some submissions are still being scored with them. Try again in a moment."))
        candidate.competition = current.competition = held
        affected = _affected_teams(held, current, candidate) if tells else []
        held.ground_truth, held.candidate = candidate, None
        held.save(update_fields=["ground_truth", "candidate"])
        standings.rebuild_standings(candidate)
        Rescoring.objects.create(competition=held, before=current, after=candidate, words=words)
        for pk in held.submissions.filter(status=Submission.Status.PENDING).values_list("pk", flat=True):
            wake_ups.wake_workers_after_commit(wake_ups.SCORE_NEXT_SUBMISSIONS, pk, candidate.pk)
        notified = sum(hooks.rescored(competition=held, teams=affected, words=words)) if tells else 0
        after: dict[str, Any] = {**ground_truth_facts(candidate), "notified": notified}
        log_ground_truth_event(
            AuditEvent.TRUTH_APPLIED, held, user, candidate, before=ground_truth_facts(current), after=after
        )
    competition.refresh_from_db()
    return notified


def _affected_teams(competition: Competition, current: GroundTruth, candidate: GroundTruth) -> Sequence[int]:
    """Teams whose score or rank changes, or with files that cannot be scored any more.

    On a hidden board all its teams, because a notice must not reveal whose score changed.
    """
    moves = _rank_moves(current, candidate)
    teams = {move.team.pk for move in moves if move.is_affected or competition.board_is_hidden}
    refused = CandidateProblem.objects.filter(ground_truth=candidate, submission__team__isnull=False)
    return [*teams.union(refused.values_list("submission__team", flat=True))]


def discarded_numbers(competition: Competition) -> set[int]:
    """Numbers of the candidates that a host discarded."""
    entries = AuditEntry.objects.filter(competition=competition.pk, event=AuditEvent.TRUTH_DISCARDED)
    return {before["number"] for before in entries.values_list("before", flat=True)}


def discard_candidate(*, competition: Competition, user: User | None = None) -> None:
    """Discard the candidate; it keeps its number, and the current ground truth stays current."""
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        if held.candidate is not None:
            log_ground_truth_event(
                AuditEvent.TRUTH_DISCARDED, held, user, held.candidate, before=ground_truth_facts(held.candidate)
            )
        Competition.objects.filter(pk=competition.pk).update(candidate=None)
    competition.refresh_from_db()
