"""Where a text stands in a column of distinct texts: a table of hashes, made once and asked thousands of times.

Eight bytes of all texts are looked at together, as one number each. A hash only proposes a row; the bytes decide.

Arrow's ``index_in`` hashes the truth's ids again for each piece of a file. With it a file of 1,000,000 rows took 0.5 to
1.8 s more of a road from upload to score of 1.4 s, and one of 100,000 rows 30 ms more of 0.4 s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .tables import pick, plain, raw_cells

_WIDEST = 64
"""Bytes of the longest text that is looked up here; longer ones are left to Arrow."""

_MOST_STEPS = 200
"""Places that are tried for one text. Only texts chosen to collide need as many."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MASKS = np.array([(1 << 8 * used) - 1 for used in range(9)], np.uint64)


def _words_of(array: Any, width: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The first ``width`` bytes of each cell as numbers of eight bytes, zero behind its end, and the cells that are
    longer."""
    offsets, data = raw_cells(array)
    lengths = np.diff(offsets)
    longest = int(lengths.max())
    if 8 <= longest == int(lengths.min()) <= width:
        cells = data[int(offsets[0]) : int(offsets[-1])]
        return [_even_word(cells, longest, place) for place in range(0, width, 8)], lengths[:0]
    # Eight bytes more, so that the last cell can be read in one piece too.
    used = np.concatenate((data[: int(offsets[-1])], np.zeros(8, np.uint8)))
    from_each = np.ndarray((len(used) - 7,), "<u8", used, strides=(1,))
    words = []
    for place in range(0, width, 8):
        word = from_each[np.minimum(offsets[:-1] + place, len(from_each) - 1)]
        word &= _MASKS[np.clip(lengths - place, 0, 8)]
        words.append(word)
    return words, np.flatnonzero(lengths > width)


def _even_word(cells: np.ndarray, length: int, place: int) -> np.ndarray:
    """The same of cells of one length, at least eight."""
    if place >= length:
        return np.zeros(len(cells) // length, np.uint64)
    first = min(place, length - 8)  # what is read too early is pushed out
    word = np.ndarray((len(cells) // length,), "<u8", cells, offset=first, strides=(length,)).copy()
    if first < place:
        word >>= np.uint64(8 * (place - first))
    return word


def _slots_of(words: list[np.ndarray], bits: int) -> np.ndarray:
    """Where each text belongs in a table of ``2 ** bits`` places."""
    mixed = words[0] * _FACTOR
    for word in words[1:]:
        mixed ^= mixed >> np.uint64(32)
        mixed += word
        mixed *= _FACTOR
    mixed ^= mixed >> np.uint64(29)
    mixed *= _FACTOR
    mixed >>= np.uint64(64 - bits)
    slots: np.ndarray = mixed.view(np.int64)
    return slots


class Index:
    """The rows of an Arrow string array by their text; of equal texts the first row.

    Keeps about 16 bytes for each text, and the texts once more.
    """

    def __init__(self, array: Any) -> None:
        self._array = array
        lengths = np.diff(raw_cells(array)[0])
        self._width = int(lengths.max(initial=0))
        self._bits = max(4, (4 * len(array)).bit_length())
        self._words: list[np.ndarray] = []
        self._table: np.ndarray | None = None
        if 0 < self._width <= _WIDEST:
            self._words, _ = _words_of(array, self._width)
            self._table = self._made()

    def find(self, texts: Any) -> np.ndarray:
        """The row of each text of an Arrow string array, -1 where it is unknown."""
        if self._table is None or not len(texts):
            return self._found_by_arrow(texts)
        words, too_long = _words_of(texts, self._width)
        slots = _slots_of(words, self._bits)
        rows: np.ndarray = self._table[slots]
        rows[too_long] = -1
        waiting = np.arange(len(rows))
        is_wrong = self._differs(words, rows) & (rows >= 0)
        for _ in range(_MOST_STEPS):
            # Of those that wait all is kept together: they are few, and stand far from each other.
            some = np.flatnonzero(is_wrong)
            waiting, slots, *words = (one[some] for one in (waiting, slots, *words))
            if not len(waiting):
                return rows
            slots = (slots + 1) & (len(self._table) - 1)
            found = rows[waiting] = self._table[slots]
            is_wrong = self._differs(words, found) & (found >= 0)
        waiting = waiting[is_wrong]
        rows[waiting] = self._found_by_arrow(pick(texts, waiting))
        return rows

    def _differs(self, words: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Whether texts are others than those of the rows; row -1 may say anything."""
        differs = np.zeros(len(rows), bool)
        places = np.maximum(rows, 0)
        for asked, known in zip(words, self._words, strict=True):
            differs |= asked != known[places]
        return differs

    def _made(self) -> np.ndarray | None:
        """Rows by slot, -1 where it is free. ``None`` where the texts will not settle."""
        table = np.full(1 << self._bits, -1, np.int32)
        slots = _slots_of(self._words, self._bits)
        waiting = np.arange(len(slots), dtype=np.int32)
        for _ in range(_MOST_STEPS):
            wanted = slots[waiting]
            is_free = table[wanted] < 0
            # Of several rows that want one place the last one written gets it: the first row.
            table[wanted[is_free][::-1]] = waiting[is_free][::-1]
            waiting = waiting[table[wanted] != waiting]
            if not len(waiting):
                return table
            slots[waiting] = (slots[waiting] + 1) & (len(table) - 1)
        return None

    def _found_by_arrow(self, texts: Any) -> np.ndarray:
        import pyarrow.compute as pc

        found = pc.index_in(texts, value_set=self._array)
        rows = plain(found, np.int32)
        if not found.null_count:
            return rows
        is_valid = np.unpackbits(np.frombuffer(found.buffers()[0], np.uint8), bitorder="little")
        known: np.ndarray = np.where(is_valid[found.offset : found.offset + len(found)], rows, -1)
        return known
