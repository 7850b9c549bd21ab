"""Building blocks of charts: scales, ticks, labels that do not overlap, marks, and the table under each chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from django.template.loader import render_to_string
from django.utils.dateformat import format as date_format
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

NARROW, HALF, THREE, WIDE = 326, 550, 820, 1158
"""Widths of drawings in CSS pixels: a phone, half a page, a page with a side column, a page."""
FONT_SIZE, LABEL_SIZE = 12, 13
LINE_HEIGHT = 20
"""Least distance between labels below each other, in CSS pixels."""
HUGE, TINY = 1e300, 1e-300
MAX_TICKS = 6


# --- scales ---------------------------------------------------------------------------------------------------------


def nice_ticks(low: float, high: float) -> list[float]:
    """Three to `MAX_TICKS` multiples of 1, 2 or 5 × 10ⁿ from at most `low` to at least `high`."""
    low, high = spread_values(low, high)
    exponent = math.floor(math.log10((high - low) / MAX_TICKS))
    ends = Decimal(repr(low)), Decimal(repr(high))
    for step in (Decimal(factor).scaleb(exponent) for factor in (1, 2, 5, 10, 20, 50)):
        first = int((ends[0] / step).to_integral_value(ROUND_FLOOR))
        last = int((ends[1] / step).to_integral_value(ROUND_CEILING))
        if last - first < MAX_TICKS:
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


def count_ticks(highest: int) -> list[float]:
    return [tick for tick in nice_ticks(0, max(2, highest)) if tick == int(tick)]


class Scale(NamedTuple):
    """A linear map from numbers to coordinates in a drawing. Numbers outside `low` to `high` are drawn at the edge."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (bounded(value) - self.low) / (self.high - self.low)
        return round(self.start + max(0.0, min(1.0, share)) * (self.end - self.start), 1)

    def at_time(self, moment: datetime) -> float:
        return self.at(moment.timestamp())


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


