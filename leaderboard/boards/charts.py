"""Charts of a board and of a team, limited to what the viewer may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from leaderboard.common import charts
from leaderboard.common.chart_parts import THREE, WIDE
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import GroundTruth, Team
from leaderboard.competitions.models.competition import Split

from . import queries as boards
from . import team_ranks
from .rows import BoardRowData

DRAWN_MOVES = 20
"""Number of teams of the private board in the slope chart, besides the viewer's."""


def board_charts(view: str, page_context: PageContext, split: Split, mine: Team | None) -> dict[str, Any]:
    """The context of `boards/board_chart.html` (`time`) or `boards/board_distribution.html`."""
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None:
        return {}
    if view == "time":
        return {"over_time": over_time(page_context, ground_truth, mine)}
    return distribution_chart(ground_truth, split, mine)


def over_time(page_context: PageContext, ground_truth: GroundTruth, mine: Team | None) -> SafeString:
    """Chart of the public scores of the first ten teams and the viewer's over time; empty on a hidden board."""
    competition = page_context.competition
    is_over = page_context.at >= competition.closes_at
    histories = team_ranks.score_histories(ground_truth, also=mine)
    return charts.draw_race(
        [charts.RaceLine(history.team.shown_name, history.steps, history.team == mine) for history in histories],
        sign=ground_truth.sort_sign,
        axis=ground_truth.metric_title,
        opens_at=competition.opens_at,
        now=competition.closes_at if is_over else page_context.at,
        marks=_baseline_marks(ground_truth, Split.PUBLIC) if histories else (),
        is_over=is_over,
        decimals=competition.score_decimals,
    )


def distribution_chart(ground_truth: GroundTruth, split: Split, mine: Team | None) -> dict[str, SafeString]:
    """Context with the histogram of a board's scores; {} on a hidden board."""
    if boards.is_hidden(ground_truth, split):
        return {}
    scores = dict(boards.standings_in_order(ground_truth, split).values_list("team", "value"))
    own = scores.get(mine.pk) if mine else None
    return {"distribution": score_histogram(ground_truth, split, [*scores.values()], own)}


def score_histogram(ground_truth: GroundTruth, split: Split, values: Sequence[float], mine: float | None) -> SafeString:
    """Histogram of scores, with marks for the viewer's score and the baselines."""
    return charts.draw_histogram(
        values,
        sign=ground_truth.sort_sign,
        axis=ground_truth.metric_title,
        mine=mine,
        marks=_baseline_marks(ground_truth, split),
        width=WIDE,
        decimals=ground_truth.competition.score_decimals,
    )


def moves_to_final(rows: Sequence[BoardRowData], mine: Team | None) -> SafeString:
    """Slope chart from public to final ranks, for the first teams of the private board and the viewer's."""
    moves = [
        charts.Move(row.name, row.rank + row.movement, row.rank, mine is not None and row.team_id == mine.pk)
        for row in rows
        if row.rank is not None and row.movement is not None
    ]
    drawn = [move for place, move in enumerate(moves) if place < DRAWN_MOVES or move.is_mine]
    return charts.draw_slope(drawn, before=_("Public"), after=_("Final"), width=THREE)


def _baseline_marks(ground_truth: GroundTruth, split: Split) -> list[tuple[str, float]]:
    rows = boards.baseline_rows(ground_truth, split)
    return [(row.name, row.value) for row in rows if row.value is not None]
