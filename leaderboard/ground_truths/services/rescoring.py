"""Apply or discard a candidate ground truth. The board switches in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import standings
from leaderboard.common.models import AuditEvent
from leaderboard.competitions import hooks, wake_ups
from leaderboard.competitions.models import CandidateProblem, Competition, GroundTruth, Rescoring, Submission
from leaderboard.competitions.services import CannotHost, lock_competition
from leaderboard.submissions import outside_queue

from ..queries import rank_moves
from .publishing import ground_truth_facts, log_ground_truth_event


def apply_candidate(
    *, competition: Competition, user: User | None = None, notifies: bool = False, message: str = ""
) -> int:
    """Make the candidate current in one transaction; returns the number of people notified.

    With `notifies`, members of teams whose score or rank changes get the host's `message`, if any. Raises
    `CannotHost` without a candidate, and while files are not scored with it.
    """
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        candidate, current = locked.candidate, locked.ground_truth
        if candidate is None or current is None:
            raise CannotHost(_("There is no pending correction to apply."))
        if outside_queue.without_scores(candidate).exists():
            wake_ups.wake_workers_after_commit(wake_ups.RESCORE_CANDIDATE, candidate.pk)
            raise CannotHost(_("Some submissions are still being scored with them. Try again in a moment."))
        candidate.competition = current.competition = locked
        affected = _affected_teams(locked, current, candidate) if notifies else []
        locked.ground_truth, locked.candidate = candidate, None
        locked.save(update_fields=["ground_truth", "candidate"])
        standings.rebuild_standings(candidate)
        Rescoring.objects.create(competition=locked, before=current, after=candidate, message=message)
        for pk in locked.submissions.filter(status=Submission.Status.PENDING).values_list("pk", flat=True):
            wake_ups.wake_workers_after_commit(wake_ups.SCORE_NEXT_SUBMISSIONS, pk, candidate.pk)
        notified = sum(hooks.rescored(competition=locked, teams=affected, message=message)) if notifies else 0
        log_ground_truth_event(
            AuditEvent.TRUTH_APPLIED,
            candidate,
            user,
            before=ground_truth_facts(current),
            after={**ground_truth_facts(candidate), "notified": notified},
        )
    competition.refresh_from_db()
    return notified


def _affected_teams(competition: Competition, current: GroundTruth, candidate: GroundTruth) -> Sequence[int]:
    """Teams whose score or rank changes, or with files that cannot be scored any more.

    On a hidden board all its teams, because a notice must not reveal whose score changed.
    """
    moves = rank_moves(current, candidate)
    teams = {move.team.pk for move in moves if move.is_affected or competition.board_is_hidden}
    refused = CandidateProblem.objects.filter(ground_truth=candidate, submission__team__isnull=False)
    return [*teams.union(refused.values_list("submission__team", flat=True))]


def discard_candidate(*, competition: Competition, user: User | None = None) -> None:
    """Discard the candidate; it keeps its number, and the current ground truth stays current."""
    with transaction.atomic():
        candidate = lock_competition(competition.pk).candidate
        if candidate is not None:
            log_ground_truth_event(AuditEvent.TRUTH_DISCARDED, candidate, user, before=ground_truth_facts(candidate))
        Competition.objects.filter(pk=competition.pk).update(candidate=None)
    competition.refresh_from_db()
