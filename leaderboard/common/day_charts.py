"""Charts of days and hours, and bars without an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from .chart_parts import (
    FOOT,
    HALF,
    WIDE,
    Drawing,
    Scale,
    chart_table,
    count_ticks,
    drawn_chart,
    grid_rows,
    labels_below,
    left_room,
    rect_mark,
)


class Day(NamedTuple):
    """The numbers of scored and invalid submissions received on a day."""

    day: date
    scored: int
    invalid: int


def activity(days: Sequence[Day], *, today: date | None = None, width: int = HALF) -> SafeString:
    """Submissions per day as bars, invalid ones on top; the bar of `today` is pale, because the day is not over."""
    if not days:
        return SafeString()
    ticks = count_ticks(max(one.scored + one.invalid for one in days))

    def draw(width: int) -> Drawing:
        left, right, top, bottom = left_room(ticks), width - 4, 8, 150 if width < WIDE else 180
        up, step = Scale(0, ticks[-1], bottom, top), (right - left) / len(days)
        parts = grid_rows(ticks, up, left, right)
        bar, labels = max(1.0, round(min(36, step * 0.7), 1)), []
        for place, one in enumerate(days):
            middle = round(left + step * (place + 0.5), 1)
            x, pale = round(middle - bar / 2, 1), " pale" if one.day == today else ""
            words = _("%(day)s: %(scored)s scored, %(invalid)s invalid") % {
                "day": date_format(one.day, "j M"), "scored": one.scored, "invalid": one.invalid,
            }  # fmt: skip
            y = up.at(one.scored)
            if one.scored:
                parts.append(rect_mark(x, y, bar, round(bottom - y, 1), f"s1{pale}", words))
            if one.invalid:
                high = round(max(1.0, y - up.at(one.scored + one.invalid) - 1), 1)
                parts.append(rect_mark(x, round(y - 1 - high, 1), bar, high, f"s2{pale}", words))
            labels.append((middle, one.day))
        parts += labels_below(_day_labels(labels, step), bottom + 18)
        return bottom + FOOT + 4, parts

    rows = ((date_format(one.day, "j M Y"), one.scored, one.invalid) for one in days)
    table = chart_table(_("Submissions per day"), (_("Day"), _("Scored"), _("Invalid")), rows)
    return drawn_chart("activity", _("Submissions per day"), draw, width, table)


def _day_labels(days: Sequence[tuple[float, date]], step: float) -> list[tuple[float, str]]:
    """Days of the month, with the month's name where it changes; only every n-th day where labels would touch."""
    every = max(1, math.ceil(44 / step))
    labels, month = [], 0
    for x, day in days[::every]:
        labels.append((x, date_format(day, "j M" if day.month != month else "j")))
        month = day.month
    return labels


def small_bars(values: Sequence[int], words: str) -> SafeString:
    """Counts as bars side by side from zero up, without an axis."""
    most, step = max([1, *values]), 480 / max(1, len(values))
    drawn = (
        rect_mark(round(place * step + 1, 1), round(72 - high, 1), round(step - 2, 1), round(high, 1), "bar", radius=1)
        for place, value in enumerate(values)
        for high in [value / most * 70 if value else 1.0]
    )
    bars = SafeString("".join(drawn))
    return format_html('<svg class="bars" viewBox="0 0 480 72" role="img" aria-label="{}">{}</svg>', words, bars)


def share_bar(part: int, whole: int) -> SafeString:
    """A part of a whole as a bar; its caller shows the numbers beside it."""
    filled = round(100 * part / whole, 1) if whole else 0
    return SafeString(
        '<svg class="share-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="ground" width="100" height="4"/><rect class="s1" width="{filled:g}" height="4"/></svg>'
    )
