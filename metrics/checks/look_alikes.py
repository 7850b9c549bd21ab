"""Texts that differ only in what a reader does not see: case, white space, invisible characters, leading zeros."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ..core.errors import shown
from ..core.messages import EXAMPLES, Message, listed

_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")


def look_alikes(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different texts that look the same to a reader.

    >>> look_alikes(["01", "Cat", "1", "cat", "dog"])
    [('01', '1'), ('Cat', 'cat')]
    """
    first: dict[str, str] = {}
    found = []
    for text in texts:
        visible = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Cc"))
        seen = " ".join(unicodedata.normalize("NFKC", visible).casefold().split())
        seen = _LEADING_ZEROS.sub("", seen)
        twin = first.setdefault(seen, text)
        if twin != text:
            found.append((twin, text))
    return found


def in_pairs(pairs: Sequence[tuple[str, str]]) -> Message:
    """The first pairs in words."""
    examples = [Message("{one} and {other}", one=shown(one), other=shown(other)) for one, other in pairs[:EXAMPLES]]
    return listed(examples, len(pairs))
