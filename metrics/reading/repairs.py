"""Texts as they were meant before a program damaged their letters or spaces."""

import html
import re
import unicodedata
from collections.abc import Mapping

_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]{2,8});")
# Windows-1252 has other signs than Latin-1 at 27 of these bytes.
_BYTES_OF_1252 = {ord(sign): byte for byte in range(0x80, 0xA0) if (sign := bytes([byte]).decode("cp1252", "ignore"))}
HIDDEN = "[\u200b\u2060\ufeff\u00ad]"
_TWO_SCRIPTS = re.compile(r"(?=\w*[A-Za-z])(?=\w*[\u0400-\u04ff])\w+")
LATIN_LOOKS = str.maketrans("асеіјорѕухАВСЕНІЈКМОРЅТХ", "aceijopsyxABCEHIJKMOPSTX")
_FORMULA = re.compile(r'="(.*)"', re.DOTALL)
_PLAIN = dict(zip("\u2018\u2019\u201c\u201d\u2010\u2011\u2013", "''\"\"---", strict=True))
CURLY = {
    "'": ("\u2018", "\u2019"),
    '"': ("\u201c", "\u201d"),
    " - ": (" \u2013 ", " \u2013 "),
    "...": ("\u2026", "\u2026"),
}
"""Plain signs, and those that word processors write in their place: in front of a word, and elsewhere."""
_SPACES = re.compile(" {2,}")


def mend_letters(text: str) -> str:
    """The text without damage to its letters: saved twice, written as HTML or as a formula of a spreadsheet, or with
    Cyrillic letters in a Latin word.

    >>> mend_letters("M\u00c3\u00bcller"), mend_letters("R&amp;D"), mend_letters("Müller")
    ('Müller', 'R&D', 'Müller')
    """
    found = html.unescape(text) if "&" in text and _ENTITY.search(text) else text
    if found[:2] == '="' and (formula := _FORMULA.fullmatch(found)):
        found = formula[1]
    if found.isascii():
        return found
    return _TWO_SCRIPTS.sub(lambda word: word[0].translate(LATIN_LOOKS), mend_double_utf8(found))


def mend_double_utf8(text: str) -> str:
    """“Müller” for “MÃ¼ller”: the text of UTF-8 that was read as Windows-1252 and saved as UTF-8 again."""
    try:
        return text.translate(_BYTES_OF_1252).encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def with_plain_signs(text: str, known: set[str]) -> str:
    """The text with plain letters, spaces, quotes and hyphens for those that only look like them, and without hidden
    characters. Characters in ``known`` stay. Several spaces become one, unless ``known`` has two spaces.

    >>> with_plain_signs("the  \ufb01rst\u00a0of \u201cten\u201d", set("é"))
    'the first of "ten"'
    """
    if text.isascii():
        return text if "  " not in text or "  " in known else _SPACES.sub(" ", text)
    odd = {sign for sign in text if not sign.isascii()} - known
    plain = {ord(sign): "" if sign in HIDDEN else unicodedata.normalize("NFKC", sign) for sign in odd}
    found = unicodedata.normalize("NFC", text.translate(plain | {ord(sign): _PLAIN[sign] for sign in odd & {*_PLAIN}}))
    return found if "  " in known else _SPACES.sub(" ", found)


def with_signs(text: str, known: set[str], curly: Mapping[str, tuple[str, str]]) -> str:
    """The text with plain signs in place of those that are not ``known``, and with ``curly`` ones for others.

    >>> with_signs("it's - so", set("–’"), CURLY)
    'it’s – so'
    """
    found = with_plain_signs(text, known)
    for plain, (opening, closing) in curly.items():
        if plain in found:
            found = re.sub(rf"(?<!\S){re.escape(plain)}", opening, found).replace(plain, closing)
    return found
