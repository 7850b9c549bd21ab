"""Dates and times as programs and people write them, with the year, month and day in any order."""

import re
from collections.abc import Callable, Hashable, Iterable
from typing import Any

_DATE = re.compile(
    r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})"
    r"(?:[T ]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(?: ?(Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?")
_LIKE_DATE = re.compile(r"(?:[^\W\d_]{3,10}[.,]? )?[0-9].{1,40}")
"""Digits and more, perhaps behind the name of a month or day."""
_DIGITS, _FRACTION = re.compile("[0-9]+"), re.compile(r"(?<=:[0-9]{2})\.[0-9]+")

Form = Callable[[str], Hashable | None]
"""What all writings of a value have in common; ``None`` for texts that are no such value."""


def _date_in(order: str) -> Callable[[str], tuple[Any, ...] | None]:
    """Dates with year, month and day in an order; those without a time are at midnight."""

    def form(text: str) -> tuple[Any, ...] | None:
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


DATES = {order: _date_in(order) for order in ("YMD", "DMY", "MDY")}


class DateForm:
    """The form of dates or times like a ``sample``; ``others`` tell whether the day or the month is first."""

    def __init__(self, sample: str, others: Iterable[str]) -> None:
        self.sample = sample
        self._is_padded = re.search("(?<![0-9])0[0-9]", sample) is not None
        self._shape = self._shape_of(sample)
        similar = [sample, *(one for one in others if self._shape_of(one) == self._shape)]
        self._orders = [order for order, form in DATES.items() if None not in map(form, similar)]

    def _shape_of(self, text: str) -> str:
        def shape(digits: re.Match[str]) -> str:
            size = len(digits[0])
            return "9" * size if self._is_padded or size > 2 else "9"

        return _DIGITS.sub(shape, _FRACTION.sub(".", text))

    def is_foreign(self, text: str) -> bool:
        """Whether a text is a date in another form than the sample's."""
        if self._shape_of(text) != self._shape:
            return _LIKE_DATE.fullmatch(text) is not None
        return bool(self._orders) and not any(DATES[order](text) for order in self._orders)

    def cure(self, text: str) -> str | None:
        """The date in the sample's form; ``None`` if the day may be the month, or more than the form differs."""
        found = {date for form in DATES.values() if (date := form(text)) is not None}
        own = DATES[self._orders[0]](self.sample) if len(self._orders) == 1 else None
        if own is None or len(found) != 1:
            return None
        *numbers, fraction, zone = found.pop()
        parts = dict(zip("YMD", numbers, strict=False))
        given = [*(parts[name] for name in self._orders[0]), *numbers[3:]]
        if fraction or own[-2] or zone != own[-1] or any(given[len(_DIGITS.findall(self.sample)) :]):
            return None
        left = iter(given)
        return _DIGITS.sub(lambda digits: f"{next(left):0{len(digits[0]) if self._is_padded else 1}}", self.sample)


def date_form(sample: str, others: Iterable[str]) -> DateForm | None:
    """The form of dates like the sample; ``None`` if this is none.

    >>> form = date_form("2026-03-01", [])
    >>> form.is_foreign("1.3.2026"), form.cure("31.3.2026"), form.cure("1.3.2026"), form.is_foreign("2026-12-31")
    (True, '2026-03-31', None, False)
    """
    is_date = _TIME.fullmatch(sample) is not None or any(form(sample) for form in DATES.values())
    return DateForm(sample, others) if is_date else None
