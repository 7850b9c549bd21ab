"""A team's public scores over time, as SVG with a table for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from ..charts import number_text

WIDTH, HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 640, 150, 14, 26, 78, 12
MOST = 500


def score_chart(points: Sequence[tuple[datetime, float]]) -> SafeString:
    """Dots by time of receipt, the newest 500; nothing for fewer than two."""
    points = points[-MOST:]
    if len(points) < 2:
        return mark_safe("")
    values = [value for _, value in points]
    low, high = min(values), max(values)
    first, last = points[0][0], points[-1][0]
    span = (last - first).total_seconds()

    def x(when: datetime, index: int) -> float:
        share = (when - first).total_seconds() / span if span else index / (len(points) - 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        # Halving first keeps the span of two huge scores of opposite sign finite.
        share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    places = [(f"{x(when, i):.1f}", f"{y(value):.1f}") for i, (when, value) in enumerate(points)]
    dots = format_html_join("", '<circle cx="{}" cy="{}" r="3.5"/>', places)
    marks = [low, high] if high > low else [high]
    grid = format_html_join(
        "",
        '<line x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        [
            (LEFT, WIDTH - RIGHT, f"{y(v):.1f}", f"{y(v):.1f}", LEFT - 8, f"{y(v) + 4:.1f}", number_text(v))
            for v in marks
        ],
    )
    rows = format_html_join(
        "",
        "<tr><td>{}</td><td>{}</td></tr>",
        ((f"{when:%Y-%m-%d %H:%M} UTC", repr(value)) for when, value in points),
    )
    return format_html(
        '<figure class="card score-chart"><figcaption>Public scores of your team</figcaption>'
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}"><g class="grid">{}'
        '<text x="{}" y="{}">{}</text><text x="{}" y="{}" text-anchor="end">{}</text></g>'
        '<polyline points="{}"/>{}</svg>'
        '<table class="visually-hidden"><caption>Public scores of your team</caption>'
        '<thead><tr><th scope="col">Received</th><th scope="col">Score</th></tr></thead><tbody>{}</tbody></table>'
        "</figure>",
        WIDTH,
        HEIGHT,
        f"{len(points)} scores between {number_text(low)} and {number_text(high)}; the table has them all.",
        grid,
        LEFT,
        HEIGHT - 6,
        f"{first:%-d %b, %H:%M} UTC",
        WIDTH - RIGHT,
        HEIGHT - 6,
        f"{last:%-d %b, %H:%M} UTC",
        " ".join(f"{a},{b}" for a, b in places),
        dots,
        rows,
    )
