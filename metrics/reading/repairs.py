"""Texts as they were meant before a program damaged their letters or spaces."""

from __future__ import annotations

import html
import re

_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]{2,8});")
# Windows-1252 has other signs than Latin-1 at 27 of these bytes.
_BYTES_OF_1252 = {ord(sign): byte for byte in range(0x80, 0xA0) if (sign := bytes([byte]).decode("cp1252", "ignore"))}
HIDDEN = "[\u200b\u2060\ufeff\u00ad]"
_TWO_SCRIPTS = re.compile(r"(?=\w*[A-Za-z])(?=\w*[\u0400-\u04ff])\w+")
_LATIN = str.maketrans("асеіјорѕухАВСЕНІЈКМОРЅТХ", "aceijopsyxABCEHIJKMOPSTX")
_FORMULA = re.compile(r'="(.*)"', re.DOTALL)
_ODD_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def mend_letters(text: str) -> str:
    """The text without damage to its letters: saved twice, written as HTML or as a formula of a spreadsheet, or with
    Cyrillic letters in a Latin word.

    >>> mend_letters("M\u00c3\u00bcller"), mend_letters("R&amp;D"), mend_letters("Müller")
    ('Müller', 'R&D', 'Müller')
    """
    found = html.unescape(text) if _ENTITY.search(text) else text
    if formula := _FORMULA.fullmatch(found):
        found = formula[1]
    if found.isascii():
        return found
    return _TWO_SCRIPTS.sub(lambda word: word[0].translate(_LATIN), mend_double_utf8(found))


def mend_double_utf8(text: str) -> str:
    """“Müller” for “MÃ¼ller”: the text of UTF-8 that was read as Windows-1252 and saved as UTF-8 again."""
    try:
        return text.translate(_BYTES_OF_1252).encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def plainly_spaced(text: str) -> str:
    """The text with plain spaces and without invisible characters."""
    return text if text.isascii() else _ODD_SPACE.sub(" ", re.sub(HIDDEN, "", text))
