"""What the public board showed at an earlier moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from uuid import UUID

from django.db.models import Value

from ..models import GroundTruth, Standing
from ..models.competition import Split
from .ladder import Ladder, ladder_of, linked_improvements, ranked_scores, sign_of, teams_with_moves
from .standings import FACTS, StandingCandidate, best_per_team, candidate_from_improvement, make_candidate

HELD_FACTS = ("team_id", "submission_id", "value", "received_at")


def standings_before(ground_truth: GroundTruth, before: datetime) -> Iterator[StandingCandidate]:
    """What the public board of the current ground truth showed at a moment before the reveal; one query.

    A standing of now that was received before then was there already: a later file changes nothing about which of the
    earlier ones is the best, or the last clear improvement. So only files of teams that came further since are read.
    """
    here = Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC).order_by()
    still = here.filter(received_at__lt=before).values_list(*HELD_FACTS, Value(value=True))
    moved = ranked_scores(ground_truth, Split.PUBLIC, teams=here.filter(received_at__gte=before).values("team"))
    moved = moved.filter(submission__received_at__lt=before).order_by()
    ladder = ladder_of(ground_truth)
    then = moved if ladder else best_per_team(moved, ground_truth)
    files: dict[int, list[tuple[datetime, UUID, float]]] = defaultdict(list)
    sign = sign_of(ground_truth)
    for team_id, submission_id, value, received_at, stands_there in still.union(
        then.values_list(*FACTS, Value(value=False)), all=True
    ):
        if stands_there or ladder is None:
            yield make_candidate(sign, team_id, submission_id, value, received_at)
        else:
            files[team_id].append((received_at, submission_id, value))
    if ladder and files:
        yield from _clear_improvements_before(ground_truth, ladder, files, before)


def _clear_improvements_before(
    ground_truth: GroundTruth,
    ladder: Ladder,
    files_of: Mapping[int, list[tuple[datetime, UUID, float]]],
    before: datetime,
) -> Iterator[StandingCandidate]:
    """Team by team the last clear improvement among files with their exact scores."""
    linked = teams_with_moves(ground_truth) & files_of.keys()
    for team_id, files in files_of.items():
        if team_id in linked:
            continue
        files.sort()
        climbed = zip(files, ladder.answers(value for *_, value in files), strict=True)
        (received_at, submission_id, _), shown = [(file, shown) for file, (shown, is_new) in climbed if is_new][-1]
        yield make_candidate(ladder.sign, team_id, submission_id, shown, received_at)
    if linked:
        improvements = linked_improvements(ground_truth, ladder, linked, before=before)
        yield from (
            candidate_from_improvement(ladder, improvement)
            for improvement in improvements
            if improvement.team_id in linked
        )
