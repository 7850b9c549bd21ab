"""Charts as SVG made on the server: pure functions of their numbers, without inline styles and scripts.

Drawn at several widths; the stylesheet shows one. `sign` is +1 if lower is better, else −1. Colours are classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from .chart_parts import (
    HALF,
    HUGE,
    LABEL_SIZE,
    LINE_HEIGHT,
    NARROW,
    THREE,
    WIDE,
    ChartTable,
    Plot,
    Scale,
    axis_words,
    bounded,
    count_ticks,
    drawn_chart,
    left_room,
    nice_ticks,
    push_apart,
    shortened_name,
    text_width,
)
from .numbers import DECIMALS, number_text

# --- lines ----------------------------------------------------------------------------------------------------------

SERIES_COLOURS = 10
RACE_HEADROOM = 2.0
"""How far a race goes on below the present scores, in multiples of their range; worse early scores are cut off."""


@dataclass(frozen=True)
class RaceLine:
    """A team's score over time: (moment, score from then on)."""

    name: str
    points: Sequence[tuple[datetime, float]]
    is_mine: bool = False

    @property
    def score(self) -> float:
        return self.points[-1][1]


def draw_race(
    lines: Sequence[RaceLine],
    *,
    sign: float,
    axis: str,
    opens_at: datetime,
    now: datetime,
    marks: Iterable[tuple[str, float]] = (),
    is_over: bool = False,
    decimals: int = DECIMALS,
) -> SafeString:
    """The best score of each team so far, best teams first; each line has its name at its end."""
    lines = sorted((line for line in lines if line.points), key=lambda line: sign * line.score)
    if not lines:
        return SafeString()
    now = max(now, opens_at + timedelta(minutes=1))
    ticks = _race_ticks(lines, sign)
    baselines = [(name, value) for name, value in marks if ticks[0] <= value <= ticks[-1]]
    scores = [number_text(line.score, decimals) for line in lines]
    names = [_("You") if line.is_mine else line.name for line in lines]
    others = [line for line in lines if not line.is_mine]

    def draw(width: int) -> Plot:
        room = {NARROW: 124, HALF: 170}.get(width, 210)
        bottom = max(230 if width == NARROW else 300, 24 + LINE_HEIGHT * (len(lines) - 1))
        plot = Plot(width, left_room(ticks), width - room - 12, 24, bottom, foot=28)
        across = Scale(opens_at.timestamp(), now.timestamp(), plot.left, plot.right)
        up = Scale(ticks[0], ticks[-1], bottom, plot.top)
        plot.grid(ticks, up)
        _draw_baselines(plot, [(f"{name} {number_text(value, decimals)}", value) for name, value in baselines], up)
        heights = push_apart([up.at(line.score) for line in lines], LINE_HEIGHT, plot.top, bottom)
        for place in sorted(range(len(lines)), key=lambda place: lines[place].is_mine):
            line, y, end = lines[place], heights[place], up.at(lines[place].score)
            style = "mine" if line.is_mine else f"s{others.index(line) % SERIES_COLOURS + 1}"
            label = "label mine" if line.is_mine else "label"
            stairs = _stair_path(line.points, across, up, plot.right, worst=bottom if sign < 0 else plot.top)
            plot.path(f"step {style}", stairs, f"{names[place]} {scores[place]}")
            plot.dot(plot.right, end, 3, style)
            plot.line(plot.right + 3, end, plot.right + 12, y, "hair")
            plot.dot(plot.right + 16, y, 3, style)
            name = shortened_name(names[place], room - 20 - text_width(scores[place], LABEL_SIZE), LABEL_SIZE)
            plot.text(plot.right + 24, y + 4, name, label, full=names[place])
            plot.text(width, y + 4, scores[place], label, "end")
        plot.times_below(opens_at, now, across, _("end") if is_over else _("now"))
        plot.better_up(axis, sign)
        return plot

    rows = (
        (name, date_format(localtime(at), "j M, H:i"), number_text(value, decimals))
        for line, name in zip(lines, names, strict=True)
        for at, value in line.points
    )
    table = ChartTable(_("Score improvements of each team"), (_("Team"), _("Received"), axis), rows, names=2)
    label = _("Best scores of %(count)s teams over time") % {"count": len(lines)}
    return drawn_chart("race", label, draw, WIDE, table)


