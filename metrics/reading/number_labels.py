"""Labels that are numbers by their values: ``10.0`` is ``10``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .columns import NAME_OF_DIGITS, to_decimal
from .tables import pick, places_where

_CELLS = 20_000
"""Cells looked at together."""
_HIDDEN = re.compile("[\u200b\u2060\ufeff\u00ad]")
_PLAIN = r"^(0|-?[1-9][0-9]*)$"
_NUMERIC = r"^[+-]?\.?[0-9]"
_WITH_POINT = re.compile(r"(0|-?[1-9][0-9]*)\.0*")
_LONGEST = 40
"""The most digits of a number that is written without exponent."""


def are_numbers(labels: Iterable[str]) -> bool:
    """Whether all labels are numbers and none is a name of digits such as ``007``; false without labels."""
    labels = list(labels)
    return bool(labels) and all(to_decimal(one) is not None and not NAME_OF_DIGITS.match(one) for one in labels)


def number_names(labels: Any, *, in_any_form: bool) -> dict[str, str]:
    """Numbers of an Arrow array of labels that are not written plainly, and how they are: ``10.0`` is ``10``; with
    ``in_any_form`` also ``1e1``, ``+10`` and ``010``."""
    import pyarrow.compute as pc

    is_odd = pc.and_(pc.match_substring_regex(labels, _NUMERIC), pc.invert(pc.match_substring_regex(labels, _PLAIN)))
    odd = pick(labels, places_where(is_odd)).to_pylist()
    names = {label: _plain_number(label) for label in odd if in_any_form or _WITH_POINT.fullmatch(label)}
    return {label: name for label, name in names.items() if name != label}


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
