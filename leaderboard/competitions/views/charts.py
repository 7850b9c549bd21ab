"""What the charts of a board and of a team draw, as far as its readers may see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

import metrics
from leaderboard.common import charts
from leaderboard.common.chart_parts import THREE, WIDE
from leaderboard.common.library_messages import translated_message

from ..access import PageContext
from ..models import GroundTruth, Team
from ..models.competition import Split
from ..ranking import boards, team_ranks
from ..ranking.rows import BoardRowData
from ..ranking.scores import sign_of

DRAWN_MOVES = 20
"""So many of the private board are drawn, and the visitor's own team."""


def metric_title(ground_truth: GroundTruth) -> str:
    """What the axis of scores is called; the key of a metric whose file is gone."""
    try:
        return translated_message(metrics.get(ground_truth.metric_key).title)
    except metrics.UnknownMetric:
        return ground_truth.metric_key


def board_charts(view: str, page_context: PageContext, split: Split, mine: Team | None) -> dict[str, Any]:
    """The context of `competitions/board_chart.html` (`time`) or `competitions/board_distribution.html`."""
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None:
        return {}
    if view == "time":
        return {"over_time": over_time(page_context, ground_truth, mine)}
    return distribution(ground_truth, split, mine)


def over_time(page_context: PageContext, ground_truth: GroundTruth, mine: Team | None) -> SafeString:
    """What the public board showed of its first ten teams and of one's own; empty where it shows no scores."""
    competition = page_context.competition
    is_over = page_context.at >= competition.closes_at
    histories = team_ranks.score_histories(ground_truth, also=mine)
    return charts.race(
        [charts.RaceLine(one.team.shown_name, one.steps, one.team == mine) for one in histories],
        sign=sign_of(ground_truth),
        axis=metric_title(ground_truth),
        opens_at=competition.opens_at,
        now=competition.closes_at if is_over else page_context.at,
        marks=_baselines(ground_truth, Split.PUBLIC) if histories else (),
        is_over=is_over,
    )


def distribution(ground_truth: GroundTruth, split: Split, mine: Team | None) -> dict[str, SafeString]:
    """How the scores of a board are spread."""
    if boards.is_hidden(ground_truth, split):
        return {}
    scores = dict(boards.standings_in_order(ground_truth, split).values_list("team", "value"))
    own = scores.get(mine.pk) if mine else None
    return {"distribution": score_histogram(ground_truth, split, [*scores.values()], own)}


def score_histogram(ground_truth: GroundTruth, split: Split, values: Sequence[float], mine: float | None) -> SafeString:
    """How the scores of a board are spread, with one's own and the baselines marked."""
    return charts.histogram(
        values,
        sign=sign_of(ground_truth),
        axis=metric_title(ground_truth),
        mine=mine,
        marks=_baselines(ground_truth, split),
        width=WIDE,
    )


def moves_to_final(rows: Sequence[BoardRowData], mine: Team | None) -> SafeString:
    """From the public to the final ranks: of the first teams of the private board, and of one's own."""
    moves = [
        charts.Move(row.name, row.rank + row.movement, row.rank, mine is not None and row.team_id == mine.pk)
        for row in rows
        if row.rank is not None and row.movement is not None
    ]
    drawn = [move for place, move in enumerate(moves) if place < DRAWN_MOVES or move.is_mine]
    return charts.slope(drawn, before=_("Public"), after=_("Final"), width=THREE)


def _baselines(ground_truth: GroundTruth, split: Split) -> list[tuple[str, float]]:
    found = boards.baseline_rows(ground_truth, split)
    return [(row.name, row.value) for row in found if row.value is not None]