def _race_ticks(lines: Sequence[RaceLine], sign: float) -> list[float]:
    """Ticks of an axis that is narrow enough to tell the present scores apart."""
    present = [sign * bounded(line.score) for line in lines]
    best, worst = min(present), max(sign * bounded(score) for line in lines for _at, score in line.points)
    spread = max(present) - best
    if spread > 0:
        worst = min(worst, max(present) + RACE_HEADROOM * spread)
    return nice_ticks(min(sign * best, sign * worst), max(sign * best, sign * worst))


def _draw_baselines(plot: Plot, baselines: Iterable[tuple[str, float]], up: Scale) -> None:
    """Dashed lines with their texts on them; a text that would touch an earlier one is left out."""
    named = list[float]()
    for text, value in baselines:
        y = up.at(value)
        plot.line(plot.left, y, plot.right, y, "baseline")
        if all(abs(y - other) >= 14 for other in named):
            plot.text(plot.left + 4, y - 5, shortened_name(text, plot.right - plot.left - 8), "on-line", full=text)
            named.append(y)


def _stair_path(points: Sequence[tuple[datetime, float]], across: Scale, up: Scale, right: float, worst: float) -> str:
    """A path of steps to the right edge, from the worse end where the first scores are too bad for the axis."""
    path = ""
    for at, score in points:
        x, y = across.at_time(at), up.at(score)
        if path or y != worst:
            path += f"H{x:g}V{y:g}" if path else f"M{x:g} {worst:g}V{y:g}"
    return f"{path or f'M{across.at_time(points[-1][0]):g} {worst:g}'}H{right:g}"


def draw_history(
    points: Sequence[tuple[datetime, float]], *, sign: float, axis: str, width: int = WIDE, decimals: int = DECIMALS
) -> SafeString:
    """A team's scores by time of receipt as dots, and the best so far as a line; nothing for fewer than two."""
    if len(points) < 2:
        return SafeString()
    ticks = nice_ticks(min(value for _at, value in points), max(value for _at, value in points))
    best: list[tuple[datetime, float]] = []
    for at, value in points:
        if not best or sign * value < sign * best[-1][1]:
            best.append((at, value))
    first, last = points[0][0], max(points[-1][0], points[0][0] + timedelta(minutes=1))
    rows = [(date_format(localtime(at), "j M Y, H:i"), number_text(value, decimals)) for at, value in points]

    def draw(width: int) -> Plot:
        plot = Plot(width, left_room(ticks), width - 8, 22, 130)
        across = Scale(first.timestamp(), last.timestamp(), plot.left + 6, plot.right - 6)
        up = Scale(ticks[0], ticks[-1], plot.bottom, plot.top)
        plot.grid(ticks, up)
        steps = "".join(f"H{across.at_time(at):g}V{up.at(value):g}" for at, value in best[1:])
        start = f"M{across.at_time(first):g} {up.at(best[0][1]):g}"
        plot.path("step mine", f"{start}{steps}H{plot.right - 6:g}")
        for (at, value), (received, score) in zip(points, rows, strict=True):
            plot.dot(across.at_time(at), up.at(value), 3, "dot", f"{received}: {score}")
        plot.times_below(first, last, across)
        plot.better_up(axis, sign)
        return plot

    label = _("%(number)s scores of your team over time") % {"number": len(points)}
    return drawn_chart("history", label, draw, width, ChartTable(label, (_("Received"), axis), rows))


