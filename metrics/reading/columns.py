"""One column of a file on its way to a metric, and what reads it: the base of every kind of column."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.arrays import Coded, take
from ..core.errors import Problem, shown
from ..core.messages import EXAMPLES, Message, Param, Plural, listed
from .ids import over_several_lines
from .tables import Table, blank_rows, line_breaks, pick, plain
from .text import LONGEST_LINE

WORDS = ("scab", "rust", "healthy", "Straße", "ΟΔΟΣ", "x-1", "007", "complex")
"""What invented files are made of."""

MISSING = Plural(
    "{count} value of {column} is missing: {examples}.", "{count} values of {column} are missing: {examples}."
)
NOT_FINITE = Plural(
    "{count} value of {column} is not finite: {examples}.", "{count} values of {column} are not finite: {examples}."
)

NOTHING: Mapping[str, Param] = {}
_TRIED = 10_000
_FEW = 127
"""Cells that tell how often a column's texts repeat."""


class Cells:
    """One column of a file on its way to a kind, with a place for complaints."""

    def __init__(self, table: Table, column: str, id_column: str, rows: np.ndarray | None = None) -> None:
        self.table, self.column, self.id_column, self.rows = table, column, id_column, rows
        array = table.column(column)
        self.array: Any = array if rows is None else pick(array, rows)
        self.problems: list[Problem] = []
        self.refused: list[np.ndarray] = []
        """The places that were complained about."""

    def row(self, place: int) -> int:
        """The row of the table at a place of ``array``."""
        return int(place if self.rows is None else self.rows[place])

    def refuse(
        self,
        code: str,
        words: Plural,
        places: np.ndarray | Sequence[int],
        facts: Mapping[str, Param] = NOTHING,
        *,
        quote: bool = True,
        sums: np.ndarray | None = None,
    ) -> None:
        """Complain about cells, if any: one problem with up to five examples. ``words`` name ``column``, ``examples``
        and the ``facts``. The examples say the cell or, of rows that are refused as a whole, their ``sums``."""
        if not len(places):
            return
        self.refused.append(np.asarray(places, np.int64))
        ids = self.table.column(self.id_column)
        examples = []
        for place in places[:EXAMPLES]:
            row = self.row(place)
            line, name = int(self.table.lines[row]), shown(ids[row].as_py())
            if sums is not None:
                total = f"{sums[place]:.6g}"
                examples.append(Message("line {line} (id {id}) sums to {sum}", line=line, id=name, sum=total))
            elif quote:
                value = shown(self.array[int(place)].as_py())
                examples.append(Message("line {line} (id {id}) is {value}", line=line, id=name, value=value))
            else:
                examples.append(Message("line {line} (id {id})", line=line, id=name))
        row = self.row(places[0])
        places_text = listed(examples, len(places))
        message = Message.counted(len(places), *words, column=shown(self.column), examples=places_text, **facts)
        line, name = int(self.table.lines[row]), ids[row].as_py()
        self.problems.append(Problem(code, message, self.column, line, name, len(places)))

    def refuse_blank(self) -> None:
        """Complain about empty cells."""
        self.refuse("missing_value", MISSING, blank_rows(self.array), quote=False)

    def refuse_line_breaks(self) -> None:
        """Complain about cells over several lines."""
        if not self.table.may_span_lines:
            return
        places, _ = line_breaks(self.array)
        if len(places):
            rows = np.array([self.row(place) for place in places])
            self.refused.append(places)
            self.problems.append(over_several_lines(self.table, self.column, rows))

    def coded(self, *, may_repeat: bool = False) -> Coded:
        """The distinct texts and where they are. With ``may_repeat`` columns that hardly repeat are left as they are:
        looking for their distinct texts would need twice their memory and find little."""
        first = self.array[:_TRIED]
        if may_repeat and len(first) == _TRIED and 2 * len(first.unique()) > _TRIED:
            return Coded(np.arange(len(self.array), dtype=np.int32), array=self.array)
        encoded = self.array.dictionary_encode()
        codes = plain(encoded.indices, np.int32)
        is_short = len(encoded.dictionary) <= _FEW  # then a fourth of the memory has to be looked at
        return Coded(codes.astype(np.int8) if is_short else codes, array=encoded.dictionary)


class Kind:
    """How one sort of column is read. ``many``: it reads all target columns at once, as a matrix; otherwise it reads
    ``columns`` of them."""

    words: str = ""
    many = False
    columns = 1
    longest_line = LONGEST_LINE
    """Bytes of a line of the file; more are refused before the file is read."""

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        """The metric's array of these columns, complaints going to the cells. ``truth`` is the truth's own array
        when a submission is read."""
        raise NotImplementedError

    def fill(self, places: np.ndarray, values: Any) -> Any:
        """The values in the order of the truth's rows; ``places`` are where they are in the submission."""
        return take(values, places)

    def sample(self, truth: Any) -> str | list[str]:
        """A valid cell that knows nothing about its row; a list where the columns of a row differ."""
        raise NotImplementedError

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        """Valid cells of one row at random: like the answers of ``truth`` where it is given, else invented."""
        raise NotImplementedError
