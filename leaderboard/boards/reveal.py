"""The reveal: from then on, both boards show each team's best final submission. Teams that still have time are added
once their extension has ended.

Before it, `unpicked_better_files` finds teams that picked worse files than their best one; after it,
`best_possible_final` tells a team which file it should have picked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from leaderboard.accounts.models import User
from leaderboard.common import logs
from leaderboard.common.models import AuditEntry, AuditEvent, audit_team, audit_values
from leaderboard.common.numbers import number_text
from leaderboard.common.queries import locked_by_key
from leaderboard.competitions.models import Competition, Extension, GroundTruth, Standing, Submission, Team
from leaderboard.competitions.models.competition import Split

from .queries import ranks_by_team, standings_in_order
from .ranking import deciding_standings, make_standing, ranked_scores
from .standings import rebuild_standings

ROWS_MAY_FOLLOW = timedelta(seconds=45)
"""A file received before a deadline gets its row a little later: the request may wait for a thread or the database."""


@transaction.atomic
def reveal_private_board(competition: Competition, at: datetime, *, user: User | None = None) -> bool:
    """Open the private board and rebuild both boards, without the teams whose extension ends after `at`.

    False if it is open already, or without a ground truth or before the launch. `user` is the host who reveals it; None
    at the deadline.
    """
    opened = Competition.objects.filter(
        pk=competition.pk, revealed_at=None, ground_truth__isnull=False, launched_at__isnull=False
    ).update(revealed_at=at)
    if not opened:
        return False
    competition.refresh_from_db()
    assert competition.ground_truth is not None
    late = Extension.objects.filter(team__competition=competition, closes_at__gt=at)
    locked_by_key(competition.teams.filter(pk__in=late.values("team"))).update(is_awaited=True)
    rebuild_standings(competition.ground_truth)
    AuditEntry.append(AuditEvent.REVEALED, user=user, competition=competition, after=audit_values({"revealed_at": at}))
    return True


def reveal_due_competitions(at: datetime, *, over_since: datetime | None = None) -> list[Competition]:
    """Reveal the competitions that reveal themselves and were over at `over_since` (default: `at`); returns them.

    A competition is over once its deadline and the extensions that delay the ranking have passed and all files received
    on time are scored, except those of teams that still have time.
    """
    opened = []
    for competition in _competitions_due(over_since or at):
        with logs.log_errors(competition=competition.slug):
            if _reveal_if_still_due(competition, at, over_since or at):
                opened.append(competition)
    return opened


@transaction.atomic
def _reveal_if_still_due(competition: Competition, at: datetime, over_since: datetime) -> bool:
    """Lock the competition and check again: an extension may have been granted while others were being revealed."""
    Competition.objects.select_for_update().filter(pk=competition.pk).first()
    return _competitions_due(over_since).filter(pk=competition.pk).exists() and reveal_private_board(competition, at)


def _competitions_due(at: datetime) -> QuerySet[Competition]:
    due = Competition.objects.outside_bin().filter(
        launched_at__isnull=False, revealed_at=None, board__reveals_itself=True, closes_at__lte=at
    )
    delaying = Extension.objects.filter(
        team__competition=OuterRef("pk"), team__disqualified_at=None, delays_ranking=True, closes_at__gt=at
    )
    return due.exclude(Exists(files_to_wait_for(at).filter(competition=OuterRef("pk")))).exclude(Exists(delaying))


def files_to_wait_for(at: datetime) -> QuerySet[Submission]:
    """Files received on time without a score, of teams whose time is over at `at`."""
    files = Submission.objects.filter(status=Submission.Status.PENDING, is_late=False, team__isnull=False)
    return files.exclude(Exists(Extension.objects.filter(team=OuterRef("team"), closes_at__gt=at)))


def add_late_teams(over_since: datetime) -> list[Team]:
    """Add to open final rankings the teams whose extension had ended at `over_since`, once their files are scored."""
    added = []
    for team in _late_teams_due(over_since).select_related("competition"):
        with logs.log_errors(competition=team.competition.slug):
            if _add_if_still_due(team, over_since):
                added.append(team)
    return added


@transaction.atomic
def _add_if_still_due(team: Team, over_since: datetime) -> bool:
    """Lock the competition and check again: the extension may have become longer."""
    competition = Competition.objects.select_for_update().get(pk=team.competition_id)
    if not _late_teams_due(over_since).filter(pk=team.pk).update(is_awaited=False):
        return False
    assert competition.ground_truth is not None, "a revealed competition has one"
    rebuild_standings(competition.ground_truth)
    AuditEntry.append(AuditEvent.REVEALED, user=None, competition=competition, about=audit_team(team))
    return True


def _late_teams_due(at: datetime) -> QuerySet[Team]:
    has_time = Extension.objects.filter(team=OuterRef("pk"), closes_at__gt=at)
    waiting = files_to_wait_for(at).filter(team=OuterRef("pk"))
    return Team.objects.filter(is_awaited=True).exclude(Exists(has_time)).exclude(Exists(waiting))


@dataclass(frozen=True)
class UnpickedFile:
    """A file with a better public score than all selected ones."""

    file_name: str
    score: str


def unpicked_better_files(
    ground_truth: GroundTruth, picks: Mapping[int, Sequence[Standing]]
) -> dict[int, UnpickedFile]:
    """Team → its best public file, for teams whose picked files are all worse; {} on a hidden board.

    For use before the reveal. `picks` are the final submissions of each team (`final_submissions`). One query.
    """
    teams = [team_id for team_id, candidates in picks.items() if candidates and not candidates[0].is_picked_by_system]
    if not teams or ground_truth.competition.board_is_hidden:
        return {}
    standings = Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC, team__in=teams)
    rows = standings.values_list("team_id", "submission__file_name", "value", "sort_key")
    return {
        team_id: UnpickedFile(file_name, number_text(value, ground_truth.competition.score_decimals))
        for team_id, file_name, value, sort_key in rows
        if all(pick.sort_key > sort_key for pick in picks[team_id])
    }


@dataclass(frozen=True)
class MissedFinal:
    """A team's deciding file, its best file by private score, and the rank that the latter would have reached."""

    decided: Standing
    best: Standing
    rank: int
    file_name: str = ""
    """File name of the best one; "" if that is the deciding one."""

    @property
    def picked_the_best(self) -> bool:
        return self.best.order >= self.decided.order


