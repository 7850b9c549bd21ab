"""The file that a team forgets where it picks worse ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.common.numbers import number_text, rounded_text

from ..models import GroundTruth, Standing
from ..models.competition import Split
from .ladder import Ladder, ladder_of
from .standings import StandingCandidate


@dataclass(frozen=True)
class UnpickedFile:
    """A file that is better than all picked ones, with its public score as the board shows it."""

    file_name: str
    score: str


def unpicked_better_files(
    ground_truth: GroundTruth, picks: Mapping[int, Sequence[StandingCandidate]]
) -> dict[int, UnpickedFile]:
    """Team → its best public file, before the reveal, where the board itself shows that all picked files are worse.
    `picks` are `finals`; one query."""
    ladder = ladder_of(ground_truth)
    teams = [team_id for team_id, found in picks.items() if found and not found[0].is_picked_by_system]
    if not teams or (ladder and ladder.is_hidden):
        return {}
    held = Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC, team__in=teams)
    rows = held.values_list("team_id", "submission__file_name", "value", "sort_key", "received_at")
    text = rounded_text if ladder else number_text
    return {
        team_id: UnpickedFile(file_name, text(value))
        for team_id, file_name, value, sort_key, received_at in rows
        if all(_is_worse(pick, ladder, sort_key, received_at) for pick in picks[team_id])
    }


def _is_worse(pick: StandingCandidate, ladder: Ladder | None, sort_key: float, received_at: datetime) -> bool:
    """A steady board says it of files before the last clear improvement; of those after it nobody may know."""
    return pick.sort_key > sort_key if ladder is None else pick.received_at < received_at
