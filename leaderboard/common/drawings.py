"""Initials and covers, small drawings derived from a name; QR codes for links on paper."""

from __future__ import annotations

import hashlib
import random
from functools import lru_cache

import segno
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

COLOURS = 10


def colour_of(name: str) -> int:
    """One of the ten colours (1–10), always the same for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % COLOURS + 1


def initials(name: str) -> str:
    """Two letters of a name: of its first two words, or its first two."""
    words = [word for word in ("".join(c if c.isalnum() else " " for c in name)).split() if word]
    letters = words[0][0] + words[1][0] if len(words) > 1 else (words[0][:2] if words else "?")
    return letters.upper()


def avatar(name: str, style: str = "") -> SafeString:
    """The initials of a team (or, with the style `round`, of a person) on a tint derived from the name."""
    return format_html(
        '<span class="avatar h{} {}" aria-hidden="true">{}</span>', colour_of(name), style, initials(name)
    )


@lru_cache(maxsize=512)
def cover(slug: str, style: str) -> SafeString:
    """The generated picture of a competition: a pattern and a colour derived from its slug.

    `style` is `tile-cover` (a square) or `wide` (a band over a card).
    """
    width, height = (48, 48) if style == "tile-cover" else (360, 76)
    seed = random.Random(slug)  # noqa: S311 - a drawing
    drawn = seed.choice(_PATTERNS)(seed, width, height)
    return format_html(
        '<svg class="cover {} h{}" viewBox="0 0 {} {}" preserveAspectRatio="xMidYMid slice" aria-hidden="true"'
        ' fill="none" stroke="currentColor" stroke-opacity=".55" stroke-width="1.5">{}</svg>',
        style, colour_of(slug), width, height, mark_safe(drawn),  # noqa: S308 - numbers alone
    )  # fmt: skip


def _draw_waves(seed: random.Random, width: int, height: int) -> str:
    gap, swing, length = seed.choice((7, 9)), seed.choice((2, 3)), seed.choice((12, 18, 24))
    line = "".join(f"q{length / 2:g} {swing if step % 2 else -swing} {length} 0" for step in range(width // length + 2))
    return "".join(f'<path d="M{-length} {y}{line}"/>' for y in range(gap // 2, height + gap, gap))


def _draw_dots(seed: random.Random, width: int, height: int) -> str:
    places = [(x, y) for y in range(6, height, 9) for x in range(6, width, 9)]
    path = "".join(f"M{x} {y}h0" for x, y in places if seed.random() < 0.7)
    return f'<path stroke-width="4" stroke-linecap="round" d="{path}"/>'


def _draw_rings(seed: random.Random, width: int, height: int) -> str:
    x, y = seed.randrange(width // 4, 3 * width // 4), seed.randrange(height)
    return "".join(f'<circle cx="{x}" cy="{y}" r="{radius}"/>' for radius in range(6, width, 9))


def _draw_bars(seed: random.Random, width: int, height: int) -> str:
    heights = ((x, seed.randrange(height // 6, height - 4)) for x in range(4, width, 8))
    return f'<path stroke-width="4" d="{"".join(f"M{x} {height}V{top}" for x, top in heights)}"/>'


def _draw_branches(seed: random.Random, width: int, height: int) -> str:
    root = seed.randrange(width // 3, 2 * width // 3)
    ends = [(seed.randrange(width), seed.randrange(height)) for _ in range(6 + width // 40)]
    return "".join(f'<path d="M{root} {height}Q{root} {y} {x} {y}"/>' for x, y in ends)


_PATTERNS = (_draw_waves, _draw_dots, _draw_rings, _draw_bars, _draw_branches)


def qr_code(link: str) -> SafeString:
    """A QR code of a link for paper, hidden from screen readers because the page also shows the link as text."""
    drawn = segno.make(link, error="m", micro=False).svg_inline(omitsize=True, svgclass="qr", lineclass=None)
    return format_html('<span aria-hidden="true">{}</span>', mark_safe(drawn))  # noqa: S308 - it is dots alone
