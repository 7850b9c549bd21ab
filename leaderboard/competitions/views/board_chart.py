"""Scores over time of the best teams and one's own, as SVG with a table next to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from leaderboard.common import numbers

from ..models import Competition, Team
from ..ranking import ladder
from ..ranking import team_ranks as courses_module

WIDTH, HEIGHT, MARGIN = 1000, 240, 6
HEADROOM = 1.5
FAR = 50.0
"""What lies outside of the frame is drawn at most so many frames away."""


@dataclass(frozen=True)
class ChartLine:
    """One team: `style` names the stroke, in the drawing as in the legend."""

    team: Team
    style: str
    is_mine: bool
    steps: tuple[tuple[datetime, float], ...]

    @property
    def score(self) -> float:
        return self.steps[-1][1]


@dataclass(frozen=True)
class BoardChart:
    """`drawing` is stretched to its box; all text is HTML around it. Up is better, whatever the metric."""

    drawing: SafeString
    lines: tuple[ChartLine, ...]
    top: str
    bottom: str
    first: datetime
    last: datetime


def board_chart(competition: Competition, mine: Team | None, leaders: Sequence[Team] = ()) -> BoardChart | None:
    """None where there is nothing to draw: on a hidden board, and before a second score. `leaders` are the best teams
    of the public board, where they are at hand."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return None
    lines = tuple(_lines(courses_module.score_histories(ground_truth, also=mine, leaders=leaders), mine))
    moments = [at for line in lines for at, _ in line.steps]
    if len(moments) < 2 or min(moments) == max(moments):
        return None
    field = _ChartArea.around(lines, ladder.sign_of(ground_truth), min(moments), max(moments))
    # The own line is drawn last, over the others.
    shapes = [(line.style, field.path(line.steps)) for line in sorted(lines, key=lambda line: line.is_mine)]
    words = _("Public scores of %(count)s teams over time; the table below has them all.") % {"count": len(lines)}
    drawing = format_html(
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>',
        WIDTH, HEIGHT, words, format_html_join("", '<path class="{}" d="{}"/>', shapes),
    )  # fmt: skip
    text = numbers.rounded_text if ladder.ladder_of(ground_truth) else numbers.number_text
    top, bottom = (text(field.sign * key) for key in (field.best, field.worst))
    return BoardChart(drawing, lines, top, bottom, field.first, field.last)


def _lines(courses: Sequence[courses_module.ScoreHistory], mine: Team | None) -> Iterator[ChartLine]:
    for place, course in enumerate(courses, start=1):
        is_mine = course.team == mine
        yield ChartLine(course.team, f"line-{place}{' line-mine' if is_mine else ''}", is_mine, course.steps)


@dataclass(frozen=True)
class _ChartArea:
    """From moments and scores to places. `best` and `worst` are sort keys: the smaller, the better."""

    sign: float
    first: datetime
    last: datetime
    best: float
    worst: float

    @classmethod
    def around(cls, lines: Sequence[ChartLine], sign: float, first: datetime, last: datetime) -> _ChartArea:
        """A frame in which the present scores can be distinguished; early ones that were far worse lie below it."""
        now = [sign * line.score for line in lines]
        best, worst = min(now), max(sign * score for line in lines for _, score in line.steps)
        spread = max(now) / 2 - best / 2
        if spread > 0:
            worst = min(worst, max(now) + 2 * HEADROOM * spread)
        return cls(sign, first, last, best, worst)

    def path(self, steps: Sequence[tuple[datetime, float]]) -> str:
        """A stair from the first receipt to the right edge."""
        (at, score), *rest = steps
        drawn = [f"M{self._across(at)},{self._down(score)}"]
        drawn += [f"H{self._across(at)}V{self._down(score)}" for at, score in rest]
        return "".join([*drawn, f"H{WIDTH - MARGIN}"])

    def _across(self, at: datetime) -> str:
        return f"{MARGIN + (at - self.first) / (self.last - self.first) * (WIDTH - 2 * MARGIN):.1f}"

    def _down(self, score: float) -> str:
        # Halving first keeps the span of two huge scores of opposite sign finite.
        span = self.worst / 2 - self.best / 2
        share = (self.sign * score / 2 - self.best / 2) / span if span else 0.5
        return f"{MARGIN + min(share, FAR) * (HEIGHT - 2 * MARGIN):.1f}"
