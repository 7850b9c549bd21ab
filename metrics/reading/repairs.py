"""Texts as they were meant before a program damaged their letters or spaces."""

from __future__ import annotations

import html
import re
from contextlib import suppress

_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]{2,8});")
HIDDEN = "[\u200b\u2060\ufeff\u00ad]"
_ODD_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def mended(text: str) -> str:
    """The text without damage to its letters: saved twice, or written as HTML.

    >>> mended("M\u00c3\u00bcller"), mended("R&amp;D"), mended("Müller")
    ('Müller', 'R&D', 'Müller')
    """
    found = html.unescape(text) if _ENTITY.search(text) else text
    for encoding in () if found.isascii() else ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            return found.encode(encoding).decode()
    return found


def plainly_spaced(text: str) -> str:
    """The text with plain spaces and without invisible characters."""
    return text if text.isascii() else _ODD_SPACE.sub(" ", re.sub(HIDDEN, "", text))