def best_possible_final(team: Team, ground_truth: GroundTruth) -> MissedFinal | None:
    """The file that a team should have picked; None before the reveal, and for teams not on the private board."""
    board = list(standings_in_order(ground_truth, Split.PRIVATE))
    decided = next((standing for standing in board if standing.team_id == team.pk), None)
    if ground_truth.competition.revealed_at is None or decided is None:
        return None
    named = _private_files(team, ground_truth)
    best, file_name = min(((decided, ""), *named), key=lambda candidate: candidate[0].order)
    better = sum(other.order < best.order for other in board if other is not decided)
    return MissedFinal(decided, best, 1 + better, file_name)


def _private_files(team: Team, ground_truth: GroundTruth) -> list[tuple[Standing, str]]:
    """(candidate by private score, file name) for each of the team's files that can be ranked."""
    rows = ranked_scores(ground_truth, Split.PRIVATE, teams=[team.pk])
    facts = rows.values_list("submission_id", "value", "submission__received_at", "submission__file_name")
    sign = ground_truth.sort_sign
    return [(make_standing(sign, team.pk, pk, value, received_at), name) for pk, value, received_at, name in facts]


# --- review before the reveal -----------------------------------------------------------------------------------

MAX_REVIEW_ROWS = 20
"""Rows of the private board in the review before the reveal."""


@dataclass(frozen=True)
class ReviewRow:
    """A team on the private board as a reveal would make it now, with its public rank."""

    team: Team
    rank: int
    public_rank: int | None
    value: float
    is_picked_by_system: bool

    @property
    def gained(self) -> int:
        """Ranks gained, negative when lost; 0 without a public rank."""
        return self.public_rank - self.rank if self.public_rank else 0


@dataclass(frozen=True)
class RevealReview:
    """Numbers of files and teams for a check before the reveal; `rows` are the first ones of the private board."""

    scored: int
    waiting: int
    failed: int
    late: int
    hidden: int
    ranked: int
    picked_by_system: int
    disqualified: tuple[Team, ...]
    without: int
    """Number of teams that are not disqualified and would still be on no board."""
    candidate: GroundTruth | None
    rows: tuple[ReviewRow, ...]


def review_before_reveal(competition: Competition, at: datetime) -> RevealReview:
    """Review before the reveal. Only for hosts: it includes private ranks."""
    teams = {team.pk: team for team in competition.teams.all()}
    # Ranks by the deciding files, which both boards show after the reveal.
    by_split: dict[str, list[Standing]] = {Split.PUBLIC: [], Split.PRIVATE: []}
    if (ground_truth := competition.ground_truth) is not None:
        ground_truth.competition = competition
        for split, best in deciding_standings(ground_truth):
            by_split[split].append(best)
    private = by_split[Split.PRIVATE]
    ranks, public_ranks = ranks_by_team(private), ranks_by_team(by_split[Split.PUBLIC])
    best_first = sorted(private, key=lambda best: (best.order, best.team_id))
    rows = [
        ReviewRow(
            teams[best.team_id],
            ranks[best.team_id],
            public_ranks.get(best.team_id),
            best.value,
            best.is_picked_by_system,
        )
        for best in best_first[:MAX_REVIEW_ROWS]
    ]
    disqualified = tuple(team for team in teams.values() if team.disqualified_at is not None)
    status = Submission.Status
    numbers = competition.submissions.filter(team__isnull=False).aggregate(
        scored=Count("pk", filter=Q(status=status.SCORED)),
        failed=Count("pk", filter=Q(status=status.FAILED)),
        late=Count("pk", filter=Q(is_late=True)),
        hidden=Count("pk", filter=Q(hidden_at__isnull=False)),
    )
    return RevealReview(
        **numbers,
        waiting=files_to_wait_for(at).filter(competition=competition).count(),
        ranked=len(private),
        picked_by_system=sum(best.is_picked_by_system for best in private),
        disqualified=disqualified,
        without=len(teams) - len(disqualified) - len(private),
        candidate=competition.candidate,
        rows=tuple(rows),
    )
