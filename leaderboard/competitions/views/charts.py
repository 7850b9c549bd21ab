"""Charts as SVG, each with its numbers in a table next to it: teams of a board, one team, a curve of an example.

Drawings of scores are stretched to their box, so all text is HTML around them; up is better, whatever the metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from leaderboard.common import numbers

from ..models import Competition, Team
from ..ranking import ladder, team_ranks

WIDTH, MARGIN = 1000, 6
BOARD_HEIGHT, TEAM_HEIGHT = 240, 100
HEADROOM = 1.5
FAR = 50.0
"""What lies outside of the frame of a board's chart is drawn at most so many frames away."""
MOST_POINTS = 500
CURVE_WIDTH, CURVE_HEIGHT = 360, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 350, 12, 232


def share_between(value: float, start: float, end: float) -> float:
    """How far a value is on the way from `start` to `end`."""
    # Halving first keeps the span of two huge numbers of opposite sign finite.
    span = end / 2 - start / 2
    return (value / 2 - start / 2) / span if span else 0.5


# --- the teams of a board ---------------------------------------------------------------------------------------


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
    drawing: SafeString
    lines: list[ChartLine]
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
    lines = []
    histories = team_ranks.score_histories(ground_truth, also=mine, leaders=leaders)
    for place, history in enumerate(histories, start=1):
        is_mine = history.team == mine
        lines.append(ChartLine(history.team, f"line-{place}{' line-mine' if is_mine else ''}", is_mine, history.steps))
    moments = [at for line in lines for at, _ in line.steps]
    if len(moments) < 2 or min(moments) == max(moments):
        return None
    first, last = min(moments), max(moments)
    sign = ladder.sign_of(ground_truth)
    best, worst = _frame_of(lines, sign)

    def stair(line: ChartLine) -> str:
        """From the first receipt to the right edge."""
        drawn = ""
        for at, score in line.steps:
            x = MARGIN + (at - first) / (last - first) * (WIDTH - 2 * MARGIN)
            share = min(share_between(sign * score, best, worst), FAR)
            y = MARGIN + share * (BOARD_HEIGHT - 2 * MARGIN)
            drawn += f"H{x:.1f}V{y:.1f}" if drawn else f"M{x:.1f},{y:.1f}"
        return f"{drawn}H{WIDTH - MARGIN}"

    # The own line is drawn last, over the others.
    shapes = [(line.style, stair(line)) for line in sorted(lines, key=lambda line: line.is_mine)]
    words = _("Public scores of %(count)s teams over time; the table below has them all.") % {"count": len(lines)}
    drawing = format_html(
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>',
        WIDTH, BOARD_HEIGHT, words, format_html_join("", '<path class="{}" d="{}"/>', shapes),
    )  # fmt: skip
    text = numbers.rounded_text if ladder.ladder_of(ground_truth) else numbers.number_text
    return BoardChart(drawing, lines, text(sign * best), text(sign * worst), first, last)


def _frame_of(lines: Sequence[ChartLine], sign: float) -> tuple[float, float]:
    """The best and the worst sort key (the smaller, the better) of a frame in which the present scores can be
    distinguished; early ones that were far worse lie below it."""
    now = [sign * line.score for line in lines]
    best, worst = min(now), max(sign * score for line in lines for _, score in line.steps)
    spread = max(now) / 2 - best / 2
    if spread > 0:
        worst = min(worst, max(now) + 2 * HEADROOM * spread)
    return best, worst


# --- one team ---------------------------------------------------------------------------------------------------


