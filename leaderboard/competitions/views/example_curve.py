"""A curve of a worked example as SVG; its numbers are in a table next to it."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

Point = Sequence[float]

WIDTH, HEIGHT = 360, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 350, 12, 232


def curve_svg(points: Sequence[Point], words: str, *, diagonal: bool, filled: bool) -> SafeString:
    """The line through the points, left to right, in a frame with three numbers on each axis."""
    across, up = ([point[axis] for point in points] for axis in (0, 1))
    (left, right), (low, high) = _ends(across), _ends(up)
    places = [
        (LEFT + _share(x, left, right) * (RIGHT - LEFT), BOTTOM - _share(y, low, high) * (BOTTOM - TOP))
        for x, y in zip(across, up, strict=True)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    area = f"{places[0][0]:.1f},{BOTTOM} {line} {places[-1][0]:.1f},{BOTTOM}"
    guess = format_html('<path class="guess" d="M{},{}L{},{}"/>', LEFT, BOTTOM, RIGHT, TOP)
    dots = format_html_join("", '<circle r="3" cx="{}" cy="{}"/>', ((f"{x:.1f}", f"{y:.1f}") for x, y in places))
    return format_html(
        '<svg class="curve" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}<polyline points="{}"/>{}</svg>',
        WIDTH,
        HEIGHT,
        words,
        _axis_frame((left, right), (low, high)),
        format_html('<polygon points="{}"/>', area) if filled else "",
        guess if diagonal else "",
        line,
        dots,
    )


def _axis_frame(across: tuple[float, float], up: tuple[float, float]) -> SafeString:
    """Grid lines and numbers at the ends and the middle of both axes."""
    shares = (0.0, 0.5, 1.0)
    columns = format_html_join(
        "",
        '<path class="rule" d="M{},{}V{}"/><text x="{}" y="{}" text-anchor="middle">{}</text>',
        (
            (x := LEFT + share * (RIGHT - LEFT), TOP, BOTTOM, x, BOTTOM + 20, short_number(_between(across, share)))
            for share in shares
        ),
    )
    rows = format_html_join(
        "",
        '<path class="rule" d="M{},{}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (LEFT, y := BOTTOM - share * (BOTTOM - TOP), RIGHT, LEFT - 8, y + 4, short_number(_between(up, share)))
            for share in shares
        ),
    )
    return format_html("{}{}", columns, rows)


def short_number(value: float) -> str:
    """A number of an axis or of a figure."""
    return f"{value:.4g}"


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """0 to 1 where all values are shares, otherwise from the least to the greatest."""
    low, high = min(values), max(values)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] * (1 - share) + ends[1] * share


def _share(value: float, low: float, high: float) -> float:
    # Halving first keeps the span of two huge numbers of opposite sign finite.
    span = high / 2 - low / 2
    return (value / 2 - low / 2) / span if span else 0.5
