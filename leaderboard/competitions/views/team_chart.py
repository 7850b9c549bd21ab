"""A team's public scores over time, as SVG with a table for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from leaderboard.common import numbers

WIDTH, HEIGHT, MARGIN = 1000, 100, 6
MOST = 500


def score_chart(points: Sequence[tuple[datetime, float]], *, sign: float, is_rounded: bool = False) -> SafeString:
    """Dots by time of receipt, the newest 500; nothing for fewer than two. `is_rounded`: clear improvements alone, as
    a steady board rounded them.

    Up is better, as on the board: a `sign` of +1 says that a lower score is. Times are in the reader's clock.

    The drawing is stretched to its box, so dots are strokes without length (which do not stretch), and all text is
    HTML around it.
    """
    points, text = points[-MOST:], numbers.rounded_text if is_rounded else numbers.number_text
    if len(points) < 2:
        return mark_safe("")
    values = [value for _, value in points]
    low, high = min(values), max(values)
    best, worst = (low, high) if sign > 0 else (high, low)
    places = _point_positions(points, worst, best)
    dots = " ".join(f"M{x},{y}h0" for x, y in places)
    line = " ".join(f"{x},{y}" for x, y in places)
    title = (
        _("Clear improvements of your team as the board shows them, up is better")
        if is_rounded
        else _("Public scores of your team, up is better")
    )
    rows = format_html_join(
        "",
        "<tr><td>{}</td><td>{}</td></tr>",
        (
            (f"{localtime(when):%Y-%m-%d %H:%M %Z}", numbers.rounded_text(value) if is_rounded else repr(value))
            for when, value in points
        ),
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
        text(best),
        text(worst) if low < high else "",
        WIDTH,
        HEIGHT,
        _("%(number)s scores between %(low)s and %(high)s; a table has them all.")
        % {"number": len(points), "low": text(low), "high": text(high)},
        line,
        dots,
        *_ends(points[0][0], points[-1][0]),
        title,
        _("Received"),
        _("Score"),
        rows,
    )


def _point_positions(points: Sequence[tuple[datetime, float]], worst: float, best: float) -> list[tuple[str, str]]:
    first, span = points[0][0], (points[-1][0] - points[0][0]).total_seconds()
    places = []
    for index, (when, value) in enumerate(points):
        across = (when - first).total_seconds() / span if span else index / (len(points) - 1)
        # Halving first keeps the span of two huge scores of opposite sign finite.
        up = (value / 2 - worst / 2) / (best / 2 - worst / 2) if best != worst else 0.5
        x = MARGIN + across * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)
        places.append((f"{x:.1f}", f"{y:.1f}"))
    return places


def _ends(first: datetime, last: datetime) -> tuple[str, str]:
    """Days, or times of the day where the two are on one."""
    there, here = localtime(first), localtime(last)
    form = "H:i" if there.date() == here.date() else "j M"
    return date_format(there, form), date_format(here, form)
