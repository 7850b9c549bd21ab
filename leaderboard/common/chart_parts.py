"""Building blocks of charts: scales, ticks, labels that do not overlap, marks, and the table under each chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, time, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from django.utils.dateformat import format as date_format
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from .numbers import tick_texts

NARROW, HALF, THREE, WIDE = 326, 530, 760, 1110
"""Widths of drawings in CSS pixels: a phone, half a page, a page with a side column, a page."""
FONT = 11.5
LINE = 20
"""Least distance between labels below each other, in CSS pixels."""
HUGE, TINY = 1e300, 1e-300
SERIES = 10
MOST_TICKS = 6
FOOT = 22
"""Height of the labels of a horizontal axis."""


# --- scales ---------------------------------------------------------------------------------------------------------


def nice_ticks(low: float, high: float) -> list[float]:
    """Three to `MOST_TICKS` multiples of 1, 2 or 5 × 10ⁿ from at most `low` to at least `high`."""
    low, high = spread_values(low, high)
    exponent = math.floor(math.log10((high - low) / MOST_TICKS))
    ends = Decimal(repr(low)), Decimal(repr(high))
    for step in (Decimal(factor).scaleb(exponent) for factor in (1, 2, 5, 10, 20, 50)):
        first = int((ends[0] / step).to_integral_value(ROUND_FLOOR))
        last = int((ends[1] / step).to_integral_value(ROUND_CEILING))
        if last - first < MOST_TICKS:
            break
    return [float(step * place) for place in range(first, last + 1)]


def spread_values(low: float, high: float) -> tuple[float, float]:
    """The two ends, moved apart where they are too close to be told apart; their distance is always finite."""
    low, high = bounded(low), bounded(high)
    size = max(abs(low), abs(high))
    if high - low > max(1e-9 * size, TINY):
        return low, high
    middle, around = low / 2 + high / 2, 0.05 * size if size > TINY else 1.0
    return middle - around, middle + around


def bounded(value: float) -> float:
    return max(-HUGE, min(HUGE, value))


def count_ticks(most: int) -> list[float]:
    return [tick for tick in nice_ticks(0, max(1, most)) if tick == int(tick)]


class Scale(NamedTuple):
    """A linear map from numbers to coordinates in a drawing. Numbers outside `low` to `high` are drawn at the edge."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (bounded(value) - self.low) / (self.high - self.low)
        return round(self.start + max(0.0, min(1.0, share)) * (self.end - self.start), 1)


def better_scale(ticks: Sequence[float], sign: float, best: float, worst: float) -> Scale:
    """A scale over the ticks whose better end is at the coordinate `best`."""
    ends = (best, worst) if sign > 0 else (worst, best)
    return Scale(ticks[0], ticks[-1], *ends)


def push_apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The same coordinates in the same order, at least `gap` apart and, where there is room, between `low` and
    `high`."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved, least = list(places), low
    for index in order:
        moved[index] = least = max(least, places[index])
        least += gap
    most = high
    for index in reversed(order):
        moved[index] = min(moved[index], most)
        most = moved[index] - gap
    return moved


def levels_of(boxes: Sequence[tuple[float, float]]) -> list[int]:
    """For each interval on a line the lowest level on which it overlaps no earlier one."""
    ends: list[float] = []
    levels = [0] * len(boxes)
    for index in sorted(range(len(boxes)), key=lambda index: boxes[index]):
        start, end = boxes[index]
        level = next((level for level, until in enumerate(ends) if until <= start), len(ends))
        ends[level : level + 1] = [end]
        levels[index] = level
    return levels


