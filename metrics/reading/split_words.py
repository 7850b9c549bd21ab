"""Words for the two parts of a split, in the languages of those who write such files."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from .headers import are_parts

_WORDS = {
    "Public": "public pub publique publico publica pubblico pubblica oeffentlich offentlich publiczny publiek openbaar",
    "Private": (
        "private priv privat prive privee privado privada privato privata prywatny hidden versteckt geheim verborgen"
    ),
    "Ignored": "ignored ignore ignoriert ignorieren ignoree ignorado ignorada ignorato unused",
}
_MOST_WORDS = 6
_FILLERS = ("test", "part", "lb", "leaderboard", "set", "board", "score")
_PARTS = {word: part for part, words in _WORDS.items() for word in words.split()}


def part_named(word: str) -> str:
    """``Public``, ``Private`` or ``Ignored`` for a word that means it; ``""`` for others.

    >>> part_named("öffentlich"), part_named("PRIVATE test"), part_named("cat")
    ('Public', 'Private', '')
    """
    letters = unicodedata.normalize("NFKD", word).casefold()
    plain = "".join(letter for letter in letters if letter.isalnum() or letter == " ").split()
    named = [piece for piece in plain if piece not in _FILLERS]
    return _PARTS.get(named[0], "") if len(named) == 1 else ""


def known_part(cell: str) -> str:
    """The cell as the readers know it: itself, or the part that it means."""
    return cell if are_parts([cell]) else part_named(cell) or cell


def are_split_words(cells: Collection[str]) -> bool:
    """Whether distinct cells are words for parts, and both the public and the private one are there."""
    if not 2 <= len(cells) <= _MOST_WORDS:
        return False
    parts = {part_named(cell) for cell in cells}
    return {"Public", "Private"} <= parts and "" not in parts
