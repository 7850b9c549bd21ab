"""How the shown scores of a few teams came about: each time one of them became better."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..models import GroundTruth, Team
from ..models.competition import Split
from .boards import LEADERS, is_hidden, standings_in_order
from .ladder import Ladder, ladder_of, linked_answers, ranked_scores, sign_of, teams_with_moves
from .rows import shown_moment

MOST_STEPS = 20


@dataclass(frozen=True)
class ScoreHistory:
    """A team's public score over time: (receipt, score from then on), the first and the newest steps."""

    team: Team
    steps: tuple[tuple[datetime, float], ...]


def score_histories(
    ground_truth: GroundTruth, *, also: Team | None = None, leaders: Sequence[Team] = ()
) -> list[ScoreHistory]:
    """Of the best teams of the public board in its order (`leaders`, where they are at hand), and of one more; nothing
    where the board shows no scores."""
    if is_hidden(ground_truth, Split.PUBLIC):
        return []
    leaders = list(leaders) or [
        standing.team for standing in standings_in_order(ground_truth, Split.PUBLIC).select_related("team")[:LEADERS]
    ]
    for team in leaders:
        team.competition = ground_truth.competition
    if also is not None and also not in leaders:
        leaders.append(also)
    found = _steps(ground_truth, leaders)
    competition = ground_truth.competition
    return [
        ScoreHistory(
            team, tuple((shown_moment(at, competition, sees_names=False), value) for at, value in found[team.pk])
        )
        for team in leaders
        if team.pk in found
    ]


def _steps(ground_truth: GroundTruth, teams: Sequence[Team]) -> dict[int, tuple[tuple[datetime, float], ...]]:
    ladder = ladder_of(ground_truth)
    linked = teams_with_moves(ground_truth) & {team.pk for team in teams} if ladder else set()
    alone = _steps_of(ground_truth, [team for team in teams if team.pk not in linked])
    return alone | (_linked_steps(ground_truth, ladder, linked) if ladder and linked else {})


def _linked_steps(
    ground_truth: GroundTruth, ladder: Ladder, teams: set[int]
) -> dict[int, tuple[tuple[datetime, float], ...]]:
    found: dict[int, list[tuple[datetime, float]]] = defaultdict(list)
    for file, shown, is_new in linked_answers(ground_truth, ladder, teams):
        steps = found[file.team_id]
        if is_new and (not steps or ladder.sign * shown < ladder.sign * steps[-1][1]):
            steps.append((file.received_at, shown))
    return {team_id: _shortened(steps) for team_id, steps in found.items() if steps and team_id in teams}


def _steps_of(ground_truth: GroundTruth, teams: Sequence[Team]) -> dict[int, tuple[tuple[datetime, float], ...]]:
    rows = ranked_scores(ground_truth, Split.PUBLIC, teams=[team.pk for team in teams])
    received: dict[int, list[tuple[datetime, float]]] = defaultdict(list)
    for team_id, at, value in rows.order_by("submission__received_at", "submission_id").values_list(
        "submission__team", "submission__received_at", "value"
    ):
        assert team_id is not None
        received[team_id].append((at, value))
    return {team_id: _shortened(_shown(ground_truth, files)) for team_id, files in received.items()}


def _shown(ground_truth: GroundTruth, files: Sequence[tuple[datetime, float]]) -> list[tuple[datetime, float]]:
    """The files after which the board showed another score, with that score."""
    if ladder := ladder_of(ground_truth):
        climbed = zip(files, ladder.answers(value for _, value in files), strict=True)
        return [(at, shown) for (at, _), (shown, is_new) in climbed if is_new]
    sign, steps = sign_of(ground_truth), list[tuple[datetime, float]]()
    for at, value in files:
        if not steps or sign * value < sign * steps[-1][1]:
            steps.append((at, value))
    return steps


def _shortened(steps: Sequence[tuple[datetime, float]]) -> tuple[tuple[datetime, float], ...]:
    return tuple(steps) if len(steps) <= MOST_STEPS else (steps[0], *steps[1 - MOST_STEPS :])
