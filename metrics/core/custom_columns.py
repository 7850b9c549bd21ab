"""The columns of a metric in Kaggle's format: any number of them, of any kind.

The metric's file checks their content; only missing and non-finite numbers are refused here, so that students get a
message with line and id.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..reading.columns import Cells, Kind, to_decimal
from ..reading.number_kinds import LARGEST, TOO_LARGE
from ..reading.numbers import NOT_FINITE
from ..reading.tables import pick, plain
from ..reading.text import LONGEST_MASK_LINE
from .arrays import Answers
from .messages import Message, Plural

_NO_NUMBERS = {"nan", "na", "n/a", "#n/a", "null", "none", "<na>", "inf", "+inf", "-inf", "infinity", "-infinity"}
_NO_FINITE_NUMBER = Plural(
    "{count} value of {column} is no finite number: {examples}.",
    "{count} values of {column} are no finite number: {examples}.",
)


class Columns:
    """Columns of texts, as Arrow string arrays by name."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = dict(arrays)
        self._constants: dict[tuple[str, ...], list[str]] = {}

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values()), ()))

    def matching_answers(self, names: Sequence[str]) -> list[Any]:
        """The answers for a submission's columns: those of the same name; for other names the remaining columns in
        order. Without names, all columns."""
        rest = self._unmatched(names) or list(self.arrays)
        others = [name for name in names if name not in self.arrays]
        matching = {name: rest[place % len(rest)] for place, name in enumerate(others)}
        return [self.arrays[matching.get(name, name)] for name in names or self.arrays]

    def has_answers_for(self, names: Sequence[str]) -> bool:
        """Whether each of these columns has an answer: of the same name, the only one left, or one each in order."""
        others = [name for name in names if name not in self.arrays]
        return len(self._unmatched(names)) in (1, len(others)) or not others

    def _unmatched(self, names: Sequence[str]) -> list[str]:
        return [name for name in self.arrays if name not in names]

    def constant_prediction(self, names: tuple[str, ...]) -> list[str]:
        """The cells of the sample submission by column; cached."""
        if names not in self._constants:
            matching_answers = self.matching_answers(names)
            self._constants[names] = [_constant_answer(array, len(matching_answers)) for array in matching_answers]
        return list(self._constants[names])

    def take(self, rows: np.ndarray) -> "Columns":
        return Columns({name: pick(array, rows) for name, array in self.arrays.items()})


def all_columns(truth: Any) -> Columns:
    """The answers with the columns of all roles, which a submission may have, too."""
    if not isinstance(truth, Answers):
        found: Columns = truth
        return found
    return Columns(
        {name: array for part in (truth.answer, *truth.roles.values()) for name, array in part.arrays.items()}
    )


class AnyColumns(Kind):
    """All columns as texts. A column is numeric if every nonempty cell is a number. ``names`` are a submission's
    columns, if they differ from the truth's, and ``cells`` its answers in the sample submission, if the host knows."""

    words = Message("columns as the metric's file asks for")
    many = True
    longest_line = LONGEST_MASK_LINE  # a column may hold anything

    def __init__(self, names: Sequence[str] = (), cells: Sequence[str] = ()) -> None:
        self.names, self.cells = tuple(names), list(cells)

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Columns:
        constant = [] if truth is None else self.sample(truth)
        for place, cells in enumerate(columns):
            if truth is None:
                _check_truth(cells)
            else:
                _check(cells, constant[place])
        return Columns({cells.column: cells.array for cells in columns})

    def sample(self, truth: Any) -> list[str]:
        return list(self.cells) or list(truth.constant_prediction(self.names))

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        if truth is None:
            return [str(dice.randint(0, 1)) for _ in range(width)]
        return [array[dice.randrange(len(truth))].as_py() for array in truth.matching_answers(self.names)]


def _check_truth(cells: Cells) -> None:
    numbers = _numbers(cells.array)
    if numbers is None:
        return
    cells.refuse_blank()
    if len(places := np.flatnonzero(~np.isfinite(numbers))):
        cells.refuse("not_finite", NOT_FINITE, places)


def _check(cells: Cells, constant: str) -> None:
    """Check a submission's column against the sample submission's cell, because the truth's column is secret."""
    if constant:
        cells.refuse_blank()
    numbers = _numbers(cells.array)
    if numbers is not None:
        places = np.flatnonzero(~np.isfinite(numbers))
        if len(large := np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) > LARGEST))):
            cells.refuse("too_large_values", TOO_LARGE, large, {"bound": f"{LARGEST:g}"})
    elif to_decimal(constant) is not None:
        coded = cells.coded()
        bad = [code for code, text in enumerate(coded.values) if text.lower() in _NO_NUMBERS]
        places = np.flatnonzero(np.isin(coded.codes, bad))
    else:
        return
    if len(places):
        cells.refuse("not_finite", _NO_FINITE_NUMBER, places)


def stand_in_cells(
    names: Sequence[str], roles: Collection[str], constant: Mapping[str, str], *, is_varied: bool = False
) -> list[list[str]]:
    """Answers for the columns of a truth that reveal nothing, each as cells to be repeated: they are derived from the
    ``constant`` prediction of the sample submission. Numbers alternate, because many metrics need two different
    answers. ``is_varied`` makes others, with different texts."""
    targets = [name for name in names if name not in roles]
    found = []
    for name in names:
        if name in roles and name not in constant:
            # In pairs, so that each group has two of the answers, which take turns.
            found.append(["1", "1", "2", "2"] if is_varied else ["1"])
            continue
        place = targets.index(name) if name in targets else 0
        cell = constant.get(name, list(constant.values())[place % len(constant)])
        number = to_decimal(cell)
        if number is None:
            found.append([cell, f"{cell}2"] if is_varied else [cell])
        elif number == int(number):
            found.append([str(int(number) + turn) for turn in range(3 if is_varied else 2)])
        else:  # probabilities: one answer of all in each row
            turns = max(2, len(targets))
            found.append(["1" if (turn + is_varied) % turns == place else "0" for turn in range(turns)])
    return found


def cycled(cells: Sequence[str], rows: int) -> Any:
    """An Arrow array of ``rows`` cells in which these cells take turns."""
    import pyarrow as pa

    return pick(pa.array(cells, pa.string()), np.arange(rows) % len(cells))


def _numbers(array: Any) -> np.ndarray | None:
    """The numbers of a column, 0 for an empty cell; ``None`` if a cell is anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.if_else(pc.equal(array, ""), "0", array).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return plain(numbers, np.float64)


def _constant_answer(array: Any, width: int) -> str:
    """One answer for every row: the first text in order or the least whole number, which may be a class; equal parts of
    1 if the answers look like probabilities."""
    numbers = _numbers(array)
    texts: list[str] = array.unique().to_pylist()
    if numbers is None:
        return min(texts)
    is_whole = not (numbers % 1).any()
    if len(numbers) and numbers.min() >= 0 and numbers.max() <= 1 and (width > 1 or not is_whole):
        return repr(round(1 / max(2, width), 6))
    return min(texts, key=float) if texts and is_whole else "0"
