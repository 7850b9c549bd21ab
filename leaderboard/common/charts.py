"""Charts as SVG made on the server: pure functions of their numbers, without inline styles and scripts.

A chart is drawn at several widths, of which the stylesheet shows the one that fits: text keeps its size. Better is up
or left. `sign` is +1 where a lower score is better and −1 where a higher one is. Colours are classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils.dateformat import format as date_format
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from .chart_parts import (
    FOOT,
    HALF,
    HUGE,
    LINE,
    NARROW,
    SERIES,
    WIDE,
    Drawing,
    Scale,
    axis_words,
    better_scale,
    bounded,
    chart_table,
    count_ticks,
    dot_mark,
    drawn_chart,
    fitted,
    grid_rows,
    labels_below,
    left_room,
    levels_of,
    line_mark,
    nice_ticks,
    numbers_below,
    push_apart,
    rect_mark,
    text_mark,
    text_width,
    time_ticks,
    title_mark,
)
from .day_charts import Day as Day
from .day_charts import activity as activity
from .day_charts import share_bar as share_bar
from .day_charts import small_bars as small_bars
from .numbers import short_text, short_texts
from .point_charts import Point as Point
from .point_charts import curve as curve
from .point_charts import residuals as residuals

BARS = {2: 16, 3: 10, 4: 8, 5: 5}
"""Bars between two ticks, by the number of spaces between ticks: 25 to 32 bars in all, half as many for few values."""
FEW = 20


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
    ends = sorted((sign * min([best, *shown]), sign * max([worst, *shown])))
    ticks = nice_ticks(ends[0], ends[1])
    bars = BARS[len(ticks) - 1] if len(keys) >= FEW else math.ceil(BARS[len(ticks) - 1] / 2)
    counts = [0] * ((len(ticks) - 1) * bars)
    found = Bins(ticks, counts, sum(key > worst for key in keys))
    for key in keys:
        if key <= worst:
            counts[found.place(sign * key)] += 1
    return found


def histogram(
    values: Sequence[float],
    *,
    sign: float,
    axis: str,
    mine: float | None = None,
    marks: Iterable[tuple[str, float]] = (),
    width: int = HALF,
) -> SafeString:
    """The distribution of scores, with the viewer's own under a flag and baselines (name, score) as dashed lines."""
    if not values:
        return SafeString()
    marks = list(marks)
    bins = bins_of(values, sign, [] if mine is None else [mine], [value for _name, value in marks])
    texts = short_texts([bins.ends(0)[0], *(bins.ends(place)[1] for place in range(len(bins.counts)))])
    drawn = [(name, value) for name, value in marks if bins.ticks[0] <= value <= bins.ticks[-1]]

    def draw(width: int) -> Drawing:
        counts = count_ticks(max(bins.counts))
        left, right = left_room(counts), width - 12
        across = better_scale(bins.ticks, sign, left, right)
        labels = [(across.at(value), fitted(name, right - left), name) for name, value in drawn]
        boxes = [_box(x, text_width(text), left, right) for x, text, _name in labels]
        levels = levels_of(boxes)
        flag = 30 if mine is not None else 0
        top = flag + 18 * (max(levels, default=-1) + 1) + 8
        bottom = top + (140 if width == NARROW else 150)
        up = Scale(0, counts[-1], bottom, top)
        parts = grid_rows(counts, up, left, right)
        own, names = None if mine is None else bins.place(mine), list[str]()
        for place, count in enumerate(bins.counts):
            if count:
                x1, x2 = sorted(across.at(end) for end in bins.ends(place))
                words = ngettext("%(n)s team from %(low)s to %(high)s", "%(n)s teams from %(low)s to %(high)s", count)
                words %= {"n": count, "low": texts[place], "high": texts[place + 1]}
                high = round(bottom - up.at(count), 1)
                style = "bar mine" if place == own else "bar"
                parts.append(rect_mark(x1, up.at(count), round(x2 - x1 - 1, 1), high, style, words))
        for (x, text, name), (start, _end), level in zip(labels, boxes, levels, strict=True):
            y = top - 8 - 18 * level
            parts.append(line_mark(x, y + 4, x, bottom, "baseline"))
            names.append(text_mark(start, y, text, "on-line", full=name))
        if mine is not None:
            parts += _flag(across.at(mine), own_text(mine), left, right, bottom)
        parts += names
        parts += numbers_below(bins.ticks, across, bottom + 16)
        parts.append(text_mark(left, bottom + 36, axis_words(axis, sign)))
        if bins.beyond:
            parts.append(text_mark(right, bottom + 36, _("%(n)s worse →") % {"n": bins.beyond}, anchor="end"))
        return bottom + 42, parts

    rows: list[Sequence[object]] = [
        (f"{texts[place]} – {texts[place + 1]}", count) for place, count in enumerate(bins.counts) if count
    ]
    rows += [(_("worse"), bins.beyond)] if bins.beyond else []
    rows += [(name, short_text(value)) for name, value in marks]
    table = chart_table(_("Teams by score"), (axis, _("Teams")), rows)
    return drawn_chart(
        "histogram", _("Teams by score: %(axis)s") % {"axis": axis_words(axis, sign)}, draw, width, table
    )


