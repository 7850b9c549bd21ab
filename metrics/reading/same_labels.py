"""One form for labels that mean the same: accents composed, plain spaces and signs; ``10.0`` as ``10``.

Both sides are read so. Columns that are written well are not copied.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from .columns import NAME_OF_DIGITS, to_decimal
from .repairs import HIDDEN
from .tables import pick, places_where, raw_cells, text_array

_CELLS = 20_000
"""Cells looked at together."""
_SIGNS = {
    "[\u2010-\u2015]": "-",
    "[\u2018-\u201b\u2039\u203a\u02bc\u00b4]": "'",
    "[\u201c-\u201f\u00ab\u00bb\u300c-\u300f\u300a\u300b]": '"',
    "\u2026": "...",
}
"""Dashes, apostrophes, quotes and dots as word processors write them."""
_SPACES = r"[ \t\x{a0}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}]+"

_PLAIN = r"^(0|-?[1-9][0-9]*)$"
_NUMERIC = r"^[+-]?\.?[0-9]"
_WITH_POINT = re.compile(r"(0|-?[1-9][0-9]*)\.0*")
_FEW = 100
_LONGEST = 40
"""The most digits of a number that is written without exponent."""


def composed_texts(texts: Any) -> Any:
    """An Arrow array of texts with letters and accents composed (NFC), as most programs write them; macOS writes them
    apart in names of files."""
    import pyarrow.compute as pc

    return texts if _are_composed(texts) else pc.utf8_normalize(texts, form="NFC")


def normal_labels(labels: Any) -> Any:
    """An Arrow array of labels, or of lists of them, with composed letters, plain spaces, dashes and quotes, and
    without invisible characters."""
    import pyarrow.compute as pc

    offsets, data = raw_cells(labels)
    text = data[offsets[0] : offsets[-1]].tobytes()
    if text.isascii() and b"  " not in text and b"\t" not in text:
        return labels
    found = pc.replace_substring_regex(composed_texts(labels), HIDDEN, "")
    for odd, sign in _SIGNS.items():
        found = pc.replace_substring_regex(found, odd, sign)
    return pc.replace_substring_regex(found, _SPACES, " ")


def plain_labels(labels: Any) -> Any:
    """The same, and ``10.0`` as ``10``."""
    found = normal_labels(labels)
    names = number_names(found, in_any_form=False)
    return text_array([names.get(text, text) for text in found.to_pylist()]) if names else found


def _are_composed(texts: Any) -> bool:
    offsets, data = raw_cells(texts)
    places = [*range(0, len(texts), _CELLS), len(texts)]
    blocks = (data[offsets[start] : offsets[end]].tobytes() for start, end in pairwise(places))
    return all(
        block.isascii() or unicodedata.is_normalized("NFC", block.decode("utf-8", "replace")) for block in blocks
    )


def are_numbers(labels: Iterable[str]) -> bool:
    """Whether all labels are numbers and none is a name of digits such as ``007``; false without labels."""
    labels = list(labels)
    return bool(labels) and all(to_decimal(one) is not None and not NAME_OF_DIGITS.match(one) for one in labels)


def number_names(labels: Any, *, in_any_form: bool) -> dict[str, str]:
    """Numbers of an Arrow array of labels that are not written plainly, and how they are: ``10.0`` is ``10``; with
    ``in_any_form`` also ``1e1``, ``+10`` and ``010``."""
    odd = _odd_numbers(labels)
    names = {label: _plain_number(label) for label in odd if in_any_form or _WITH_POINT.fullmatch(label)}
    return {label: name for label, name in names.items() if name != label}


def _odd_numbers(labels: Any) -> list[str]:
    """Labels that begin like a number and are no whole number as it is usually written."""
    import pyarrow.compute as pc

    if len(labels) <= _FEW:  # Arrow takes longer to begin
        return [one for one in labels.to_pylist() if re.match(_NUMERIC, one) and not re.fullmatch(_PLAIN[1:-1], one)]
    is_odd = pc.and_(pc.match_substring_regex(labels, _NUMERIC), pc.invert(pc.match_substring_regex(labels, _PLAIN)))
    odd: list[str] = pick(labels, places_where(is_odd)).to_pylist()
    return odd


def _plain_number(label: str) -> str:
    value = to_decimal(label)
    if value is None:
        return label
    sign, digits, exponent = value.as_tuple()
    if not value or abs(value.adjusted()) < _LONGEST:
        text = f"{value.copy_abs():f}" if value else "0"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return f"-{text}" if sign and value else text
    text = "".join(map(str, digits)).strip("0")
    zeros = len(digits) - len("".join(map(str, digits)).rstrip("0"))
    return f"{'-' * sign}{text}e{int(exponent) + zeros}"
