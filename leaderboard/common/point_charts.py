"""Charts of points: residuals, and the curve of a worked example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from .chart_parts import (
    WIDE,
    Drawing,
    Scale,
    chart_table,
    dot_mark,
    drawn_chart,
    fitted,
    grid_rows,
    left_room,
    line_mark,
    nice_ticks,
    numbers_below,
    push_apart,
    rect_mark,
    text_mark,
    text_width,
)


@dataclass(frozen=True)
class Point:
    """A point of a chart; outliers show their `name`."""

    x: float
    y: float
    name: str = ""
    is_outlier: bool = False


def residuals(points: Sequence[Point], *, spread: float, width: int = WIDE) -> SafeString:
    """Prediction minus answer over the answer, with a band of the usual spread; only outliers are named."""
    if not points:
        return SafeString()
    rows = ((point.name, f"{point.x:.4g}", f"{point.y:.4g}") for point in points if point.is_outlier)
    heads = (_("Row"), _("Answer"), _("Prediction minus answer"))
    xs, ys = [point.x for point in points], [*(point.y for point in points), -spread, spread]
    x_ticks, y_ticks = nice_ticks(min(xs), max(xs)), nice_ticks(min(ys), max(ys))

    def draw(width: int) -> Drawing:
        left, right, top = left_room(y_ticks), width - 16, 26
        bottom = top + min(280, width - left)
        across, up = Scale(x_ticks[0], x_ticks[-1], left, right), Scale(y_ticks[0], y_ticks[-1], bottom, top)
        high, low = up.at(spread), up.at(-spread)
        plain = "".join(f"M{across.at(point.x):g} {up.at(point.y):g}h0" for point in points if not point.is_outlier)
        parts = [
            rect_mark(left, high, right - left, round(low - high, 1), "usual", _("Usual spread"), radius=0),
            *grid_rows(y_ticks, up, left, right),
            f'<path class="cloud" d="{plain}"/>',
        ]
        named = [point for point in points if point.is_outlier]
        heights = push_apart([up.at(point.y) for point in named], 14, top, bottom)
        for point, y in zip(named, heights, strict=True):
            x, text = across.at(point.x), fitted(point.name, 120)
            is_left = x + text_width(text) + 12 > right
            parts.append(dot_mark(x, up.at(point.y), 4, "outlier", f"{point.name}: {point.x:.4g}, {point.y:.4g}"))
            parts.append(text_mark(x - 9 if is_left else x + 9, y + 4, text, "label outlier", "end" if is_left else ""))
        parts += [
            text_mark(left, 10, _("Prediction minus answer")),
            *numbers_below(x_ticks, across, bottom + 18),
            text_mark(left, bottom + 38, _("Answer")),
        ]
        return bottom + 44, parts

    words = _("Prediction minus answer for each row, with outliers named")
    return drawn_chart("residuals", words, draw, width, chart_table(_("Outliers"), heads, rows))


CURVE_WIDTH, CURVE_HEIGHT = 360, 260


def curve(points: Sequence[Sequence[float]], words: str, *, diagonal: bool, filled: bool) -> SafeString:
    """The line through the points of a worked example, left to right; the page shows its table."""
    ticks = [
        nice_ticks(0.0, 1.0) if min(values) >= 0 and max(values) <= 1 else nice_ticks(min(values), max(values))
        for values in zip(*points, strict=True)
    ]
    left, right, top, bottom = left_room(ticks[1]), CURVE_WIDTH - 10, 12, 232
    across, up = Scale(ticks[0][0], ticks[0][-1], left, right), Scale(ticks[1][0], ticks[1][-1], bottom, top)
    places = [(across.at(x), up.at(y)) for x, y in points]
    line = " ".join(f"{x:g},{y:g}" for x, y in places)
    parts = [*grid_rows(ticks[1], up, left, right), *numbers_below(ticks[0], across, bottom + 20)]
    if filled:
        parts.append(f'<polygon points="{places[0][0]:g},{bottom} {line} {places[-1][0]:g},{bottom}"/>')
    if diagonal:
        parts.append(line_mark(left, bottom, right, top, "baseline"))
    parts.append(f'<polyline points="{line}"/>')
    parts += [dot_mark(x, y, 3, "dot") for x, y in places]
    return format_html(
        '<svg class="curve" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        CURVE_WIDTH, CURVE_HEIGHT, words, SafeString("".join(parts)),
    )  # fmt: skip
