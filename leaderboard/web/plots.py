"""Larger charts as SVG made on the server. All words stand around them in HTML, so drawings may be stretched."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

LINE = 36
"""Height of a line of text beside a chart of slopes; `--line` in the stylesheet is the same."""
WIDTH = 100


def slopes(moves: Iterable[tuple[int, int, str]], words: str) -> SafeString:
    """A line for each (place on the left, place on the right, class), counted from 0; as high as the lines of text."""
    drawn = [(left, right, kind) for left, right, kind in moves]
    height = LINE * max((max(left, right) + 1 for left, right, _ in drawn), default=0)
    lines = format_html_join(
        "",
        '<line class="{}" x1="0" y1="{}" x2="{}" y2="{}"/>',
        ((kind, _middle(left), WIDTH, _middle(right)) for left, right, kind in drawn),
    )
    return _svg("slopes", height, words, lines)


def _middle(place: int) -> int:
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
