"""Texts as they were meant before a program damaged their letters or spaces."""

from __future__ import annotations

import html
import re
from contextlib import suppress

_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]{2,8});")
HIDDEN = "[\u200b\u2060\ufeff\u00ad]"
_TWO_SCRIPTS = re.compile(r"(?=\w*[A-Za-z])(?=\w*[\u0400-\u04ff])\w+")
_LATIN = str.maketrans("асеіјорѕухАВСЕНІЈКМОРЅТХ", "aceijopsyxABCEHIJKMOPSTX")
_FORMULA = re.compile(r'="(.*)"', re.DOTALL)
_ODD_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def mended(text: str) -> str:
    """The text without damage to its letters: saved twice, written as HTML or as a formula of a spreadsheet, or with
    Cyrillic letters in a Latin word.

    >>> mended("M\u00c3\u00bcller"), mended("R&amp;D"), mended("Müller")
    ('Müller', 'R&D', 'Müller')
    """
    found = html.unescape(text) if _ENTITY.search(text) else text
    if formula := _FORMULA.fullmatch(found):
        found = formula[1]
    for encoding in () if found.isascii() else ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            return found.encode(encoding).decode()
    return found if found.isascii() else _TWO_SCRIPTS.sub(lambda word: word[0].translate(_LATIN), found)


def plainly_spaced(text: str) -> str:
    """The text with plain spaces and without invisible characters."""
    return text if text.isascii() else _ODD_SPACE.sub(" ", re.sub(HIDDEN, "", text))