def draw_curve(points: Sequence[Sequence[float]], label: str, *, diagonal: bool, filled: bool) -> SafeString:
    """The line through the points of a worked example, left to right; the page shows its table."""
    x_ticks, y_ticks = (
        nice_ticks(0.0, 1.0) if min(values) >= 0 and max(values) <= 1 else nice_ticks(min(values), max(values))
        for values in zip(*points, strict=True)
    )
    plot = Plot(360, left_room(y_ticks), 350, 12, 232, foot=28)
    across = Scale(x_ticks[0], x_ticks[-1], plot.left, plot.right)
    up = Scale(y_ticks[0], y_ticks[-1], plot.bottom, plot.top)
    places = [(across.at(x), up.at(y)) for x, y in points]
    line = "L".join(f"{x:g} {y:g}" for x, y in places)
    plot.grid(y_ticks, up)
    plot.numbers_below(x_ticks, across)
    if filled:
        plot.path("area", f"M{places[0][0]:g} {plot.bottom}L{line}V{plot.bottom}Z")
    if diagonal:
        plot.line(plot.left, plot.bottom, plot.right, plot.top, "baseline")
    plot.path("line", f"M{line}")
    for x, y in places:
        plot.dot(x, y, 3, "dot")
    svg = '<svg class="curve" viewBox="{}" role="img" aria-label="{}">{}</svg>'
    return format_html(svg, plot.view_box, label, plot.drawing)


FAR = 10
"""Ranks from which on a move is coloured and named by its number."""


@dataclass(frozen=True)
class Move:
    """A team's ranks on two boards."""

    name: str
    before: int
    after: int
    is_mine: bool = False

    @property
    def gained(self) -> int:
        return self.before - self.after

    @property
    def style(self) -> str:
        if self.is_mine:
            return "mine"
        return "still" if abs(self.gained) < FAR else "up" if self.gained > 0 else "down"

    @property
    def arrow(self) -> str:
        return f"{'▲' if self.gained > 0 else '▼'}{abs(self.gained)}" if self.gained else ""


def draw_slope(moves: Sequence[Move], *, before: str, after: str, width: int = HALF) -> SafeString:
    """A slope chart from the ranks on one board to those on another."""
    if not moves:
        return SafeString()
    left_order = sorted(moves, key=lambda move: move.before)
    right_order = sorted(moves, key=lambda move: move.after)

    def draw(width: int) -> Plot:
        is_narrow = width == NARROW  # only the right side has room for names
        side = round(min(240, width * 0.33))
        x1, x2 = (26, 116) if is_narrow else (side, width - side - 40)
        plot = Plot(width, x1, x2, 36, 26 + 28 * len(moves), foot=0)
        plot.text(x1, 12, before, "head", "start" if is_narrow else "end")
        plot.text(x2, 12, after, "head")
        for move in sorted(moves, key=lambda move: (move.style != "still", move.is_mine)):
            y1, y2 = (plot.top + 28 * order.index(move) for order in (left_order, right_order))
            middle, label = (x1 + x2) / 2, f"label {move.style}"
            hover = f"{move.name}: {move.before} → {move.after}"
            plot.path(f"slope {move.style}", f"M{x1} {y1}C{middle:g} {y1} {middle:g} {y2} {x2} {y2}", hover)
            plot.dot(x1, y1, 3, f"end {move.style}")
            plot.dot(x2, y2, 3, f"end {move.style}")
            plot.text(x1 - 8, y1 + 4, str(move.before), label, "end")
            plot.text(x2 + 24, y2 + 4, str(move.after), label, "end")
            if not is_narrow:
                plot.text(x1 - 32, y1 + 4, shortened_name(move.name, x1 - 34, LABEL_SIZE), label, "end", move.name)
            plot.text(x2 + 34, y2 + 4, shortened_name(move.name, width - x2 - 72, LABEL_SIZE), label, full=move.name)
            if move.arrow and move.style != "still":
                plot.text(width, y2 + 4, move.arrow, f"label arrow {'up' if move.gained > 0 else 'down'}", "end")
        return plot

    rows = ((move.name, move.before, move.after, move.arrow or "–") for move in moves)
    table = ChartTable(_("Ranks on both leaderboards"), (_("Team"), before, after, _("Move")), rows)
    return drawn_chart("slopes", _("Ranks before and after"), draw, width, table)


