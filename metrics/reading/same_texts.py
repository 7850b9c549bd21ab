"""Texts that mean the same in one form: letters composed with their accents, single spaces, no invisible characters.

Both sides are read so. Columns that are written well are not copied.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import Any

from .tables import raw_cells

_CELLS = 20_000
"""Cells looked at together."""
_HIDDEN = "[\u200b\u2060\ufeff\u00ad]"
_SPACES = r"[ \t\x{a0}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}]+"


def composed(texts: Any) -> Any:
    """An Arrow array of texts with letters and accents composed (NFC), as most programs write them; macOS writes them
    apart in names of files."""
    import pyarrow.compute as pc

    return texts if _are_composed(texts) else pc.utf8_normalize(texts, form="NFC")


def normal_labels(labels: Any) -> Any:
    """An Arrow array of labels, or of lists of them, composed and without double spaces and invisible characters."""
    import pyarrow.compute as pc

    offsets, data = raw_cells(labels)
    text = data[offsets[0] : offsets[-1]].tobytes()
    if text.isascii() and b"  " not in text and b"\t" not in text:
        return labels
    found = pc.replace_substring_regex(composed(labels), _HIDDEN, "")
    return pc.replace_substring_regex(found, _SPACES, " ")


def _are_composed(texts: Any) -> bool:
    offsets, data = raw_cells(texts)
    places = [*range(0, len(texts), _CELLS), len(texts)]
    blocks = (data[offsets[start] : offsets[end]].tobytes() for start, end in pairwise(places))
    return all(
        block.isascii() or unicodedata.is_normalized("NFC", block.decode("utf-8", "replace")) for block in blocks
    )
