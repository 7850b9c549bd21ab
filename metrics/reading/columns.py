"""One column of a file before a metric reads it, and the base class of all kinds of column."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from ..core.arrays import Coded, take
from ..core.errors import Problem, shown
from ..core.lazy import cached_property
from ..core.messages import EXAMPLES, Message, Param, Plural, listed
from .id_problems import over_several_lines
from .list_cells import ListFormat
from .tables import Table, blank_rows, is_text, line_breaks, pick, plain, texts_of
from .text import LONGEST_LINE

WORDS = ("scab", "rust", "healthy", "Straße", "ΟΔΟΣ", "x-1", "007", "complex")
"""Words of generated files."""

MISSING = Plural(
    "{count} value of {column} is missing: {examples}. Fill it in.",
    "{count} values of {column} are missing: {examples}. Fill them in.",
)

DIGITS = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_EXACT = re.compile(DIGITS + r"([eE][+-]?0*[0-9]{1,9})?")
"""Numbers whose exponent a ``Decimal`` can hold."""
NAME_OF_DIGITS = re.compile(r"[+-]?0[0-9]")
"""The start of a name made of digits, such as ``007``, which is another label than ``7``."""

NOTHING: Mapping[str, Param] = {}
_TRIED = 10_000
_FEW = 127
"""Cells examined for repetitions (``_TRIED``); the most distinct texts whose codes fit into int8 (``_FEW``)."""


class Cells:
    """One column of a file and the problems found in it."""

    def __init__(self, table: Table, column: str, id_column: str, rows: np.ndarray | None = None) -> None:
        self.table, self.column, self.id_column, self.rows = table, column, id_column, rows
        values = table.values(column)
        self.values: Any = values if rows is None else pick(values, rows)
        """An Arrow array of texts or, in frames, of numbers."""
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.refused: list[np.ndarray] = []
        """The places of refused cells."""
        self.labels: Coded | None = None
        """The labels in the cells, where a kind reads more than a label from them."""

    @cached_property
    def array(self) -> Any:
        return texts_of(self.values)

    def row(self, place: int) -> int:
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
        """Add one problem for these cells, if there are any, with up to five examples. ``words`` are templates with
        ``column``, ``examples`` and the ``facts``. Examples quote the cell or, for rows that are refused as a whole,
        their ``sums``."""
        if len(places):
            self.refused.append(np.asarray(places, np.int64))
            self.problems.append(self._problem(code, words, places, facts, quote=quote, sums=sums))

    def warn(self, code: str, words: Plural, places: np.ndarray, facts: Mapping[str, Param] = NOTHING) -> None:
        """Note that these cells, at least one, are probably not meant as they are read."""
        self.warnings.append(self._problem(code, words, places, facts))

    def _problem(
        self,
        code: str,
        words: Plural,
        places: np.ndarray | Sequence[int],
        facts: Mapping[str, Param],
        *,
        quote: bool = True,
        sums: np.ndarray | None = None,
    ) -> Problem:
        ids = self.table.column(self.id_column)
        examples = []
        # Sentences that say what to write quote values, too, and a message stays short.
        for place in places[: 2 if "cures" in facts else EXAMPLES]:
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
        return Problem(code, message, self.column, line, name, len(places))

    def refuse_blank(self, read: Coded | None = None) -> None:
        """Refuse empty cells, and those that are empty as they are ``read``: invisible characters are no label."""
        places = blank_rows(self.values if read is None else read.array)
        if read is not None:
            places = np.flatnonzero(np.isin(read.codes, places)) if len(places) else places
        self.refuse("missing_value", MISSING, places, quote=False)

    def refuse_line_breaks(self) -> None:
        """Refuse cells over several lines."""
        if not self.table.may_span_lines:
            return
        places, _ = line_breaks(self.array)
        if len(places):
            rows = np.array([self.row(place) for place in places])
            self.refused.append(places)
            self.problems.append(over_several_lines(self.table, self.column, rows))

    def coded(self, *, may_repeat: bool = False) -> Coded:
        """The distinct texts, and their codes by row. With ``may_repeat`` a column with few repetitions is kept as it
        is: finding its distinct texts would need twice its memory for little use."""
        first = self.values[:_TRIED]
        if may_repeat and len(first) == _TRIED and 2 * len(first.unique()) > _TRIED:
            return Coded(np.arange(len(self.array), dtype=np.int32), array=self.array)
        encoded = (self.values if is_text(self.values) else _as_bits(self.values)).dictionary_encode()
        codes = plain(encoded.indices, np.int32)
        is_short = len(encoded.dictionary) <= _FEW  # int8 codes need a fourth of the memory
        distinct = encoded.dictionary if is_text(self.values) else texts_of(encoded.dictionary.view(self.values.type))
        return Coded(codes.astype(np.int8) if is_short else codes, array=distinct)


def in_form(texts: Coded, form: Callable[[Any], Any]) -> Coded:
    """Distinct texts after ``form``, a function of Arrow arrays; the same column if it changes nothing."""
    found = form(texts.array)
    if found is texts.array:
        return texts
    encoded = found.dictionary_encode()
    return Coded(plain(encoded.indices, np.int32)[texts.codes], array=encoded.dictionary)


def _as_bits(array: Any) -> Any:
    """Floats as whole numbers of the same bits, because 0.0 and -0.0 are two texts; whole numbers stay."""
    import pyarrow as pa

    return array.view({pa.float32(): pa.int32(), pa.float64(): pa.int64()}.get(array.type, array.type))


class Kind:
    """A kind of column, which parses cells. ``many``: it reads all target columns at once, as a matrix; otherwise it
    reads ``columns`` of them."""

    words: str = ""
    many = False
    columns = 1
    longest_line = LONGEST_LINE
    """The most bytes of a line; a longer line is refused before the file is read."""

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        """The metric's array of these columns; problems are added to the cells. ``truth`` is the truth's array when a
        submission is read."""
        raise NotImplementedError

    def judge(self, columns: Sequence[Cells], values: Any, truth: Any, params: Mapping[str, Any]) -> None:
        """Note the cells of a submission that are written otherwise than the sample submission."""

    def list_format(self, params: Mapping[str, Any]) -> ListFormat | None:
        """How lists in the cells of a frame are joined; ``None`` if the kind reads no lists."""
        return None

    def reader_of(self, column: str, truth: Any, params: Mapping[str, Any]) -> "tuple[Kind, Any, Mapping[str, Any]]":
        """The kind that reads one of the columns, with its part of the truth and its parameters."""
        return self, truth, params

    def fill(self, places: np.ndarray, values: Any) -> Any:
        """The values in the order of the truth's rows; ``places`` are their places in the submission."""
        return take(values, places)

    def sample(self, truth: Any) -> str | list[str]:
        """A valid cell that does not depend on its row; a list if the columns of a row differ."""
        raise NotImplementedError

    def sample_with(self, truth: Any, params: Mapping[str, Any]) -> str | list[str]:
        """``sample`` under these parameters of the metric."""
        return self.sample(truth)

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        """Random valid cells of one row: like the answers of ``truth`` if given, else invented."""
        raise NotImplementedError


def to_decimal(text: str) -> Decimal | None:
    """The exact number in a text, or ``None`` if it is not a number."""
    return Decimal(text) if len(text) < 1000 and _EXACT.fullmatch(text) else None
