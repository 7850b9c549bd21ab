"""Larger charts as SVG made on the server. All words stand around them in HTML, so drawings may be stretched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

LINE = 36
"""Height of a line of text next to a slope chart; `--line` in the stylesheet is the same."""
WIDTH = HEIGHT = 100


def slope_chart(moves: Iterable[tuple[int, int, str]], words: str) -> SafeString:
    """A line for each (place on the left, place on the right, class), counted from 0; as high as the lines of text."""
    drawn = [(left, right, kind) for left, right, kind in moves]
    height = LINE * max((max(left, right) + 1 for left, right, _ in drawn), default=0)
    lines = format_html_join(
        "",
        '<line class="{}" x1="0" y1="{}" x2="{}" y2="{}"/>',
        ((kind, _line_middle(left), WIDTH, _line_middle(right)) for left, right, kind in drawn),
    )
    return _svg("slopes", height, words, lines)


def bar_chart(counts: Sequence[int], words: str, *, marks: Iterable[float] = ()) -> SafeString:
    """Upright bars of equal width, the highest as high as the box; `marks` are lines at shares (0–1) of the width."""
    most, step = max(counts, default=0) or 1, WIDTH / max(1, len(counts))
    drawn = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"/>',
        (
            (f"{step * (index + 0.06):.2f}", f"{HEIGHT - tall:.2f}", f"{step * 0.88:.2f}", f"{tall:.2f}")
            for index, count in enumerate(counts)
            if (tall := HEIGHT * count / most)
        ),
    )
    lines = format_html_join(
        "", '<line x1="{0}" x2="{0}" y1="0" y2="{1}"/>', ((f"{WIDTH * at:.2f}", HEIGHT) for at in marks)
    )
    return _svg("bars", HEIGHT, words, drawn + lines)


def dot_chart(points: Sequence[tuple[float, float]], words: str) -> SafeString:
    """Points over an axis from 0 to the greatest, around a line at height 0.

    Dots are strokes without length, which stay round when the drawing is stretched.
    """
    across = max((x for x, _ in points), default=0.0) or 1.0
    low, high = min([0.0, *(y for _, y in points)]), max([0.0, *(y for _, y in points)])
    # Halving first keeps the span of two huge scores of opposite sign finite.
    span = high / 2 - low / 2 or 1.0
    path = " ".join(f"M{WIDTH * x / across:.2f},{HEIGHT * (1 - (y / 2 - low / 2) / span):.2f}h0" for x, y in points)
    level = format_html('<line x1="0" x2="{0}" y1="{1}" y2="{1}"/>', WIDTH, f"{HEIGHT * (1 + low / 2 / span):.2f}")
    return _svg("dots", HEIGHT, words, format_html('{}<path d="{}"/>', level, path))


def _line_middle(place: int) -> int:
    return LINE * place + LINE // 2


def _svg(kind: str, height: int, words: str, inside: SafeString) -> SafeString:
    return format_html(
        '<svg class="{}" viewBox="0 0 {} {}" height="{}" preserveAspectRatio="none" role="img"'
        ' aria-label="{}">{}</svg>',
        kind,
        WIDTH,
        height,
        height,
        words,
        inside,
    )
