"""Ids in another writing than the expected ones: dates in another format, lost zeros, another case.

The readers compare ids as text. A conversion is offered where each id can stand for one of the expected only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence

from .column_names import name_key

MAX_IDS = 200_000
"""The most ids that are compared."""

Form = Callable[[str], Hashable | None]
"""What all writings of an id have in common; ``None`` for texts that are no such id."""

_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
_MAX_EXPONENT = 15
_EXPONENT = re.compile(r"([0-9]+)(?:\.([0-9]+))?e\+?([0-9]{1,2})")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
_DATE = re.compile(
    r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})"
    r"(?:[T ]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(?: ?(Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_ORDERS = ("YMD", "DMY", "MDY")


def loose_text(text: str) -> str:
    """The text without case, leading zeros, ``.0``, exponents, invisible characters and runs of white space.

    >>> loose_text("IMG_007"), loose_text("7.0"), loose_text("007"), loose_text("3e+05")
    ('img_7', '7', '7', '300000')
    """
    plain = name_key(text)
    if found := _WHOLE.fullmatch(plain):
        plain = found[1]
    elif (found := _EXPONENT.fullmatch(plain)) and len(found[2] or "") <= int(found[3]) <= _MAX_EXPONENT:
        plain = found[1] + (found[2] or "").ljust(int(found[3]), "0")
    return _ZEROS.sub("", plain)


def _date_in(order: str) -> Form:
    """Dates with year, month and day in an order; those without a time are at midnight."""

    def form(text: str) -> Hashable | None:
        found = _DATE.fullmatch(text)
        if found is None:
            return None
        first, _, second, third, *times, zone = found.groups()
        parts = dict(zip(order, (first, second, third), strict=True))
        year, month, day = (int(parts[name]) for name in "YMD")
        if len(parts["Y"]) != 4 or not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        *clock, fraction = (part or "" for part in times)
        zone = "+00:00" if zone == "Z" else zone and f"{zone[:3]}:{zone[-2:]}"
        return year, month, day, *(int(part or 0) for part in clock), fraction.rstrip("0"), zone

    return form


_DATES = tuple(map(_date_in, _ORDERS))


def written_as_expected(ids: Sequence[str], expected: Sequence[str]) -> Mapping[str, str] | None:
    """Each id that is not expected → the one that it stands for; ``None`` if some stand for none, for one that is there
    already, or for several.

    >>> written_as_expected(["1.3.2026", "2.3.2026"], ["2026-03-01 00:00:00", "2026-03-02 00:00:00"])
    {'1.3.2026': '2026-03-01 00:00:00', '2.3.2026': '2026-03-02 00:00:00'}
    """
    known = set(expected)
    foreign = [name for name in dict.fromkeys(ids) if name not in known]
    if not foreign or len(known) > MAX_IDS:
        return None
    taken = known.intersection(ids)
    found: list[dict[str, str]] = []
    for of_expected, of_ids in [(loose_text, loose_text), *((one, other) for one in _DATES for other in _DATES)]:
        matched = _match_ids(foreign, expected, of_expected, of_ids)
        if matched and not taken.intersection(matched.values()) and matched not in found:
            found.append(matched)
    return found[0] if len(found) == 1 else None


def _match_ids(foreign: Sequence[str], expected: Sequence[str], of_expected: Form, of_ids: Form) -> dict[str, str]:
    """The expected id of each foreign one; empty if one has none or several, or two have the same."""
    meant: dict[Hashable, str | None] = {}
    for name in expected:
        if (key := of_expected(name)) is not None:
            meant[key] = None if key in meant else name
    keys = [of_ids(name) for name in foreign]
    twins = [None if key is None else meant.get(key) for key in keys]
    found = {name: twin for name, twin in zip(foreign, twins, strict=True) if twin}
    return found if len(found) == len(foreign) == len(set(found.values())) else {}
