"""Standings: derived from scores and final picks by `ranking`, stored for speed, recomputed by `rebuild_standings`,
checked by `standing_differences`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from leaderboard.common import numbers
from leaderboard.common.hooks import on
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, GroundTruth, Standing, Submission
from leaderboard.competitions.models.competition import Split

from .ranking import expected_standings

COMPARED_STANDINGS = 1000
"""Standings, best first, that decide about the decimals of scores."""


@on(hooks.ranking_changed)
def rebuild_boards(competition: Competition) -> None:
    """Rebuild the standings after a change of the files, teams or settings that decide about ranks."""
    if competition.ground_truth is not None:
        competition.ground_truth.competition = competition
        rebuild_standings(competition.ground_truth)
    else:
        competition.bump_board_version()


@transaction.atomic
def rebuild_standings(ground_truth: GroundTruth) -> int:
    """Delete the standings of a ground truth and compute them again from its scores; returns their number."""
    ground_truth.competition.bump_board_version()  # which locks the competition before its standings
    Standing.objects.filter(ground_truth=ground_truth).delete()
    made: list[Standing] = []
    for split, standing in expected_standings(ground_truth):
        standing.ground_truth, standing.split = ground_truth, split
        made.append(standing)
    Standing.objects.bulk_create(made, batch_size=2000)
    _add_score_decimals(ground_truth)
    return len(made)


def standing_differences(ground_truth: GroundTruth) -> list[str]:
    """Sentences about standings that differ from a rebuild; [] if the board is right."""
    expected = {
        (split.value, best.team_id): (best.submission_id, best.value)
        for split, best in expected_standings(ground_truth)
    }
    rows = Standing.objects.filter(ground_truth=ground_truth)
    stored = {
        (split, team_id): (submission_id, value)
        for split, team_id, submission_id, value in rows.values_list("split", "team_id", "submission_id", "value")
    }
    return [
        f"{split} standing of team {team_id}: stored {stored.get((split, team_id))}, "
        f"scores say {expected.get((split, team_id))}"
        for split, team_id in sorted(expected.keys() | stored.keys())
        if expected.get((split, team_id)) != stored.get((split, team_id))
    ]


def update_standings(scored: Sequence[tuple[Submission, GroundTruth, float]]) -> set[int]:
    """Update the standings of teams whose new public score is their best; in the transaction that writes the scores.

    `scored` are (submission, ground truth, public score). Returns the competitions whose board changed. After the
    reveal standings depend on final submissions, so they are rebuilt.
    """
    changed: set[int] = set()
    by_ground_truth: dict[int, list[tuple[Submission, GroundTruth, float]]] = defaultdict(list)
    for submission, ground_truth, public in scored:
        team = submission.team
        if team is None:
            changed.add(submission.competition_id)
            continue
        if submission.is_late or submission.hidden_at is not None or team.disqualified_at is not None:
            continue
        if ground_truth.competition.revealed_at is not None:
            rebuild_standings(ground_truth)
        elif team.vacated_at is not None:
            continue
        else:
            by_ground_truth[ground_truth.pk].append((submission, ground_truth, public))
        changed.add(submission.competition_id)
    for of_one in by_ground_truth.values():
        _raise_standings(of_one)
    return changed


def _raise_standings(scored: Sequence[tuple[Submission, GroundTruth, float]]) -> None:
    """Replace a team's public standing where the new score is better, or create its first one."""
    ground_truth = scored[0][1]
    teams = list({submission.team_id for submission, _, _ in scored})
    current = {row.team_id: row for row in _public_standings.rows(ground_truth=ground_truth.pk, teams=teams)}
    sign, made, is_better = ground_truth.sort_sign, [], False
    for submission, _, public in scored:
        fields = {
            "submission": submission,
            "value": public,
            "sort_key": sign * public,
            "received_at": submission.received_at,
        }
        best = Standing(ground_truth=ground_truth, split=Split.PUBLIC, team=submission.team, **fields)
        if best.team_id not in current:
            made.append(best)
        elif best.order < current[best.team_id].order:
            is_better = True
            Standing.objects.filter(pk=current[best.team_id].pk).update(**fields)
    Standing.objects.bulk_create(made)
    if made or is_better:
        _add_score_decimals(ground_truth)


@PreparedQuery
def _public_standings(ground_truth: int, teams: list[int]) -> QuerySet[Standing]:
    rows = Standing.objects.filter(ground_truth=ground_truth, team__in=teams, split=Split.PUBLIC)
    return rows.only("team", "sort_key", "received_at")


def _add_score_decimals(ground_truth: GroundTruth) -> None:
    """Give the competition's scores more decimals where most neighbours of its public board would look equal."""
    competition = ground_truth.competition
    if competition.score_decimals >= numbers.MAX_DECIMALS or competition.ground_truth_id != ground_truth.pk:
        return
    best_first = Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC).order_by("sort_key")
    decimals = numbers.separating_decimals(best_first.values_list("value", flat=True)[:COMPARED_STANDINGS])
    if decimals > competition.score_decimals:
        Competition.objects.filter(pk=competition.pk, score_decimals__lt=decimals).update(score_decimals=decimals)
        competition.score_decimals = decimals