def time_ticks(start: datetime, end: datetime, most: int) -> list[tuple[datetime, str]]:
    """Moments and their labels: full hours, midnights, or every n-th of them in the reader's time zone; about
    `most`."""
    start, end = localtime(start), localtime(end)
    hours = (end - start).total_seconds() / 3600
    steps = (1, 2, 3, 6, 12, 24, 48, 120, 168, 336, *(672 * 2**place for place in range(12)))
    step = next((step for step in steps if hours / step <= most and (step >= 24 or hours <= 48)), steps[-1])
    midnight, text = datetime.combine(start.date(), time(), start.tzinfo), "H:i" if step < 24 else "j M"
    if step < 24:
        found = [midnight + timedelta(hours=step * place) for place in range(math.ceil((hours + 24) / step) + 1)]
    else:
        found = [midnight + timedelta(days=step // 24 * place) for place in range(math.ceil(hours / step) + 2)]
    return [(at, date_format(at, text)) for at in found if start <= at <= end] or [(start, date_format(start, "H:i"))]


# --- marks ----------------------------------------------------------------------------------------------------------


def text_width(text: str, size: float = FONT) -> float:
    """An estimate of a text's width in CSS pixels, rather too wide than too narrow."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if combining(letter):
        return 0.0
    if east_asian_width(letter) in "WF" or letter in "MW@%—…mw":
        return 1.0
    return 0.7 if letter.isupper() or ord(letter) > 0x24F else 0.57


def fitted(text: str, room: float, size: float = FONT) -> str:
    """A name, cut with “…” where it is wider than `room` pixels."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text, size) + size > room:
        text = text[:-1]
    return text.rstrip() + "…"


def text_mark(x: float, y: float, text: str, style: str = "", anchor: str = "", full: str = "") -> str:
    """A text element; `full` is the text before it was cut, shown on hover."""
    more = f' class="{style}"' * bool(style) + f' text-anchor="{anchor}"' * bool(anchor)
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(text)}{title_mark(full) if full and full != text else ""}</text>'


def title_mark(words: str) -> str:
    return f"<title>{escape(words)}</title>"


def line_mark(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<path class="{style}" d="M{x1:g} {y1:g}L{x2:g} {y2:g}"/>'


def rect_mark(x: float, y: float, width: float, height: float, style: str, words: str = "", radius: float = 2) -> str:
    end = f">{title_mark(words)}</rect>" if words else "/>"
    return f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"{end}'


def dot_mark(x: float, y: float, radius: float, style: str, words: str = "") -> str:
    end = f">{title_mark(words)}</circle>" if words else "/>"
    return f'<circle class="{style}" cx="{x:g}" cy="{y:g}" r="{radius:g}"{end}'


def grid_rows(ticks: Sequence[float], scale: Scale, left: float, right: float) -> list[str]:
    """Horizontal lines with their numbers."""
    return [
        part
        for tick, text in zip(ticks, tick_texts(ticks), strict=True)
        for part in (
            line_mark(left, scale.at(tick), right, scale.at(tick), "gridline"),
            text_mark(left - 8, scale.at(tick) + 4, text, anchor="end"),
        )
    ]


def numbers_below(ticks: Sequence[float], scale: Scale, y: float) -> list[str]:
    """The numbers below a horizontal axis; a number that would touch the one before it is left out."""
    texts = tick_texts(ticks)
    return labels_below([(scale.at(tick), text) for tick, text in zip(ticks, texts, strict=True)], y)


def labels_below(labels: Iterable[tuple[float, str]], y: float) -> list[str]:
    drawn, until = [], -math.inf
    for x, text in sorted(labels):
        half = text_width(text) / 2
        if x - half >= until:
            drawn.append(text_mark(x, y, text, anchor="middle"))
            until = x + half + 6
    return drawn


def axis_words(axis: str, sign: float) -> str:
    """The unit of an axis and its better direction."""
    if sign > 0:
        return _("%(axis)s, lower is better") % {"axis": axis}
    return _("%(axis)s, higher is better") % {"axis": axis}


def left_room(ticks: Sequence[float]) -> float:
    return 14 + max(text_width(text) for text in tick_texts(ticks))


Drawing = tuple[float, list[str]]
"""Height and marks."""


def drawn_chart(kind: str, words: str, draw: Callable[[int], Drawing], width: int, table: SafeString) -> SafeString:
    """The drawing at each width up to `width`, then the table."""
    drawings = []
    for one in sorted({NARROW, min(HALF, width), width}):
        height, marks = draw(one)
        size = f'class="w{one}" viewBox="0 0 {one} {height:g}"'
        drawings.append(f'<svg {size} role="img" aria-label="{escape(words)}">{"".join(marks)}</svg>')
    # All text in it went through `escape`.
    return format_html('<div class="chart {}">{}</div>{}', kind, SafeString("".join(drawings)), table)


def chart_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]], names: int = 1) -> SafeString:
    """The numbers of a chart; the first `names` columns hold texts and the others numbers."""
    head = format_html_join(
        "",
        '<th scope="col"{}>{}</th>',
        ((SafeString(' class="number"' if place >= names else ""), text) for place, text in enumerate(heads)),
    )
    body = format_html_join(
        "",
        "<tr>{}</tr>",
        (
            (
                format_html_join(
                    "",
                    "<{}>{}</{}>",
                    (
                        (SafeString('th scope="row"'), cell, "th")
                        if place == 0
                        else (SafeString('td class="number"' if place >= names else "td"), cell, "td")
                        for place, cell in enumerate(row)
                    ),
                ),
            )
            for row in rows
        ),
    )
    return format_html(
        '<details class="disclosure chart-table"><summary>{}</summary><div class="table-wrap plain" tabindex="0"'
        ' role="group" aria-label="{}"><table class="table compact keep"><caption class="visually-hidden">{}</caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div></details>",
        _("Show as table"),
        caption,
        caption,
        head,
        body,
    )