def score_chart(points: Sequence[tuple[datetime, float]], *, sign: float, is_rounded: bool = False) -> SafeString:
    """Dots by time of receipt, the newest 500; nothing for fewer than two. `is_rounded`: clear improvements alone, as
    a steady board rounded them. A `sign` of +1 says that a lower score is better."""
    points, text = points[-MOST_POINTS:], numbers.rounded_text if is_rounded else numbers.number_text
    if len(points) < 2:
        return SafeString()
    values = [value for _, value in points]
    low, high = min(values), max(values)
    best, worst = (low, high) if sign > 0 else (high, low)
    begin, end = points[0][0], points[-1][0]
    span = (end - begin).total_seconds()
    places = []
    for index, (when, value) in enumerate(points):
        across = (when - begin).total_seconds() / span if span else index / (len(points) - 1)
        x = MARGIN + across * (WIDTH - 2 * MARGIN)
        y = TEAM_HEIGHT - MARGIN - share_between(value, worst, best) * (TEAM_HEIGHT - 2 * MARGIN)
        places.append(f"{x:.1f},{y:.1f}")
    title = (
        _("Clear improvements of your team as the board shows them, up is better")
        if is_rounded
        else _("Public scores of your team, up is better")
    )
    rows = format_html_join(
        "",
        "<tr><td>{}</td><td>{}</td></tr>",
        (
            (f"{localtime(when):%Y-%m-%d %H:%M %Z}", numbers.rounded_text(value) if is_rounded else repr(value))
            for when, value in points
        ),
    )
    words = _("%(number)s scores between %(low)s and %(high)s; a table has them all.")
    first, last = localtime(begin), localtime(end)
    # Days, or times of the day where the two ends are on one.
    clock = "H:i" if first.date() == last.date() else "j M"
    return format_html(
        '<figure class="card score-chart"><figcaption>{title}</figcaption>'
        '<div class="plot"><span class="high">{high}</span><span class="low">{low}</span>'
        '<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" aria-label="{words}">'
        '<polyline points="{line}"/><path d="{dots}"/></svg>'
        '<span class="first">{first}</span><span class="last">{last}</span></div>'
        '<div class="visually-hidden"><table><caption>{title}</caption>'
        '<thead><tr><th scope="col">{received}</th><th scope="col">{score}</th></tr></thead><tbody>{rows}</tbody>'
        "</table></div></figure>",
        title=title,
        high=text(best),
        low=text(worst) if low < high else "",
        width=WIDTH,
        height=TEAM_HEIGHT,
        words=words % {"number": len(points), "low": text(low), "high": text(high)},
        line=" ".join(places),
        # Strokes without length do not stretch.
        dots=" ".join(f"M{place}h0" for place in places),
        first=date_format(first, clock),
        last=date_format(last, clock),
        received=_("Received"),
        score=_("Score"),
        rows=rows,
    )


# --- a curve of a worked example --------------------------------------------------------------------------------


def curve_svg(points: Sequence[Sequence[float]], words: str, *, diagonal: bool, filled: bool) -> SafeString:
    """The line through the points, left to right, in a frame with three numbers on each axis."""
    across, up = ([point[axis] for point in points] for axis in (0, 1))
    (left, right), (low, high) = _axis_ends(across), _axis_ends(up)
    places = [
        (
            f"{LEFT + share_between(x, left, right) * (RIGHT - LEFT):.1f}",
            f"{BOTTOM - share_between(y, low, high) * (BOTTOM - TOP):.1f}",
        )
        for x, y in zip(across, up, strict=True)
    ]
    line = " ".join(f"{x},{y}" for x, y in places)
    area = f"{places[0][0]},{BOTTOM} {line} {places[-1][0]},{BOTTOM}"
    return format_html(
        '<svg class="curve" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}{}<polyline points="{}"/>{}</svg>',
        CURVE_WIDTH,
        CURVE_HEIGHT,
        words,
        format_html_join(
            "",
            '<path class="rule" d="M{},{}V{}"/><text x="{}" y="{}" text-anchor="middle">{}</text>',
            ((x, TOP, BOTTOM, x, BOTTOM + 20, text) for x, text in _axis_labels(LEFT, RIGHT, left, right)),
        ),
        format_html_join(
            "",
            '<path class="rule" d="M{},{}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
            ((LEFT, y, RIGHT, LEFT - 8, y + 4, text) for y, text in _axis_labels(BOTTOM, TOP, low, high)),
        ),
        format_html('<polygon points="{}"/>', area) if filled else "",
        format_html('<path class="guess" d="M{},{}L{},{}"/>', LEFT, BOTTOM, RIGHT, TOP) if diagonal else "",
        line,
        format_html_join("", '<circle r="3" cx="{}" cy="{}"/>', places),
    )


def _axis_ends(values: Sequence[float]) -> tuple[float, float]:
    """0 to 1 where all values are shares, otherwise from the least to the greatest."""
    low, high = min(values), max(values)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def _axis_labels(start: float, end: float, low: float, high: float) -> list[tuple[float, str]]:
    """Place and number of both ends and the middle of an axis."""
    shares = (0.0, 0.5, 1.0)
    return [(start + share * (end - start), short_number(low * (1 - share) + high * share)) for share in shares]


def short_number(value: float) -> str:
    """A number of an axis or of a figure."""
    return f"{value:.4g}"