def time_ticks(start: datetime, end: datetime, count: int) -> list[tuple[datetime, str]]:
    """Moments and their labels: full hours, midnights, or every n-th of them in the reader's time zone; about
    `count`."""
    start, end = localtime(start), localtime(end)
    hours = (end - start).total_seconds() / 3600
    steps = (1, 2, 3, 6, 12, 24, 48, 120, 168, 336, *(672 * 2**place for place in range(12)))
    step = next((step for step in steps if hours / step <= count and (step >= 24 or hours <= 48)), steps[-1])
    midnight, text = datetime.combine(start.date(), time(), start.tzinfo), "H:i" if step < 24 else "j M"
    if step < 24:
        ticks = [midnight + timedelta(hours=step * place) for place in range(math.ceil((hours + 24) / step) + 1)]
    else:
        ticks = [midnight + timedelta(days=step // 24 * place) for place in range(math.ceil(hours / step) + 2)]
    return [(at, date_format(at, text)) for at in ticks if start <= at <= end] or [(start, date_format(start, "H:i"))]


# --- text -----------------------------------------------------------------------------------------------------------


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """An estimate of a text's width in CSS pixels, rather too wide than too narrow."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if combining(letter):
        return 0.0
    if east_asian_width(letter) in "WF" or letter in "MW@%—…mw":
        return 1.0
    return 0.7 if letter.isupper() or ord(letter) > 0x24F else 0.57


def shortened_name(text: str, room: float, size: float = FONT_SIZE) -> str:
    """A name, cut with “…” where it is wider than `room` pixels."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text, size) + size > room:
        text = text[:-1]
    return text.rstrip() + "…"


def axis_words(axis: str, sign: float, room: float = math.inf) -> str:
    """The unit of an axis and its better direction, the direction alone where both do not fit."""
    if sign > 0:
        words, short = _("%(axis)s, lower is better") % {"axis": axis}, _("lower is better")
    else:
        words, short = _("%(axis)s, higher is better") % {"axis": axis}, _("higher is better")
    return words if text_width(words) <= room else short


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Labels of an axis whose ticks are multiples of a step, with as many digits as these need, grouped like scores."""
    step, size = ticks[1] - ticks[0], max(abs(tick) for tick in ticks)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if decimals > 6 or size >= 1e12:
        texts = [f"{tick:.{max(1, math.ceil(math.log10(size / step)))}e}" if tick else "0" for tick in ticks]
    else:
        texts = [f"{tick + 0.0:{',' if abs(tick) >= 1e5 else ''}.{decimals}f}" for tick in ticks]
    return [text.replace("-", "−") for text in texts]


def left_room(ticks: Sequence[float]) -> float:
    return 14 + max(text_width(text) for text in tick_texts(ticks))


# --- marks ----------------------------------------------------------------------------------------------------------


@dataclass
class Plot:
    """A chart at one width: its marks, and the frame of its axes in CSS pixels."""

    width: float
    left: float
    right: float
    top: float
    bottom: float
    foot: float = 22
    """Height of what is below the frame."""
    marks: list[str] = field(default_factory=list)

    @property
    def view_width(self) -> str:
        return f"{self.width:g}"

    @property
    def view_box(self) -> str:
        return f"0 0 {self.width:g} {self.bottom + self.foot:g}"

    @property
    def drawing(self) -> SafeString:
        return SafeString("".join(self.marks))  # all text in it went through `escape`

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start", full: str = "") -> None:
        """Write a text; `full` is the text before it was cut, shown on hover."""
        hover = f"<title>{escape(full)}</title>" if full and full != text else ""
        style = f' class="{style}"' if style else ""
        self.marks.append(f'<text x="{x:g}" y="{y:g}"{style} text-anchor="{anchor}">{escape(text)}{hover}</text>')

    def path(self, style: str, line: str, hover: str = "") -> None:
        self._shape("path", f'class="{style}" d="{line}"', hover)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self.path(style, f"M{x1:g} {y1:g}L{x2:g} {y2:g}")

    def rect(self, x: float, y: float, width: float, height: float, style: str, hover: str = "", rx: float = 2) -> None:
        size = f'x="{x:g}" y="{y:g}" width="{round(width, 1):g}" height="{round(height, 1):g}" rx="{rx:g}"'
        self._shape("rect", f'class="{style}" {size}', hover)

    def dot(self, x: float, y: float, radius: float, style: str, hover: str = "") -> None:
        self._shape("circle", f'class="{style}" cx="{x:g}" cy="{y:g}" r="{radius:g}"', hover)

    def _shape(self, tag: str, attributes: str, hover: str) -> None:
        hover = f"<title>{escape(hover)}</title>" if hover else ""
        self.marks.append(f"<{tag} {attributes}>{hover}</{tag}>")

    def better_up(self, axis: str, sign: float) -> None:
        """The words of a vertical axis above it, where no line crosses them, with an arrow to its better end."""
        words = axis_words(axis, sign, self.width - self.left - 20)
        self.text(self.left, self.top - 8, f"{'↓' if sign > 0 else '↑'} {words}")

    def better_across(self, axis: str, sign: float, room: float) -> None:
        """The words of a horizontal axis, with an arrow, at its better end."""
        words = axis_words(axis, sign, room - 20)
        if sign > 0:
            self.text(self.left, self.bottom + 38, f"← {words}")
        else:
            self.text(self.right, self.bottom + 38, f"{words} →", anchor="end")

    def grid(self, ticks: Sequence[float], up: Scale) -> None:
        """Horizontal lines with their numbers."""
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            self.line(self.left, up.at(tick), self.right, up.at(tick), "gridline")
            self.text(self.left - 8, up.at(tick) + 4, text, anchor="end")

    def numbers_below(self, ticks: Sequence[float], across: Scale) -> None:
        self.labels_below((across.at(tick), text) for tick, text in zip(ticks, tick_texts(ticks), strict=True))

    def times_below(self, start: datetime, end: datetime, across: Scale, last: str = "") -> None:
        """Hours or days below the axis, and `last` at its end."""
        ticks = time_ticks(start, end, int((self.right - self.left) // 70))
        until = self.right - text_width(last) / 2 - 8 if last else math.inf
        labels = [(across.at_time(at), text) for at, text in ticks]
        labels = [(x, text) for x, text in labels if x + text_width(text) / 2 < until]
        self.labels_below([*labels, (self.right, last)] if last else labels)

    def labels_below(self, labels: Iterable[tuple[float, str]]) -> None:
        """Labels below the axis; one that would touch the one before it is left out."""
        until = -math.inf
        for x, text in sorted(labels):
            half = text_width(text) / 2
            if x - half >= until:
                self.text(x, self.bottom + 18, text, anchor="middle")
                until = x + half + 6


@dataclass(frozen=True)
class ChartTable:
    """The numbers of a chart; the first `names` columns hold texts and the others numbers."""

    caption: str
    heads: Sequence[str]
    rows: Iterable[Sequence[object]]
    names: int = 1

    def styled(self, cells: Sequence[object]) -> list[tuple[str, str]]:
        """Each text with the class of its column."""
        return [(str(cell), "number" if place >= self.names else "") for place, cell in enumerate(cells)]


def drawn_chart(kind: str, label: str, draw: Callable[[int], Plot], width: int, table: ChartTable) -> SafeString:
    """The drawing at each usual width up to `width`, then the table."""
    context = {
        "kind": kind,
        "label": label,
        "plots": [draw(each) for each in (NARROW, HALF, THREE, WIDE) if each <= width],
        "caption": table.caption,
        "heads": table.styled(table.heads),
        "rows": [(row[0], table.styled(row)[1:]) for row in table.rows],
    }
    return render_to_string("chart.html", context)
