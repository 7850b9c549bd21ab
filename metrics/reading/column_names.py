"""Names of columns as people write them, compared without case, runs of white space, invisible characters and, where
only one column can be meant, brackets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

TRIMMED = (
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""White space that is removed around ids, labels and names, as by Python's ``str.strip``."""
_INVISIBLE = TRIMMED + "\xad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
_RUN = re.compile(r"[^\S\t]{2,}|[^\S\t ]")  # a tab may separate columns
_BASE_LETTERS = str.maketrans("łŁøØı", "lLoOi")
_POINT = re.compile(r"(?<=[0-9])\.0+$")
"""The end of the name of a column for a class that pandas took for a number."""
_BRACKETS = re.compile(r"[()\[\]{}<>]")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|<[^<>]*>")


def without_accents(text: str) -> str:
    """The text with the base of each letter: ``Prüfer`` as ``Prufer``."""
    letters = unicodedata.normalize("NFKD", text.translate(_BASE_LETTERS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def clean_name(name: str) -> str:
    """The name without invisible characters around it, and with single spaces.

    >>> clean_name("  house \\xa0 price ")
    'house price'
    """
    return _RUN.sub(" ", name.strip(_INVISIBLE))


def name_key(name: str) -> str:
    """The form in which names of the same column are equal, such as ``House  Price`` and ``house price``."""
    if name.isascii() and name.isalnum():
        return name.lower()
    seen = "".join(letter for letter in unicodedata.normalize("NFC", name) if unicodedata.category(letter) != "Cf")
    return " ".join(seen.split()).casefold()


def _without_brackets(name: str) -> str:
    return name_key(_BRACKETS.sub(" ", name))


def _without_bracketed(name: str) -> str:
    return name_key(_BRACKETED.sub(" ", name)) or name_key(name)


def _without_zeros(name: str) -> str:
    return _POINT.sub("", name_key(name))


_KEYS: tuple[Callable[[str], str], ...] = (name_key, _without_brackets, _without_bracketed, _without_zeros)


def matched_names(
    names: Sequence[str], expected: Sequence[str], keys: Sequence[Callable[[str], str]] = _KEYS
) -> list[str]:
    """The names of a file's columns, in the writing that is expected where only one column can be meant: names are
    compared by each of the ``keys`` in turn.

    >>> matched_names(["ID", "Price [EUR]", "note"], ["id", "price (eur)"])
    ['id', 'price (eur)', 'note']
    """
    found = list(names)
    for key in keys:
        missing = [name for name in expected if name not in found]
        others = [name for name in found if name not in expected]
        if not missing or not others:
            return found
        for name in missing:
            is_like = [other for other in others if key(other) == key(name)]
            if len(is_like) == 1 and sum(key(one) == key(name) for one in missing) == 1:
                found[found.index(is_like[0])] = name
    return found


def equal_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different names of the same column."""
    seen: dict[str, str] = {}
    pairs = [(seen.setdefault(name_key(name), name), name) for name in names if name]
    return [(first, name) for first, name in pairs if first != name]
