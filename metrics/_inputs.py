"""The kinds of column a metric reads: how text becomes arrays, and every complaint about a cell.

A kind reads one or several columns of trimmed text and hands the metric arrays that need no further care:

=================  ==========================================================
``Label``          ``Coded`` texts (or exact numbers, where all of the truth is numeric)
``LabelSet``       ``Coded`` texts; empty means no label
``Words``          ``Coded`` texts; empty means no word
``Number`` …       float64, shape (n,), or (n, c) where a kind reads many columns
``Binary``         float64 of 0.0 and 1.0, shaped as above
``RankedLabel``    ``Ranked``: label codes and confidences
=================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from metrics._arrays import Coded, Ranked, take
from metrics._errors import EXAMPLES, Problem, counted, listed, shown
from metrics._ids import over_several_lines
from metrics._numbers import read_numbers, to_decimal
from metrics._tables import Table, pick, plain, raw_cells


class Cells:
    """One column of a file on its way to a kind, with a place for complaints."""

    def __init__(self, table: Table, column: str, id_column: str, rows: np.ndarray | None = None) -> None:
        self.table, self.column, self.id_column, self.rows = table, column, id_column, rows
        array = table.column(column)
        self.array: Any = array if rows is None else pick(array, rows)
        self.problems: list[Problem] = []

    def row(self, place: int) -> int:
        """The row of the table at a place of ``array``."""
        return int(place if self.rows is None else self.rows[place])

    def text(self, place: int) -> str:
        """One cell."""
        value: str = self.array[int(place)].as_py()
        return value

    def refuse(self, code: str, what: str, places: np.ndarray | Sequence[int], *, quote: bool = True) -> None:
        """Complain about cells, "3 values … are ``what``": one problem with up to five examples."""
        examples = []
        for place in places[:EXAMPLES]:
            row = self.row(place)
            value = f" is {shown(self.text(place))}" if quote else ""
            name = shown(self.table.column(self.id_column)[row].as_py())
            examples.append(f"line {self.table.lines[row]:,} (id {name}){value}")
        row = self.row(places[0])
        verb = "is" if len(places) == 1 else "are"
        message = (
            f"{counted(len(places), 'value')} of {shown(self.column)} {verb} {what}: {listed(examples, len(places))}."
        )
        name = self.table.column(self.id_column)[row].as_py()
        self.problems.append(Problem(code, message, self.column, int(self.table.lines[row]), name, len(places)))

    def blank(self) -> np.ndarray:
        """Places of empty cells."""
        offsets, _ = raw_cells(self.array)
        return np.flatnonzero(offsets[1:] == offsets[:-1])

    def refuse_blank(self) -> None:
        """Complain about empty cells."""
        if len(places := self.blank()):
            self.refuse("missing_value", "missing", places, quote=False)

    def refuse_line_breaks(self) -> None:
        """Complain about cells over several lines."""
        offsets, data = raw_cells(self.array)
        breaks = np.flatnonzero(data[offsets[0] : offsets[-1]] == 10) if len(self.array) else np.zeros(0, int)
        if len(breaks):
            places = np.unique(np.searchsorted(offsets, breaks + offsets[0], side="right") - 1)
            rows = np.array([self.row(place) for place in places])
            self.problems.append(over_several_lines(self.table, self.column, rows))

    def coded(self) -> Coded:
        """The distinct texts and where they are."""
        encoded = self.array.dictionary_encode()
        return Coded(plain(encoded.indices, np.int32), array=encoded.dictionary)


class Kind:
    """How one sort of column is read. ``many``: it reads all target columns at once, as a matrix."""

    words = ""
    many = False
    columns = 1

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        """The metric's array of these columns, complaints going to the cells. ``truth`` is the truth's own array
        when a submission is read."""
        raise NotImplementedError

    def fill(self, places: np.ndarray, values: Any) -> Any:
        """The values in the order of the truth's rows; ``places`` are where they are in the submission."""
        return take(values, places)

    def sample(self, truth: Any) -> str:
        """A valid cell that knows nothing about its row."""
        raise NotImplementedError


class _Plain(Kind):
    """One column or, with ``many``, as many as the truth has."""

    def __init__(self, *, many: bool = False) -> None:
        self.many = many

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        read = [self.one(cells) for cells in columns]
        return np.column_stack(read) if self.many else read[0]

    def one(self, cells: Cells) -> np.ndarray:
        raise NotImplementedError


