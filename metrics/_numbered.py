"""Where a text stands in a column of texts that are one prefix and a number: ``7``, ``row12``, ``img_00263555``.

Most ids are. Their digits are read eight at a time and the number is a place in a table: no two texts share one, so
nothing is hashed, and nothing compared but the prefix.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from metrics._tables import raw_cells

_DIGITS = 8
_ROWS = 1 << 15  # so many numbers fit into a processor's cache
_NAME = re.compile(r"(.{0,32}?)([0-9]{1,8})", re.DOTALL)
_SPARE = np.zeros(8, np.uint8)

_NOUGHTS = np.uint64(0x3030303030303030)
_HIGH = np.uint64(0x8080808080808080)
_OVER_NINE = np.uint64(0x7676767676767676)  # lifts what is above nine into the highest bit of its byte
_BEFORE = np.array([(1 << 8 * (_DIGITS - used)) - 1 for used in range(_DIGITS + 1)], np.uint64)
_LEAST = np.array([0, 0, *(10**used for used in range(1, _DIGITS))], np.uint64)
# Neighbours become one number: digits, then pairs of them, then fours.
_JOINED = (
    (0x0F0F0F0F0F0F0F0F, 10 * 2**8 + 1, 8),
    (0x00FF00FF00FF00FF, 100 * 2**16 + 1, 16),
    (0x0000FFFF0000FFFF, 10_000 * 2**32 + 1, 32),
)
_NONE = np.uint64(2**64 - 1)


class _Words(NamedTuple):
    """Eight bytes of each of some texts as one number: the last ones, and those from a place on."""

    lengths: np.ndarray
    words: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, offsets: np.ndarray, data: np.ndarray) -> _Words:
        """Of cells of an Arrow array."""
        used = np.concatenate((_SPARE, data[int(offsets[0]) : int(offsets[-1])], _SPARE))
        words = np.ndarray((len(used) - 7,), "<u8", used, strides=(1,))
        return cls(np.diff(offsets), words, offsets - offsets[0])

    def last(self) -> np.ndarray:
        """What is in front of a shorter text is at the low end."""
        return self._at(self.starts[1:])

    def after(self, place: int) -> np.ndarray:
        """From this place on; what is behind the end is anything."""
        return self._at(np.minimum(self.starts[:-1] + np.int32(8 + place), len(self.words) - 1))

    def _at(self, places: np.ndarray) -> np.ndarray:
        step = int(places[1] - places[0]) if len(places) > 1 else 0
        if step and (self.lengths == step).all():  # cells of one length are read without looking for each
            found = self.words[int(places[0]) :: step][: len(places)]
            if len(found) == len(places):
                return found.copy()
        chosen: np.ndarray = self.words[places]
        return chosen


class Numbered:
    """The rows of an Arrow string array of prefixed numbers by their text; of equal texts the first row.

    ``width`` is how many digits all numbers have, 0 where none begins with a needless 0.
    """

    def __init__(self, prefix: bytes, width: int, table: np.ndarray) -> None:
        self._prefix = prefix
        self._width = width
        self._table = table

    @classmethod
    def of(cls, array: Any) -> Numbered | None:
        """``None`` where texts have other forms, or where the table would be large."""
        name = _NAME.fullmatch(array[0].as_py()) if len(array) else None
        if name is None:
            return None
        lengths = np.diff(raw_cells(array)[0])
        is_even = bool((lengths == lengths[0]).all())
        found = cls(name[1].encode(), len(name[2]) if is_even else 0, np.zeros(0, np.int32))
        numbers = found._numbers(array)
        if (highest := int(numbers.max())) > 4 * len(array) + _ROWS:
            return None
        # Nobody has the last number: there all others are led.
        found._table = np.full(highest + 2, -1, np.int32)
        found._table[numbers[::-1].astype(np.int64)] = np.arange(len(array) - 1, -1, -1, dtype=np.int32)
        return found

    def find(self, texts: Any) -> np.ndarray:
        """The row of each text of an Arrow string array, -1 where it is unknown."""
        numbers = self._numbers(texts)
        np.minimum(numbers, np.uint64(len(self._table) - 1), out=numbers)
        return self._table[numbers.view(np.int64)]

    def _numbers(self, array: Any) -> np.ndarray:
        """The number of each text, ``_NONE`` where it has another form."""
        offsets, data = raw_cells(array)
        found = np.empty(len(array), np.uint64)
        for first in range(0, len(found), _ROWS):
            words = _Words.of(offsets[first : first + _ROWS + 1], data)
            found[first : first + _ROWS] = self._numbers_of(words)
        return found

    def _numbers_of(self, words: _Words) -> np.ndarray:
        digits = words.lengths - np.int32(len(self._prefix))
        used = digits.clip(0, _DIGITS)
        number: np.ndarray = words.last()
        before = _BEFORE[used]
        number = (number & ~before | _NOUGHTS & before) ^ _NOUGHTS
        is_good = ((number + _OVER_NINE) | number) & _HIGH == 0
        for mask, factor, shift in _JOINED:
            number &= np.uint64(mask)
            number *= np.uint64(factor)
            number >>= np.uint64(shift)
        is_good &= digits == self._width if self._width else number >= _LEAST[used]
        is_good &= (digits > 0) & (digits <= _DIGITS)
        for place in range(0, len(self._prefix), 8):
            part = self._prefix[place : place + 8]
            same = words.after(place) ^ np.uint64(int.from_bytes(part, "little"))
            is_good &= same & np.uint64((1 << 8 * len(part)) - 1) == 0
        number[~is_good] = _NONE
        return number
