"""Matching the rows of a submission with the truth by id. The readers compare ids as text."""

from typing import Any

import numpy as np

from ..core.errors import Problem
from ..core.lazy import cached_property
from .id_problems import MAX_IDS, blank_ids, missing_ids, repeated_ids, unknown_ids
from .tables import Table, blank_rows, codes_among, pick, plain, texts_of

_CLOSE = 4
"""The most numbers between two ids, on average, for which an array is faster than a hash table."""

_CANONICAL = r"^(0|-?[1-9][0-9]{0,14})$"
_WITH_POINT = r"^(0|-?[1-9][0-9]{0,14})\.0+$"


class Ids:
    """The ids of a truth, kept for thousands of submissions."""

    def __init__(self, values: Any) -> None:
        self.values = values
        """An Arrow array of texts or, in frames, of numbers."""

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def array(self) -> Any:
        return texts_of(self.values)

    @cached_property
    def are_integers(self) -> bool:
        """Whether all ids are canonical integers below 10¹⁵: only then ``7.0`` is accepted for ``7``."""
        import pyarrow.compute as pc

        return bool(pc.all(pc.match_substring_regex(self.array, _CANONICAL)).as_py())

    @cached_property
    def texts(self) -> list[str]:
        """The ids as Python strings, for messages."""
        texts: list[str] = self.array.to_pylist()
        return texts

    @property
    def in_order(self) -> list[str]:
        """The sorted ids, so that their order does not reveal that of the truth's rows, which may be the order of the
        answers."""
        return sorted(self.texts, key=int if self.are_integers else str)

    def find(self, ids: Any) -> np.ndarray:
        """The truth row of each given id, -1 if it is unknown. Whole numbers of two frames are compared as they are."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if ids.type == self.values.type == pa.int64():
            return self._rows_of_numbers(ids)
        ids = texts_of(ids)
        found = codes_among(ids, self.array).copy()
        unknown = np.flatnonzero(found < 0)
        if len(unknown) and self.are_integers:
            texts = pick(ids, unknown)
            short = pc.replace_substring_regex(texts, r"\.0+$", "")
            plain_texts = pc.if_else(pc.match_substring_regex(texts, _WITH_POINT), short, texts)
            found[unknown] = codes_among(plain_texts, self.array)
        return found

    def _rows_of_numbers(self, ids: Any) -> np.ndarray:
        least, rows = self._row_by_number
        if not len(rows):
            return codes_among(ids, self.values).copy()
        places = plain(ids, np.int64) - least  # may overflow, but not to a place in the array
        found: np.ndarray = rows[np.where((places >= 0) & (places < len(rows) - 1), places, len(rows) - 1)]
        return found

    @cached_property
    def _row_by_number(self) -> tuple[np.int64, np.ndarray]:
        """The least of whole numbers that lie close together, and the row of each number from there on, -1 behind the
        last; no rows for other ids."""
        numbers = plain(self.values, np.int64)
        if not len(numbers):
            return np.int64(0), np.zeros(0, np.int32)
        least = numbers.min()
        span = int(numbers.max()) - int(least)
        if span >= _CLOSE * len(numbers):
            return least, np.zeros(0, np.int32)
        rows = np.full(span + 2, -1, np.int32)
        rows[numbers - least] = np.arange(len(numbers))
        return least, rows

    def align(self, table: Table, column: str, *, may_miss: bool) -> tuple[np.ndarray, list[Problem]]:
        """The place of every truth row in the submission (-1 if it is missing), and all problems of ids. If the file
        has broken rows, missing ids are not reported, because they may be on those rows."""
        ids = table.values(column)
        if len(ids) == len(self) and ids.equals(self.values):
            return np.arange(len(self)), []
        found = self.find(ids)
        if len(found) == len(self) and (found >= 0).all():
            rows = np.full(len(self), -1, np.int32)
            rows[found] = np.arange(len(found))
            if (rows >= 0).all():
                return rows, []  # each id once
        known = np.flatnonzero(found >= 0)
        counts = np.bincount(found[known], minlength=len(self))
        places = np.full(len(self), -1, np.int32)
        places[found[known]] = known
        problems = blank_ids(table, column)
        unknown = np.setdiff1d(np.flatnonzero(found < 0), blank_rows(ids))
        if len(unknown):
            in_order = self.in_order if len(self) <= MAX_IDS else []
            problems.append(unknown_ids(table, in_order, unknown, column))
        if (counts > 1).any():
            problems.append(repeated_ids(table, column, found, counts))
        if not may_miss and not table.problems and (counts == 0).any():
            problems.append(missing_ids(table, self.array, np.flatnonzero(counts == 0), column))
        return places, problems
