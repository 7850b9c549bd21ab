"""Charts of days and hours, and bars without an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from django.utils.dateformat import format as date_format
from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

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
    text_mark,
)


class Day(NamedTuple):
    """Files that were received on a day."""

    day: date
    scored: int
    invalid: int


def activity(days: Sequence[Day], *, today: date | None = None, width: int = HALF) -> SafeString:
    """Files of each day, invalid ones on top; the bar of the day that is not over is pale."""
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
    """Numbers of days, with the month at the first of each; so many that they do not touch."""
    every = max(1, math.ceil(44 / step))
    labels, month = [], 0
    for x, day in days[::every]:
        labels.append((x, date_format(day, "j M" if day.month != month else "j")))
        month = day.month
    return labels


STEPS = 6
"""Of the colour of an hour, from the first file to the busiest hour."""


def heat(counts: Sequence[Sequence[int]]) -> SafeString:
    """Files by weekday (Monday first) and hour, in six steps."""
    most = max([1, *(count for row in counts for count in row)])

    def draw(width: int) -> Drawing:
        left, gap = 34, 2
        step = (width - left) / 24
        tall = min(step, 22)
        parts = []
        for day, row in enumerate(counts):
            parts.append(text_mark(0, round(day * (tall + gap) + tall / 2 + 4, 1), str(WEEKDAYS_ABBR[day])))
            for hour, count in enumerate(row):
                words = ngettext(
                    "%(day)s %(hour)s:00, %(n)s submission", "%(day)s %(hour)s:00, %(n)s submissions", count
                )
                words %= {"day": WEEKDAYS_ABBR[day], "hour": f"{hour:02}", "n": count}
                x, y = round(left + hour * step, 1), round(day * (tall + gap), 1)
                level = math.ceil(STEPS * count / most)
                parts.append(rect_mark(x, y, round(step - gap, 1), round(tall, 1), f"q{level}", words if count else ""))
        bottom = round(7 * (tall + gap) + 14, 1)
        parts += [text_mark(round(left + hour * step, 1), bottom, f"{hour:02}") for hour in (0, 6, 12, 18)]
        return bottom + 4, parts

    rows = ((str(WEEKDAYS[day]), *row) for day, row in enumerate(counts))
    heads = (_("Weekday"), *(f"{hour:02}" for hour in range(24)))
    words = _("Submissions by weekday and hour")
    return drawn_chart("heat", words, draw, HALF, chart_table(words, heads, rows))


def small_bars(values: Sequence[int], words: str) -> SafeString:
    """Counts side by side, from nothing up, without an axis."""
    most, step = max([1, *values]), 480 / max(1, len(values))
    drawn = (
        rect_mark(round(place * step + 1, 1), round(72 - high, 1), round(step - 2, 1), round(high, 1), "bar", radius=1)
        for place, value in enumerate(values)
        for high in [value / most * 70 if value else 1.0]
    )
    bars = SafeString("".join(drawn))
    return format_html('<svg class="bars" viewBox="0 0 480 72" role="img" aria-label="{}">{}</svg>', words, bars)


def share_bar(part: int, whole: int) -> SafeString:
    """A part of a whole as a bar; the numbers stand beside it."""
    filled = round(100 * part / whole, 1) if whole else 0
    return SafeString(
        '<svg class="share-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="ground" width="100" height="4"/><rect class="s1" width="{filled:g}" height="4"/></svg>'
    )
