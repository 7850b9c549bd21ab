"""The column that splits a truth, and the words for its parts."""

from collections.abc import Collection, Iterable

from .column_names import without_accents

USAGE = "Usage"
SPLITS = ("public", "private", "ignored")
_WORDS = {
    "Public": (
        "public pub pb publique publico publica pubblico pubblica oeffentlich offentlich publiczny publiczna"
        " publiek openbaar veřejný veřejná offentlig açık публичный публичная открытый открытая 公开 公開 パブリック"
    ),
    "Private": (
        "private priv prv pv privat prive privee privado privada privato privata prywatny prywatna hidden versteckt"
        " geheim verborgen soukromý soukromá dold skjult gizli özel приватный приватная закрытый закрытая скрытый"
        " скрытая 私有 非公开 非公開 プライベート"
    ),
    "Ignored": "ignored ignore ignoriert ignorieren ignoree ignorado ignorada ignorato unused",
}
_MOST_WORDS = 6
_OTHER = {"Public": "Private", "Private": "Public"}
_TRUTH_VALUES = dict.fromkeys(("1", "true", "yes", "ja", "oui", "si", "x"), True)
_TRUTH_VALUES |= dict.fromkeys(("0", "false", "no", "nein", "non"), False)
_FILLERS = ("is", "test", "part", "lb", "leaderboard", "set", "board", "score")


def _plain_words(text: str) -> list[str]:
    """The words of a text without case, accents and signs."""
    return "".join(letter for letter in without_accents(text).casefold() if letter.isalnum() or letter == " ").split()


_PARTS = {word: part for part, words in _WORDS.items() for word in _plain_words(words)}


def part_named(word: str) -> str:
    """``Public``, ``Private`` or ``Ignored`` for a word that means it; ``""`` for others.

    >>> part_named("öffentlich"), part_named("PRIVATE test"), part_named("cat")
    ('Public', 'Private', '')
    """
    named = [piece for piece in _plain_words(word) if piece not in _FILLERS]
    return _PARTS.get(named[0], "") if len(named) == 1 else ""


def known_part(cell: str, column: str = "") -> str:
    """The cell of this column as the readers know it: itself, or the part that it means.

    >>> known_part("privat"), known_part("0", "is_public"), known_part("?", "split")
    ('Private', 'Private', '?')
    """
    return cell if are_parts([cell]) else part_named(cell) or _part_by_truth(cell, column) or cell


def _part_by_truth(cell: str, column: str) -> str:
    """The part of a truth value in a column that is called like a part: 1 of `is_public`."""
    named, value = part_named(column.replace("_", " ")), _TRUTH_VALUES.get(cell.casefold())
    if named not in _OTHER or value is None:
        return ""
    return named if value else _OTHER[named]


def are_split_words(cells: Collection[str], column: str = "") -> bool:
    """Whether distinct cells of this column are words for parts, and both the public and the private one are there."""
    if not 2 <= len(cells) <= _MOST_WORDS:
        return False
    parts = {known_part(cell, column).capitalize() for cell in cells}
    return {"Public", "Private"} <= parts <= {"Public", "Private", "Ignored"}


def are_parts(cells: Iterable[str]) -> bool:
    """Whether these cells are only names of splits."""
    return {cell.casefold() for cell in cells} <= {*SPLITS, ""}
