"""Icons, initials and covers: small drawings in the colours of the page."""

from __future__ import annotations

import hashlib
import random
from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

COLOURS = 10
PATTERNS = ("waves", "dots", "rings", "bars", "branches")

# Strokes on a field of 24 × 24.
ICONS = {
    "alert": "M12 4 2.8 20h18.4zM12 10v4m0 3v.01",
    "archive": "M3 5h18v4H3zM5 9v10h14V9m-9 4h4",
    "arrow": "M5 12h14m-5-5 5 5-5 5",
    "bell": "M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 2h-15zM10 21h4",
    "board": "M4 20v-7h4v7m0 0V8h4v12m0 0v-9h4v9m0 0v-5h4v5M4 20h16",
    "calendar": "M4 6h16v14H4zM4 10h16M8 3v4m8-4v4",
    "check": "m5 12.5 4.5 4.5L19 7.5",
    "chevron": "m9 5 7 7-7 7",
    "clock": "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 4v5l3.5 2",
    "copy": "M9 9h11v11H9zM15 9V4H4v11h5",
    "database": "M4 6c0-4 16-4 16 0s-16 4-16 0v12c0 4 16 4 16 0V6M4 12c0 4 16 4 16 0",
    "down": "m5 9 7 7 7-7",
    "download": "M12 4v11m-4.5-4.5L12 15l4.5-4.5M4 20h16",
    "eye": "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z"
    "M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
    "file": "M6 3h8l5 5v13H6zM14 3v5h5",
    "grades": "m12 4 10 5-10 5L2 9zM6 11.5V17c3 3 9 3 12 0v-5.5M22 9v6",
    "help": "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5c0-3.5 5-3.5 5 0 0 2-2.5 2-2.5 4M12 17v.01",
    "home": "m3 11 9-7.5L21 11M5.5 9.5V20h13V9.5M10 20v-6h4v6",
    "info": "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 8v6m0-9.5v.01",
    "key": "M8 12a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm3 1L21 3m-4 4 3 3m-6 0 2 2",
    "link": "M10 14a4 4 0 0 0 6 0l4-4a4.2 4.2 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6 0l-4 4a4.2 4.2 0 0 0 6 6l1.5-1.5",
    "lock": "M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3",
    "mail": "M3 5.5h18v13H3zM3 6l9 7 9-7",
    "moon": "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
    "pause": "M8 5v14m8-14v14",
    "people": "M9 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 20c0-7 13-7 13 0"
    "M16 5c4 0 4 6 0 6m2 3.5c2.5.5 3.5 2.5 3.5 5.5",
    "play": "M7 4.5 19 12 7 19.5z",
    "plus": "M12 5v14M5 12h14",
    "projector": "M3 4h18v12H3zM8 21h8m-4-5v5",
    "report": "M4 4v16h16M8.5 16v-4m4 4V7m4 9v-6",
    "rules": "M6 3h12v18H6zM9.5 8h5m-5 4h5m-5 4h3",
    "search": "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm5 11.5L21 21",
    "settings": "M4 7h9m5 0h2M4 17h2m5 0h9M15.5 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z"
    "M8.5 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
    "star": "m12 3.5 2.6 5.6 6 .7-4.5 4.2 1.2 6L12 17l-5.3 3 1.2-6-4.5-4.2 6-.7z",
    "sun": "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm0-6v2m0 16v2"
    "M4.9 4.9l1.4 1.4m11.4 11.4 1.4 1.4M2 12h2m16 0h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
    "target": "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm0 4v.01",
    "upload": "M12 15V4M7.5 8.5 12 4l4.5 4.5M4 15v5h16v-5",
    "x": "m6 6 12 12M18 6 6 18",
}


@lru_cache(maxsize=256)
def icon(name: str, size: int = 16) -> SafeString:
    """A drawing that says nothing to a screen reader: the words stand beside it. KeyError for an unknown name."""
    return mark_safe(  # noqa: S308 - constants of this file
        f'<svg class="icon" aria-hidden="true" width="{size}" height="{size}" viewBox="0 0 24 24">'
        f'<path d="{ICONS[name]}"/></svg>'
    )


def colour_of(name: str) -> int:
    """One of the ten colours (1–10), always the same for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % COLOURS + 1


def initials(name: str) -> str:
    """Two letters of a name: of its first two words, or its first two."""
    words = [word for word in ("".join(c if c.isalnum() else " " for c in name)).split() if word]
    letters = words[0][0] + words[1][0] if len(words) > 1 else (words[0][:2] if words else "?")
    return letters.upper()


def avatar(name: str, style: str = "") -> SafeString:
    """The initials of a team (or, with `round`, of a person) on a tint of a colour of its own."""
    return format_html(
        '<span class="avatar h{} {}" aria-hidden="true">{}</span>', colour_of(name), style, initials(name)
    )


@lru_cache(maxsize=512)
def cover(slug: str, style: str) -> SafeString:
    """The generated picture of a competition: a pattern and a colour by its address.

    `style` is `tile-cover` (a square) or `wide` (a band over a card).
    """
    width, height = (48, 48) if style == "tile-cover" else (360, 76)
    seed = random.Random(slug)  # noqa: S311 - a drawing
    drawn = _PATTERN_DRAWERS[seed.choice(PATTERNS)](seed, width, height)
    return format_html(
        '<svg class="cover {} h{}" viewBox="0 0 {} {}" preserveAspectRatio="xMidYMid slice" aria-hidden="true"'
        ' fill="none" stroke="currentColor" stroke-opacity=".55" stroke-width="1.5">{}</svg>',
        style, colour_of(slug), width, height, mark_safe(drawn),  # noqa: S308 - numbers alone
    )  # fmt: skip


def _waves(seed: random.Random, width: int, height: int) -> str:
    gap, swing, length = seed.choice((7, 9)), seed.choice((2, 3)), seed.choice((12, 18, 24))
    line = "".join(f"q{length / 2:g} {swing if step % 2 else -swing} {length} 0" for step in range(width // length + 2))
    return "".join(f'<path d="M{-length} {y}{line}"/>' for y in range(gap // 2, height + gap, gap))


def _dots(seed: random.Random, width: int, height: int) -> str:
    places = [(x, y) for y in range(6, height, 9) for x in range(6, width, 9)]
    path = "".join(f"M{x} {y}h0" for x, y in places if seed.random() < 0.7)
    return f'<path stroke-width="4" stroke-linecap="round" d="{path}"/>'


def _rings(seed: random.Random, width: int, height: int) -> str:
    x, y = seed.randrange(width // 4, 3 * width // 4), seed.randrange(height)
    return "".join(f'<circle cx="{x}" cy="{y}" r="{radius}"/>' for radius in range(6, width, 9))


def _bars(seed: random.Random, width: int, height: int) -> str:
    heights = ((x, seed.randrange(height // 6, height - 4)) for x in range(4, width, 8))
    return f'<path stroke-width="4" d="{"".join(f"M{x} {height}V{top}" for x, top in heights)}"/>'


def _branches(seed: random.Random, width: int, height: int) -> str:
    root = seed.randrange(width // 3, 2 * width // 3)
    ends = [(seed.randrange(width), seed.randrange(height)) for _ in range(6 + width // 40)]
    return "".join(f'<path d="M{root} {height}Q{root} {y} {x} {y}"/>' for x, y in ends)


_PATTERN_DRAWERS = {"waves": _waves, "dots": _dots, "rings": _rings, "bars": _bars, "branches": _branches}
