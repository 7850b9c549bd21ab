"""Names that people enter: tidied, and compared by their looks.

Unicode has many letters that look the same. A name is taken if another one has the same skeleton, as in Unicode TR39:
compatibility forms unified, each letter replaced by the representative of its lookalikes, case ignored.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal

from django.utils.text import slugify

# Two lookalikes that the table of Unicode leaves out.
_MARK = "\u200e"
_FURTHER = {"ⲁ": "a", "п": "n"}


# Letters that Unicode does not decompose into a base letter and an accent; casefolding makes `ß` to `ss`.
BASE_LETTERS = str.maketrans({"æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


def slug_from_title(title: str) -> str:
    """A title as part of a URL; `""` if it has no Latin letter."""
    return slugify(title.casefold().translate(BASE_LETTERS))


def without_accents(text: str) -> str:
    """The text without case and accents, for searches."""
    bases = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", bases.casefold().translate(BASE_LETTERS))


def clean_text(text: str, form: Literal["NFC", "NFKC"] = "NFKC") -> str:
    """Visible characters only, single spaces; compatibility forms unified, unless `form` is NFC."""
    unified = unicodedata.normalize(form, text)
    visible = "".join(c for c in unified if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join(visible.split())


def lookalike_key(name: str) -> str:
    """The skeleton of a name; names with the same skeleton look the same."""
    bases = unicodedata.normalize("NFD", clean_text(name)).translate(_lookalike_table()).casefold()
    return unicodedata.normalize("NFC", bases.translate(_lookalike_table()).casefold())


@cache
def _lookalike_table() -> dict[int, str]:
    """Code point → the representative of all letters that look like it, an ASCII letter if there is one.

    The package lists pairs of confusables of Unicode TR39 in both directions, some wrapped in direction marks.
    """
    from confusable_homoglyphs import confusables  # here, because its table takes 7 MB of each process that has it

    pairs = {
        (one.strip(_MARK), other["c"].strip(_MARK))
        for one, others in confusables.confusables_data.items()
        for other in others
    }
    lookalikes: dict[str, set[str]] = {}
    for one, other in [*pairs, *_FURTHER.items()]:
        larger, smaller = sorted((lookalikes.get(text, {text}) for text in (one, other)), key=len, reverse=True)
        if one in larger and other in larger:
            continue
        larger |= smaller
        lookalikes |= dict.fromkeys(smaller | {one, other}, larger)
    groups = list({id(group): group for group in lookalikes.values()}.values())
    simple = {text: best for group in groups for best in [min(group, key=_representative_order)] for text in group}
    found = dict(simple)
    for group in groups:
        # Capitals count as small letters here, so a letter also looks like what its capital looks like.
        found |= dict.fromkeys(group, _through_capital(group, simple) or min(group, key=_representative_order))
    return {
        ord(letter): "".join(found.get(one, one) for one in text) for letter, text in found.items() if len(letter) == 1
    }


def _representative_order(text: str) -> tuple[bool, int, bool, bool, str]:
    """Sort key for representatives: ASCII first, then more letters (`rn` before `m`), letters before digits."""
    return (not text.isascii(), -len(text) if text.isascii() else 0, not text.isalpha(), text.isupper(), text)


def _through_capital(group: set[str], simple: dict[str, str]) -> str:
    """The ASCII letter that looks like the capital of one of these letters; `""` if one of them is ASCII itself."""
    if any(text.isascii() for text in group):
        return ""
    through = {simple.get(text.upper(), "") for text in group}
    return min((text for text in through if text and text.isascii() and text.isalpha()), default="")
