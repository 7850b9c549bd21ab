"""Truths and submissions with a column for each class: the class of each row, and the probability of each class."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import Problem, shown
from ..core.messages import Message, Plural
from .columns import WORDS, Cells, Kind, in_form, to_decimal
from .label_kinds import Label
from .number_kinds import Binary, Probability
from .same_labels import plain_labels

MOST_CLASSES = 1000
"""The most classes: a submission has a column for each label of the truth."""

SLACK = 1e-3
"""The largest deviation of a row's probabilities from the sum of 1."""
_NOT_ONE_CLASS = Plural(
    "{count} row without exactly one 1: {examples}.", "{count} rows without exactly one 1: {examples}."
)
_NOT_A_DISTRIBUTION = Plural(
    "{count} row whose probabilities do not sum to 1 (±{slack}): {examples}.",
    "{count} rows whose probabilities do not sum to 1 (±{slack}): {examples}.",
)


class Classes:
    """The class of each row: row i has ``names[codes[i]]``. Shape of ``codes``: (n,)."""

    def __init__(self, codes: np.ndarray, names: tuple[str, ...]) -> None:
        self.codes = codes
        self.names = names

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: np.ndarray) -> "Classes":
        """The given rows; the classes stay the same."""
        return Classes(self.codes[rows], self.names)


class OneClass(Kind):
    """The class of each row: one column of labels, or a column for each class with 1 in one of them and 0 elsewhere.

    The classes of a column of labels are all labels of the file, those of ignored rows included: so both splits have
    the same classes, and an ignored row can add a class that no other row has.
    """

    words = Message("label, or one 0/1 column per class")
    many = True

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Classes:
        if len(columns) == 1:
            return _labels(columns[0])
        values = np.column_stack([Binary().one(cells) for cells in columns])
        sums = values.sum(axis=1)
        wrong = np.flatnonzero((sums != 1) & ~np.isnan(sums))
        columns[0].refuse("not_one_class", _NOT_ONE_CLASS, wrong, quote=False)
        return Classes(np.argmax(values, axis=1), tuple(cells.column for cells in columns))

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        if width == 1:
            return [dice.choice(WORDS)]
        place = dice.randrange(width)
        return ["1" if one == place else "0" for one in range(width)]


def _labels(cells: Cells) -> Classes:
    coded = in_form(cells.coded(), plain_labels)
    cells.refuse_blank(coded)
    cells.refuse_line_breaks()
    names = _names(cells)
    place = {name: number for number, name in enumerate(names)}
    codes = np.array([place.get(text, 0) for text in coded.values] or [0])
    return Classes(codes[coded.codes], names)


def _names(cells: Cells) -> tuple[str, ...]:
    """The sorted labels of the file, ignored rows included; sorted as numbers if all of them are numbers."""
    texts = [text for text in plain_labels(cells.table.column(cells.column).unique()).unique().to_pylist() if text]
    if len(texts) > MOST_CLASSES:
        message = Message(
            "The column {column} has {labels} different labels, and a submission would need a column for each: at most "
            "{most} can be read.",
            column=shown(cells.column),
            labels=len(texts),
            most=MOST_CLASSES,
        )
        cells.problems.append(Problem("too_many_classes", message, cells.column, count=len(texts)))
        texts = texts[:MOST_CLASSES]
    if cells.id_column in texts:
        message = Message(
            "The label {label} is called like the id column: a submission could not have both.",
            label=shown(cells.id_column),
        )
        cells.problems.append(Problem("label_like_id", message, cells.column))
    numbers = {text: number for text in texts if (number := to_decimal(text)) is not None}
    if len(numbers) < len(texts):
        return tuple(sorted(texts))
    return tuple(sorted(texts, key=lambda text: (numbers[text], text)))


class ClassProbabilities(Kind):
    """A probability for each class, float64 of shape (n, classes). With ``whole`` each row must sum to 1, up to
    ``SLACK``."""

    words = Message("one probability per class")
    many = True

    def __init__(self, *, whole: bool = False) -> None:
        self.whole = whole
        if whole:
            self.words = Message("one probability per class, summing to 1")

    def read(self, columns: Sequence[Cells], truth: Any = None) -> np.ndarray:
        values = np.column_stack([Probability().one(cells) for cells in columns])
        if self.whole:
            refuse_sums(columns, values)
        return values

    def sample(self, truth: Any) -> list[str]:
        width = len(truth.names) if isinstance(truth, Classes) else int(truth.shape[1])
        return [repr(1 / width)] * width

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        cuts = sorted(dice.randint(0, 100) for _ in range(width - 1))
        shares = np.diff([0, *cuts, 100])
        return [f"{share / 100:.2f}" for share in shares]


def class_names(truth: Classes, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a submission: the classes."""
    return truth.names


def certain(truth: Classes) -> list[list[str]]:
    """The columns of a perfect submission: probability 1 for the true class."""
    return [["1" if code == place else "0" for code in truth.codes.tolist()] for place in range(len(truth.names))]


def refuse_sums(columns: Sequence[Cells], values: np.ndarray) -> None:
    """Refuse rows of probabilities that do not sum to 1."""
    with np.errstate(over="ignore"):  # numbers that are no probabilities were refused
        sums = values.sum(axis=1)
    places = np.flatnonzero(np.abs(sums - 1) > SLACK)
    columns[0].refuse("not_a_distribution", _NOT_A_DISTRIBUTION, places, {"slack": f"{SLACK:g}"}, sums=sums)


def are_label(values: Sequence[Any], label: str) -> np.ndarray:
    """A mask of the values that are this label: as numbers where they are numbers, else as text.

    >>> are_label(["spam", "ham"], " spam").tolist()
    [True, False]
    """
    text = label.strip()
    sought = (text, to_decimal(text))
    return np.array([value in sought for value in values], bool)


class Sought(Label):
    """Labels of which one is sought, as float64 of 1.0 for this one and 0.0 for all others."""

    words = Message("label")

    def __init__(self, label: str) -> None:
        self.label = label

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Any:
        coded = super().read(columns)
        return are_label(coded.values, self.label).astype(np.float64)[coded.codes]