def own_text(value: float) -> str:
    return _("You %(score)s") % {"score": short_text(value)}


def _box(x: float, wide: float, left: float, right: float) -> tuple[float, float]:
    """The horizontal extent of a text of width `wide` centred on `x`, shifted so that it stays within its frame."""
    start = round(max(left, min(right - wide, x - wide / 2)), 1)
    return start, start + wide + 6


def _flag(x: float, text: str, left: float, right: float, bottom: float) -> list[str]:
    wide = text_width(text, 13) + 14
    start, _end = _box(x, wide, left, right)
    return [
        line_mark(x, 22, x, bottom, "flag-pole"),
        rect_mark(start, 0, wide, 23, "flag", radius=5),
        text_mark(round(start + wide / 2, 1), 16, text, "flag-text", "middle"),
    ]


@dataclass(frozen=True)
class RaceLine:
    """A team's score over time: (moment, score from then on)."""

    name: str
    points: Sequence[tuple[datetime, float]]
    is_mine: bool = False

    @property
    def score(self) -> float:
        return self.points[-1][1]


HEADROOM = 2.0
"""How far a race goes on below the present scores, in multiples of their range; worse early scores are cut off."""


def race(
    lines: Sequence[RaceLine],
    *,
    sign: float,
    axis: str,
    opens_at: datetime,
    now: datetime,
    marks: Iterable[tuple[str, float]] = (),
    is_over: bool = False,
    width: int = WIDE,
) -> SafeString:
    """The best score of each team so far, best teams first; each line has its name at its end."""
    lines = sorted((line for line in lines if line.points), key=lambda line: sign * line.score)
    if not lines:
        return SafeString()
    now = max(now, opens_at + timedelta(minutes=1))
    best, worst = _frame_of(lines, sign)
    ticks = nice_ticks(min(sign * best, sign * worst), max(sign * best, sign * worst))
    drawn = [(name, value) for name, value in marks if ticks[0] <= value <= ticks[-1]]
    texts = short_texts([line.score for line in lines])
    names = [_("You") if line.is_mine else line.name for line in lines]
    styles = iter(range(len(lines)))
    colours = ["mine" if line.is_mine else f"s{next(styles) % SERIES + 1}" for line in lines]

    def draw(width: int) -> Drawing:
        room = {NARROW: 116, HALF: 160}.get(width, 200)
        left, right, top = left_room(ticks), width - room - 12, 14
        bottom = max(230 if width == NARROW else 300, top + LINE * (len(lines) - 1))
        across = Scale(opens_at.timestamp(), now.timestamp(), left, right)
        up = better_scale(ticks, sign, top, bottom)
        parts = grid_rows(ticks, up, left, right)
        parts += _race_marks(drawn, up, left, right)
        heights = push_apart([up.at(line.score) for line in lines], LINE, top, bottom)
        for place in sorted(range(len(lines)), key=lambda place: lines[place].is_mine):
            line, y, style = lines[place], heights[place], colours[place]
            words = f"{names[place]} {texts[place]}"
            path = _stairs(line.points, across, up, right)
            parts += [f'<path class="step {style}" d="{path}">{title_mark(words)}</path>']
            level = up.at(line.score)
            parts += [dot_mark(right, level, 3, style), line_mark(right + 3, level, right + 12, y, "hair")]
            parts += [dot_mark(right + 16, y, 3, style)]
            label, score = "label mine" if line.is_mine else "label", text_width(texts[place])
            name = fitted(names[place], room - 24 - score)
            parts += [text_mark(right + 24, y + 4, name, label, full=names[place])]
            parts += [text_mark(width, y + 4, texts[place], label, "end")]
        end = _("end") if is_over else _("now")
        labels = [
            (across.at(at.timestamp()), text) for at, text in time_ticks(opens_at, now, int((right - left) // 70))
        ]
        free = right - text_width(end) / 2 - 8
        labels = [(x, text) for x, text in labels if x + text_width(text) / 2 < free]
        parts += labels_below([*labels, (right, end)], bottom + 22)
        return bottom + 28, parts

    rows = [
        (name, date_format(localtime(at), "j M, H:i"), short_text(value))
        for line, name in zip(lines, names, strict=True)
        for at, value in line.points
    ]
    table = chart_table(_("Score improvements of each team"), (_("Team"), _("Received"), axis), rows, names=2)
    words = _("Best scores of %(count)s teams over time") % {"count": len(lines)}
    return drawn_chart("race", words, draw, width, table)


def _frame_of(lines: Sequence[RaceLine], sign: float) -> tuple[float, float]:
    """The best and the worst sort key (smaller is better) of the axis: narrow enough to tell the present scores
    apart."""
    now = [sign * bounded(line.score) for line in lines]
    best, worst = min(now), max(sign * bounded(score) for line in lines for _at, score in line.points)
    spread = max(now) - best
    return best, min(worst, max(now) + HEADROOM * spread) if spread > 0 else worst


def _race_marks(marks: Iterable[tuple[str, float]], up: Scale, left: float, right: float) -> list[str]:
    """Baselines as dashed lines with their names on them; a name that would touch an earlier one is left out."""
    parts, taken = [], list[float]()
    for name, value in marks:
        y = up.at(value)
        parts.append(line_mark(left, y, right, y, "baseline"))
        if all(abs(y - other) >= 14 for other in taken):
            text = f"{name} {short_text(value)}"
            parts.append(text_mark(left + 4, y - 5, fitted(text, (right - left) * 0.6), "on-line", full=text))
            taken.append(y)
    return parts


def _stairs(points: Sequence[tuple[datetime, float]], across: Scale, up: Scale, right: float) -> str:
    """A path of steps to the right edge; it comes from below where the first scores are too bad for the axis."""
    path, bottom = "", max(up.start, up.end)
    for at, score in points:
        x, y = across.at(at.timestamp()), up.at(score)
        if path or y < bottom:
            path += f"H{x:g}V{y:g}" if path else f"M{x:g} {bottom:g}V{y:g}"
    return f"{path or f'M{across.at(points[-1][0].timestamp()):g} {bottom:g}'}H{right:g}"


def history(points: Sequence[tuple[datetime, float]], *, sign: float, axis: str, width: int = WIDE) -> SafeString:
    """A team's scores by time of receipt as dots, and the best so far as a line; nothing for fewer than two."""
    if len(points) < 2:
        return SafeString()
    ticks = nice_ticks(min(value for _at, value in points), max(value for _at, value in points))
    best: list[tuple[datetime, float]] = []
    for at, value in points:
        if not best or sign * value < sign * best[-1][1]:
            best.append((at, value))
    first, last = points[0][0], max(points[-1][0], points[0][0] + timedelta(minutes=1))
    rows = [(date_format(localtime(at), "j M Y, H:i"), repr(value)) for at, value in points]

    def draw(width: int) -> Drawing:
        left, right, top, bottom = left_room(ticks), width - 8, 22, 130
        across = Scale(first.timestamp(), last.timestamp(), left + 6, right - 6)
        up = better_scale(ticks, sign, top, bottom)
        parts = grid_rows(ticks, up, left, right)
        steps = "".join(f"H{across.at(at.timestamp()):g}V{up.at(value):g}" for at, value in best[1:])
        begin = f"M{across.at(first.timestamp()):g} {up.at(best[0][1]):g}"
        parts.append(f'<path class="step mine" d="{begin}{steps}H{right - 6:g}"/>')
        parts += [
            dot_mark(across.at(at.timestamp()), up.at(value), 3, "dot", f"{words}: {short_text(value)}")
            for (at, value), (words, _digits) in zip(points, rows, strict=True)
        ]
        ticks_below = time_ticks(first, last, int((right - left) // 70))
        parts += labels_below([(across.at(at.timestamp()), text) for at, text in ticks_below], bottom + 18)
        parts.append(text_mark(left, 10, axis_words(axis, sign)))
        return bottom + FOOT, parts

    words = _("%(number)s scores of your team over time") % {"number": len(points)}
    return drawn_chart("history", words, draw, width, chart_table(words, (_("Received"), axis), rows))


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
        return "up" if self.gained > 0 else "down" if self.gained else "still"

    @property
    def arrow(self) -> str:
        return f"{'▲' if self.gained > 0 else '▼'}{abs(self.gained)}" if self.gained else ""


ROW = 28


def slope(moves: Sequence[Move], *, before: str, after: str, width: int = HALF) -> SafeString:
    """A slope chart from the ranks on one board to those on another; missing ranks leave a gap."""
    if not moves:
        return SafeString()
    left_rows = _rows_by_rank([move.before for move in moves])
    right_rows = _rows_by_rank([move.after for move in moves])

    def draw(width: int) -> Drawing:
        side = round(min(240, width * 0.33))
        # On a phone only the right side has room for names.
        x1, x2 = (26, 116) if width == NARROW else (side, width - side - 40)
        parts = [text_mark(x1, 12, before, "head", "end" if width != NARROW else ""), text_mark(x2, 12, after, "head")]
        for place in sorted(range(len(moves)), key=lambda place: (moves[place].style != "still", moves[place].is_mine)):
            move = moves[place]
            y1, y2 = (ROW * rows[place] + 36 for rows in (left_rows, right_rows))
            middle = (x1 + x2) / 2
            path, words = f"M{x1} {y1}C{middle:g} {y1} {middle:g} {y2} {x2} {y2}", f"{move.before} → {move.after}"
            parts.append(f'<path class="slope {move.style}" d="{path}">{title_mark(f"{move.name}: {words}")}</path>')
            parts += [dot_mark(x, y, 3, f"end {move.style}") for x, y in ((x1, y1), (x2, y2))]
            label = f"label {move.style}"
            parts.append(text_mark(x1 - 8, y1 + 4, str(move.before), label, "end"))
            parts.append(text_mark(x2 + 24, y2 + 4, str(move.after), label, "end"))
            if width != NARROW:
                parts.append(text_mark(x1 - 32, y1 + 4, fitted(move.name, x1 - 34, 12), label, "end", move.name))
            parts.append(text_mark(x2 + 34, y2 + 4, fitted(move.name, width - x2 - 68, 12), label, full=move.name))
            if move.style != "still":
                direction = "up" if move.gained > 0 else "down"
                parts.append(text_mark(width, y2 + 4, move.arrow, f"label arrow {direction}", "end"))
        return ROW * max(*left_rows, *right_rows) + 54, parts

    rows = ((move.name, move.before, move.after, move.arrow or "–") for move in moves)
    table = chart_table(_("Ranks on both leaderboards"), (_("Team"), before, after, _("Move")), rows)
    return drawn_chart("slopes", _("Ranks before and after"), draw, width, table)


def _rows_by_rank(ranks: Sequence[int]) -> list[int]:
    """The row of each rank: in order, with one empty row where ranks are missing."""
    order = sorted(range(len(ranks)), key=lambda place: (ranks[place], place))
    rows, row = [0] * len(ranks), 0
    for number, place in enumerate(order):
        if number and ranks[place] > ranks[order[number - 1]] + 1 and ranks[place] > number + 1 + row - number:
            row += 1
        rows[place] = row
        row += 1
    return rows