class Number(_Plain):
    """Finite numbers."""

    words = "number"

    def one(self, cells: Cells) -> np.ndarray:
        return read_numbers(cells)

    def sample(self, truth: Any) -> str:
        return "0"


class Probability(Number):
    """Numbers from 0 to 1."""

    words = "probability (0 to 1)"

    def one(self, cells: Cells) -> np.ndarray:
        values = read_numbers(cells)
        places = np.flatnonzero((values < 0) | (values > 1))
        if len(places):
            cells.refuse("not_a_probability", "outside 0 to 1", places)
        return values

    def sample(self, truth: Any) -> str:
        return "0.5"


class Score(Number):
    """Finite numbers of any size of which only the order matters."""

    words = "score (any number, higher means more likely)"

    def sample(self, truth: Any) -> str:
        return "0.5"


class Binary(Number):
    """0 or 1."""

    words = "0 or 1"

    def one(self, cells: Cells) -> np.ndarray:
        values = read_numbers(cells)
        places = np.flatnonzero((values != 0) & (values != 1) & ~np.isnan(values))
        if len(places):
            cells.refuse("not_binary", "neither 0 nor 1", places)
        return values


class TimeAndEvent(Kind):
    """Two columns: the time until the event or the end of observation, and 1 if the event was seen, else 0."""

    words = "time, event (0 or 1)"
    columns = 2

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        names = [cells.column.casefold() for cells in columns]
        if names == ["event", "time"]:
            columns = columns[::-1]
        return np.column_stack([Number().one(columns[0]), Binary().one(columns[1])])


class Label(Kind):
    """One label per row, never empty. Where every truth label is a plain number, labels are compared as numbers."""

    words = "label"

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_blank()
        cells.refuse_line_breaks()
        coded = cells.coded()
        numbers = [to_decimal(text) for text in coded.values]
        if truth is None:
            is_numeric = all(n is not None and _is_plain(t) for n, t in zip(numbers, coded.values, strict=True))
        else:
            is_numeric = any(isinstance(value, Decimal) for value in truth.values)
        if not is_numeric:
            return coded
        return Coded(coded.codes, [t if n is None else n for n, t in zip(numbers, coded.values, strict=True)])

    def sample(self, truth: Any) -> str:
        return str(min(truth.values)) if len(truth.values) else ""


def _is_plain(text: str) -> bool:
    digits = text.lstrip("+-")
    return not (digits.startswith("0") and digits[1:2].isdigit())


class LabelSet(Kind):
    """Any number of labels in one cell; empty means none."""

    words = "labels (several in one cell)"

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        return cells.coded()

    def sample(self, truth: Any) -> str:
        return min((text.split()[0] for text in truth.values if text.split()), default="")


class Words(Kind):
    """Free text; empty means no word. Cells may span lines."""

    def __init__(self, words: str = "text", example: str = "some words") -> None:
        self.words = words
        self.example = example

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        return cells.coded()

    def sample(self, truth: Any) -> str:
        return self.example


class LabelOrNone(Kind):
    """One label without white space, or empty for none."""

    words = "label or empty"

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        coded = cells.coded()
        spaced = [code for code, text in enumerate(coded.values) if len(text.split()) > 1]
        if spaced:
            cells.refuse("label_with_space", "not one word", np.flatnonzero(np.isin(coded.codes, spaced)))
        return coded


class RankedLabel(Kind):
    """``label confidence`` in one cell, or empty for no answer."""

    words = "label and confidence in one cell, or empty"

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Ranked:
        from metrics._numbers import read_ranked

        (cells,) = columns
        cells.refuse_line_breaks()
        labels, confidence = read_ranked(cells)
        known = {text: code for code, text in enumerate(truth.values) if text}
        codes = np.array([known.get(text, len(truth.values)) if text else -1 for text in labels.values] or [-1])
        return Ranked(codes[labels.codes], confidence)

    def fill(self, places: np.ndarray, values: Ranked) -> Ranked:
        if not len(values):
            return Ranked(np.full(len(places), -1), np.zeros(len(places)))
        filled = values.take(np.maximum(places, 0))
        return Ranked(np.where(places < 0, -1, filled.codes), np.where(places < 0, 0.0, filled.confidence))

    def sample(self, truth: Any) -> str:
        label = min((text for text in truth.values if text), default="")
        return f"{label} 0.5" if label else ""
