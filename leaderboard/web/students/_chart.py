"""A team's public scores over time, as SVG with a table for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from ..charts import number_text, rounded_text

WIDTH, HEIGHT, MARGIN = 1000, 100, 6
MOST = 500


def score_chart(points: Sequence[tuple[datetime, float]], *, is_rounded: bool = False) -> SafeString:
    """Dots by time of receipt, the newest 500; nothing for fewer than two. `is_rounded`: as a board rounded them.

    The drawing is stretched to its box, so dots are strokes without length (which do not stretch), and all text is
    HTML around it.
    """
    points, text = points[-MOST:], rounded_text if is_rounded else number_text
    if len(points) < 2:
        return mark_safe("")
    values = [value for _, value in points]
    low, high = min(values), max(values)
    places = _places(points, low, high)
    dots = " ".join(f"M{x},{y}h0" for x, y in places)
    line = " ".join(f"{x},{y}" for x, y in places)
    title = _("Public scores of your team")
    rows = format_html_join(
        "",
        "<tr><td>{}</td><td>{}</td></tr>",
        ((f"{when:%Y-%m-%d %H:%M} UTC", rounded_text(value) if is_rounded else repr(value)) for when, value in points),
    )
    return format_html(
        '<figure class="card score-chart"><figcaption>{}</figcaption>'
        '<div class="plot"><span class="high">{}</span><span class="low">{}</span>'
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<polyline points="{}"/><path d="{}"/></svg>'
        '<span class="first">{}</span><span class="last">{}</span></div>'
        '<div class="visually-hidden"><table><caption>{}</caption>'
        '<thead><tr><th scope="col">{}</th><th scope="col">{}</th></tr></thead><tbody>{}</tbody></table></div>'
        "</figure>",
        title,
        text(high),
        text(low) if low < high else "",
        WIDTH,
        HEIGHT,
        _("%(number)s scores between %(low)s and %(high)s; a table has them all.")
        % {"number": len(points), "low": text(low), "high": text(high)},
        line,
        dots,
        _day(points[0][0]),
        _day(points[-1][0]),
        title,
        _("Received"),
        _("Score"),
        rows,
    )


def _places(points: Sequence[tuple[datetime, float]], low: float, high: float) -> list[tuple[str, str]]:
    first, span = points[0][0], (points[-1][0] - points[0][0]).total_seconds()
    places = []
    for index, (when, value) in enumerate(points):
        across = (when - first).total_seconds() / span if span else index / (len(points) - 1)
        # Halving first keeps the span of two huge scores of opposite sign finite.
        up = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5
        x = MARGIN + across * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)
        places.append((f"{x:.1f}", f"{y:.1f}"))
    return places


def _day(when: datetime) -> str:
    return date_format(when, "j M")
