"""The reveal: from one moment on, both boards show each team's best final.

`unpicked_better_files` finds a team whose picked files are worse than another of its files, and `missed_final` says
afterwards what a team should have picked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from leaderboard.accounts.models import User
from leaderboard.common import logs
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent, audit_values
from leaderboard.common.numbers import number_text

from ..models import Competition, Extension, GroundTruth, Standing, Submission, Team
from ..models.competition import Split
from .boards import standings_in_order
from .scores import ranked_scores, sign_of
from .standings import StandingCandidate, rebuild_standings


@transaction.atomic
def reveal_private_board(competition: Competition, at: datetime, *, user: User | None = None) -> bool:
    """Open the private board at `at`; False when it is open already or has no ground truth. Rebuilds both boards.

    `user` is the host who asked for it; None at the deadline.
    """
    opened = Competition.objects.filter(
        pk=competition.pk, revealed_at=None, ground_truth__isnull=False, launched_at__isnull=False
    ).update(revealed_at=at)
    if not opened:
        return False
    competition.refresh_from_db()
    assert competition.ground_truth is not None
    rebuild_standings(competition.ground_truth)
    AuditEntry.append(AuditEvent.REVEALED, user=user, competition=competition, after=audit_values({"revealed_at": at}))
    return True


def reveal_due_competitions(at: datetime) -> list[Competition]:
    """Reveal what is past its deadline and reveals itself, once every team's time is over and every file received in
    time has its score."""
    opened = []
    for competition in _competitions_due(at):
        with logs.log_errors(competition=competition.slug):
            if _reveal_if_still_due(competition, at):
                opened.append(competition)
    return opened


@transaction.atomic
def _reveal_if_still_due(competition: Competition, at: datetime) -> bool:
    """Boards of other competitions were made since this one was found due, which takes a while; a host may have given
    more time meanwhile, and gives none for as long as this holds the lock."""
    Competition.objects.select_for_update().filter(pk=competition.pk).first()
    return _competitions_due(at).filter(pk=competition.pk).exists() and reveal_private_board(competition, at)


def _competitions_due(at: datetime) -> QuerySet[Competition]:
    waiting = Submission.objects.filter(
        status=Submission.Status.PENDING, competition=OuterRef("pk"), is_late=False, team__isnull=False
    )
    due = (
        Competition.objects.outside_bin()
        .filter(launched_at__isnull=False, revealed_at=None, board__reveals_itself=True, closes_at__lte=at)
        .exclude(Exists(waiting))
    )
    has_time = Extension.objects.active().filter(
        team__competition=OuterRef("pk"), team__disqualified_at=None, closes_at__gt=at
    )
    return due.exclude(Exists(has_time))


@dataclass(frozen=True)
class UnpickedFile:
    """A file that is better than all picked ones, with its public score."""

    file_name: str
    score: str


def unpicked_better_files(
    ground_truth: GroundTruth, picks: Mapping[int, Sequence[StandingCandidate]]
) -> dict[int, UnpickedFile]:
    """Team → its best public file, before the reveal, where all picked files are worse; none where the board is hidden.
    `picks` has the deciding files of each team; one query."""
    teams = [team_id for team_id, found in picks.items() if found and not found[0].is_picked_by_system]
    if not teams or ground_truth.competition.board_is_hidden:
        return {}
    held = Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC, team__in=teams)
    rows = held.values_list("team_id", "submission__file_name", "value", "sort_key")
    return {
        team_id: UnpickedFile(file_name, number_text(value))
        for team_id, file_name, value, sort_key in rows
        if all(pick.sort_key > sort_key for pick in picks[team_id])
    }


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
