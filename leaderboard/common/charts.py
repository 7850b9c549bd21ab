"""Small charts as SVG made on the server, each with its words."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from .numbers import decimals_of, number_text, rounded_text

WIDTH, HEIGHT, MARGIN = 66, 20, 2


def interval_text(low: float | None, high: float | None, error: float | None) -> str:
    """An interval with as many digits as its standard error makes meaningful; "" where nothing is known."""
    if error is None or low is None or high is None:
        return ""
    if error == 0:
        return _("%(low)s to %(high)s") % {"low": number_text(low), "high": number_text(high)}
    digits = decimals_of(error)
    if max(abs(low), abs(high)) >= 1e7:
        return _("%(low)s to %(high)s") % {"low": f"{low:.3g}", "high": f"{high:.3g}"}
    return _("%(low)s to %(high)s") % {"low": f"{low:.{digits}f}", "high": f"{high:.{digits}f}"}


def polyline(values: Sequence[float], width: float, height: float, margin: float) -> str:
    """Points of a line through values from left to right, scaled to fill the box."""
    low, high = min(values), max(values)
    # Halving first keeps the span of two huge scores of opposite sign finite.
    span = high / 2 - low / 2
    step = (width - 2 * margin) / max(1, len(values) - 1)
    points = []
    for index, value in enumerate(values):
        share = (value / 2 - low / 2) / span if span else 0.5
        points.append(f"{margin + index * step:.1f},{height - margin - share * (height - 2 * margin):.1f}")
    return " ".join(points)


def sparkline(values: Sequence[float], *, is_rounded: bool = False, sign: float = -1.0) -> SafeString:
    """A team's scores in order of receipt, exact ones or as a board rounded them; one score is a dot.

    Up is better: a `sign` of +1 says that a lower score is."""
    text = rounded_text if is_rounded else number_text
    if not values:
        return format_html("<span>{}</span>", "–")
    words = (
        _("%(number)s scores from %(first)s to %(last)s")
        % {"number": len(values), "first": text(values[0]), "last": text(values[-1])}
        if len(values) > 1
        else _("One score, %(score)s") % {"score": text(values[0])}
    )
    if len(values) == 1:
        shape = format_html('<circle cx="{}" cy="{}" r="2" fill="currentColor"/>', MARGIN + 2, HEIGHT / 2)
    else:
        shape = format_html(
            '<polyline points="{}" fill="none" stroke="currentColor" stroke-width="1.5"'
            ' stroke-linejoin="round" stroke-linecap="round"/>',
            polyline([-sign * value for value in values], WIDTH, HEIGHT, MARGIN),
        )
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        WIDTH, HEIGHT, WIDTH, HEIGHT, words, shape,
    )  # fmt: skip


BAND_WIDTH, BAND_HEIGHT, BAND_MARGIN = 96, 16, 4


def interval_band(
    value: float, low: float | None, high: float | None, scale: tuple[float, float], words: str
) -> SafeString:
    """A score within the interval that holds it in 95 of 100 cases, on a scale shared by a page.

    An open end runs to the edge.
    """
    left, right = (
        _x_position(edge, scale) for edge in (scale[0] if low is None else low, scale[1] if high is None else high)
    )
    return format_html(
        '<svg class="band" viewBox="0 0 {} {}" role="img" aria-label="{}"><path d="M{} 8H{}"/>'
        '<circle cx="{}" cy="8" r="3"/></svg>',
        BAND_WIDTH, BAND_HEIGHT, words, left, right, _x_position(value, scale),
    )  # fmt: skip


def _x_position(value: float, scale: tuple[float, float]) -> str:
    span = scale[1] / 2 - scale[0] / 2
    share = (value / 2 - scale[0] / 2) / span if span else 0.5
    return f"{BAND_MARGIN + min(max(share, 0.0), 1.0) * (BAND_WIDTH - 2 * BAND_MARGIN):.1f}"


BARS_WIDTH, BARS_HEIGHT = 480, 72


def small_bars(values: Sequence[int], words: str) -> SafeString:
    """Counts side by side, on a common scale from nothing; the page shows the numbers next to it as a table."""
    tallest, width = max([1, *values]), BARS_WIDTH / max(1, len(values))
    drawn = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"/>',
        (
            (f"{place * width + 1:.1f}", f"{BARS_HEIGHT - high:.1f}", f"{width - 2:.1f}", f"{high:.1f}")
            for place, value in enumerate(values)
            for high in [value / tallest * (BARS_HEIGHT - 2) if value else 1.0]
        ),
    )
    return format_html(
        '<svg class="bars" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        BARS_WIDTH, BARS_HEIGHT, words, drawn,
    )  # fmt: skip