# --- bars -----------------------------------------------------------------------------------------------------------

BARS_BETWEEN_TICKS = {2: 16, 3: 10, 4: 8, 5: 5}
"""By the number of spaces between ticks: 25 to 32 bars in all, half as many for few values."""
FEWEST_VALUES, FEW_VALUES = 5, 20


class Bins(NamedTuple):
    """Bars of equal width over the ticks; `beyond` values are worse than the last."""

    ticks: list[float]
    counts: list[int]
    beyond: int

    @property
    def width(self) -> float:
        return (self.ticks[-1] - self.ticks[0]) / len(self.counts)

    def place(self, value: float) -> int:
        return max(0, min(len(self.counts) - 1, int((bounded(value) - self.ticks[0]) / self.width)))

    def ends(self, place: int) -> tuple[float, float]:
        return self.ticks[0] + place * self.width, self.ticks[0] + (place + 1) * self.width


def bins_of(values: Sequence[float], sign: float, also: Sequence[float] = (), near: Sequence[float] = ()) -> Bins:
    """Bins of all values but the few that are so bad that the others could not be told apart. The bins include every
    value in `also`, and those in `near` that are no further from the values than the values' own range."""
    keys = sorted(sign * bounded(value) for value in values)
    best, quarter = keys[0], keys[3 * len(keys) // 4]
    limit = quarter + 4 * (quarter - best) if quarter > best else keys[-1]
    worst = max([key for key in keys if key <= limit] + [sign * bounded(value) for value in also])
    best = min([best] + [sign * bounded(value) for value in also])
    reach = worst - best or HUGE
    shown = [sign * value for value in near if best - reach <= sign * value <= worst + reach]
    ticks = nice_ticks(*sorted((sign * min([best, *shown]), sign * max([worst, *shown]))))
    bars = BARS_BETWEEN_TICKS[len(ticks) - 1]
    bars = bars if len(keys) >= FEW_VALUES else math.ceil(bars / 2)
    bins = Bins(ticks, [0] * ((len(ticks) - 1) * bars), sum(key > worst for key in keys))
    for key in keys:
        if key <= worst:
            bins.counts[bins.place(sign * key)] += 1
    return bins


def draw_histogram(
    values: Sequence[float],
    *,
    sign: float,
    axis: str,
    mine: float | None = None,
    marks: Iterable[tuple[str, float]] = (),
    width: int = HALF,
    decimals: int = DECIMALS,
    of_students: bool = False,
) -> SafeString:
    """The distribution of teams by score, or of students by points, with the viewer's own under a flag and baselines
    (name, score) as dashed lines. Nothing below five scores, which a table shows better.
    """
    if len(values) < FEWEST_VALUES:
        return SafeString()
    marks = list(marks)
    bins = bins_of(values, sign, [] if mine is None else [mine], [value for _name, value in marks])
    ends = [bins.ends(0)[0], *(bins.ends(place)[1] for place in range(len(bins.counts)))]
    texts = [number_text(value, decimals) for value in ends]
    baselines = [(name, value) for name, value in marks if bins.ticks[0] <= value <= bins.ticks[-1]]
    counts = count_ticks(max(bins.counts))

    def draw(width: int) -> Plot:
        top = (30 if mine is not None else 0) + LINE_HEIGHT * len(baselines) + 8
        plot = Plot(width, left_room(counts), width - 12, top, top + 150, foot=42)
        across = Scale(bins.ticks[0], bins.ticks[-1], plot.left, plot.right)
        up = Scale(0, counts[-1], plot.bottom, top)
        plot.grid(counts, up)
        for place, count in enumerate(bins.counts):
            if count:
                x1, x2 = sorted(across.at(end) for end in bins.ends(place))
                hover = (
                    ngettext("%(n)s student from %(low)s to %(high)s", "%(n)s students from %(low)s to %(high)s", count)
                    if of_students
                    else ngettext("%(n)s team from %(low)s to %(high)s", "%(n)s teams from %(low)s to %(high)s", count)
                )
                hover %= {"n": count, "low": texts[place], "high": texts[place + 1]}
                style = "bar mine" if mine is not None and place == bins.place(mine) else "bar"
                plot.rect(x1, up.at(count), x2 - x1 - 1, plot.bottom - up.at(count), style, hover)
        for _name, value in baselines:
            plot.line(across.at(value), top, across.at(value), plot.bottom, "baseline")
        if mine is not None:
            text = _("You %(score)s") % {"score": number_text(mine, decimals)}
            x, room = across.at(mine), text_width(text, LABEL_SIZE) + 14
            start = _text_start(plot, x, room)
            plot.line(x, 22, x, plot.bottom, "flag-pole")
            plot.rect(start, 0, room, 23, "flag", rx=5)
            plot.text(round(start + room / 2, 1), 16, text, "flag-text", "middle")
        for level, (name, value) in enumerate(baselines, 1):
            text = shortened_name(name, plot.right - plot.left)
            x = _text_start(plot, across.at(value), text_width(text))
            plot.text(x, top + 12 - LINE_HEIGHT * level, text, "on-line", full=name)
        plot.numbers_below(bins.ticks, across)
        worse = (_("%(n)s worse →") if sign > 0 else _("← %(n)s worse")) % {"n": bins.beyond} if bins.beyond else ""
        plot.text(plot.right if sign > 0 else plot.left, plot.bottom + 38, worse, anchor="end" if sign > 0 else "start")
        plot.better_across(axis, sign, plot.right - plot.left - text_width(worse) - 12)
        return plot

    rows: list[Sequence[object]] = [
        (f"{texts[place]} – {texts[place + 1]}", count) for place, count in enumerate(bins.counts) if count
    ]
    rows += [(_("worse"), bins.beyond)] if bins.beyond else []
    rows += [(name, number_text(value, decimals)) for name, value in marks]
    caption, who = (_("Students by points"), _("Students")) if of_students else (_("Teams by score"), _("Teams"))
    label = caption if of_students else _("Teams by score: %(axis)s") % {"axis": axis_words(axis, sign)}
    return drawn_chart("histogram", label, draw, width, ChartTable(caption, (axis, who), rows))


def _text_start(plot: Plot, x: float, width: float) -> float:
    """Where a text of this width begins that is centred on `x` but stays within the frame."""
    return round(max(plot.left, min(plot.right - width, x - width / 2)), 1)


class Day(NamedTuple):
    """The numbers of scored and invalid submissions received on a day."""

    day: date
    scored: int
    invalid: int


def draw_activity(days: Sequence[Day], *, today: date | None = None) -> SafeString:
    """Submissions per day as bars, invalid ones on top; the bar of `today` is pale, because the day is not over.

    Nothing for a single day.
    """
    if len(days) < 2:
        return SafeString()
    ticks = count_ticks(max(each.scored + each.invalid for each in days))

    def draw(width: int) -> Plot:
        plot = Plot(width, left_room(ticks), width - 4, 8, 150, foot=26)
        up, step = Scale(0, ticks[-1], plot.bottom, plot.top), (plot.right - plot.left) / len(days)
        plot.grid(ticks, up)
        bar, labels = max(1.0, min(36, step * 0.7)), []
        for place, each in enumerate(days):
            middle = round(plot.left + step * (place + 0.5), 1)
            labels.append((middle, date_format(each.day, "j M")))
            x, pale = round(middle - bar / 2, 1), " pale" if each.day == today else ""
            hover = _("%(day)s: %(scored)s scored, %(invalid)s invalid") % {
                "day": date_format(each.day, "j M"), "scored": each.scored, "invalid": each.invalid,
            }  # fmt: skip
            y = up.at(each.scored)
            if each.scored:
                plot.rect(x, y, bar, plot.bottom - y, f"s1{pale}", hover)
            if each.invalid:
                height = max(1.0, y - up.at(each.scored + each.invalid) - 1)
                plot.rect(x, round(y - 1 - height, 1), bar, height, f"s2{pale}", hover)
        plot.labels_below(labels)
        return plot

    rows = ((date_format(each.day, "j M Y"), each.scored, each.invalid) for each in days)
    table = ChartTable(_("Submissions per day"), (_("Day"), _("Scored"), _("Invalid")), rows)
    return drawn_chart("activity", table.caption, draw, THREE, table)


def small_bars(values: Sequence[int], label: str) -> SafeString:
    """Counts, at least two, as bars side by side from zero up, without an axis; nothing for fewer."""
    if len(values) < 2:
        return SafeString()
    plot, step = Plot(480, 0, 480, 2, 72, foot=0), 480 / len(values)
    for place, value in enumerate(values):
        height = round(value / max(values) * 70, 1) if value else 1.0
        plot.rect(round(place * step + 1, 1), 72 - height, step - 2, height, "bar", rx=1)
    svg = '<svg class="bars" viewBox="{}" role="img" aria-label="{}">{}</svg>'
    return format_html(svg, plot.view_box, label, plot.drawing)


def share_bar(part: int, whole: int) -> SafeString:
    """A part of a whole as a bar; its caller shows the numbers beside it."""
    filled = round(100 * part / whole, 1) if whole else 0
    return SafeString(
        '<svg class="share-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="ground" width="100" height="4"/><rect class="s1" width="{filled:g}" height="4"/></svg>'
    )


# --- dots -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A point of a chart; outliers show their `name`."""

    x: float
    y: float
    name: str = ""
    is_outlier: bool = False


def draw_residuals(points: Sequence[Point], *, spread: float) -> SafeString:
    """Prediction minus answer over the answer, with a band of the usual spread; only outliers are named."""
    if not points:
        return SafeString()
    outliers = [point for point in points if point.is_outlier]
    ys = [*(point.y for point in points), -spread, spread]
    x_ticks = nice_ticks(min(point.x for point in points), max(point.x for point in points))
    y_ticks = nice_ticks(min(ys), max(ys))

    def draw(width: int) -> Plot:
        left = left_room(y_ticks)
        plot = Plot(width, left, width - 16, 26, 26 + min(280, width - left), foot=44)
        across = Scale(x_ticks[0], x_ticks[-1], left, plot.right)
        up = Scale(y_ticks[0], y_ticks[-1], plot.bottom, plot.top)
        high, low = up.at(spread), up.at(-spread)
        plot.rect(left, high, plot.right - left, low - high, "usual", _("Usual spread"), rx=0)
        plot.grid(y_ticks, up)
        cloud = (f"M{across.at(point.x):g} {up.at(point.y):g}h0" for point in points if not point.is_outlier)
        plot.path("cloud", "".join(cloud))
        heights = push_apart([up.at(point.y) for point in outliers], 14, plot.top, plot.bottom)
        for point, y in zip(outliers, heights, strict=True):
            x, text = across.at(point.x), shortened_name(point.name, 120, LABEL_SIZE)
            is_left = x + text_width(text, LABEL_SIZE) + 12 > plot.right
            plot.dot(x, up.at(point.y), 4, "outlier", f"{point.name}: {point.x:.4g}, {point.y:.4g}")
            plot.text(x - 9 if is_left else x + 9, y + 4, text, "label outlier", "end" if is_left else "start")
        plot.text(left, 10, _("Prediction minus answer"))
        plot.numbers_below(x_ticks, across)
        plot.text(left, plot.bottom + 38, _("Answer"))
        return plot

    rows = ((point.name, f"{point.x:.4g}", f"{point.y:.4g}") for point in outliers)
    table = ChartTable(_("Outliers"), (_("Row"), _("Answer"), _("Prediction minus answer")), rows)
    label = _("Prediction minus answer for each row, with outliers named")
    return drawn_chart("residuals", label, draw, WIDE, table)
