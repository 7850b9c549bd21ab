"""Ranked lists of labels in one cell, and the ranks of the relevant labels in them.

A label that a list repeats counts only at its first place, but every place is a rank. A relevant label that the truth
repeats counts once.

Relevant labels may have grades, ``label:3``: the gain of finding them.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, RowSum, distinct_pairs, ratio
from ..core.errors import error_message, shown
from ..core.messages import Message
from ..core.parameters import Range
from ..reading.columns import WORDS, to_decimal
from ..reading.label_kinds import LabelSet
from ..reading.same_labels import are_numbers, number_names
from ..reading.tables import codes_among
from .cells import blocks, expand, is_new, rank_within, starts_by_owner, starts_of
from .label_sets import LabelSets, label_sets
from .label_sets import Separator as Separator
from .tokens import arrow_texts, labels_of, rename_labels

K = Annotated[int, Range(1, 10_000), "So many labels of each list count, from the best on."]


class LabelList(LabelSet):
    """Labels in one cell, best first; empty means none."""

    words = Message("labels, best first (several in one cell)")
    is_ordered = True

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        known = WORDS if truth is None else [label for text in truth.values for label in text.split()] or WORDS
        return [" ".join(dice.choices(known, k=dice.randint(0, 7))) for _ in range(width)]


@dataclass(frozen=True)
class Lists:
    """Cell c ranks ``vocabulary[code] for code in codes[starts[c]:starts[c + 1]]``, best first, cut after k labels.

    Code -1 marks a label that the list already had. ``vocabulary`` is an Arrow array.
    """

    starts: np.ndarray
    codes: np.ndarray
    vocabulary: Any


@dataclass(frozen=True)
class Hits:
    """The relevant labels in some lists: hit h is at ``rank[h]`` of list ``owner[h]`` and the ``nth`` hit there, both
    from 1; ``which[h]`` is its place among the truth's labels. Per list, ``cell`` is the true cell and ``relevant`` the
    number of relevant labels."""

    owner: np.ndarray
    rank: np.ndarray
    nth: np.ndarray
    which: np.ndarray
    cell: np.ndarray
    relevant: np.ndarray

    def sum(self, values: np.ndarray | None = None) -> np.ndarray:
        """For each list the sum of ``values`` over its hits, or the number of hits."""
        return np.bincount(self.owner, values, minlength=len(self.relevant)).astype(np.float64)

    def reachable(self, k: int) -> np.ndarray:
        """The most hits that the first k labels of each list can have; 1 without relevant labels."""
        return np.clip(self.relevant, 1, k)


def ranked_labels(column: Coded, separator: str | None, k: int, by_value: bool = False) -> Lists:
    """The first k labels of each distinct cell; ``by_value`` for labels that are numbers."""
    found = column.once(labels_of, separator)
    owner, codes, vocabulary = rename_labels(found, number_names(found[2], in_any_form=by_value))
    is_counted = rank_within(owner) < k
    starts = starts_by_owner(owner[is_counted], column.size)
    return Lists(starts, _without_repeats(starts, codes[is_counted]), vocabulary)


def _without_repeats(starts: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The codes with -1 where a cell repeats a code."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    keys = owner * (int(codes.max(initial=0)) + 1) + codes
    order = np.argsort(keys, kind="stable")
    done = codes.copy()
    done[order[~is_new(keys[order])]] = -1
    return done


def found_in(true: LabelSets, said: Lists, true_cells: np.ndarray, said_cells: np.ndarray) -> Iterator[Hits]:
    """The hits of all pairs of cells, in blocks of pairs."""
    known = codes_among(said.vocabulary, true.known)
    translated = np.concatenate([known, [-1]]).astype(np.int64)  # index -1 is a label that a list repeats
    bits = len(true.known).bit_length()
    sought = (np.repeat(np.arange(len(true.counts)), true.counts) << bits) + true.codes
    for some in blocks(np.diff(said.starts)[said_cells]):
        places, owner = expand(said.starts, said_cells[some])
        codes, cells = translated[said.codes[places]], true_cells[some]
        rank = rank_within(owner) + 1
        able = np.flatnonzero(codes >= 0)
        which = places_among((cells[owner[able]].astype(np.int64) << bits) + codes[able], sought)
        is_hit = able[which >= 0]
        owner = owner[is_hit]
        yield Hits(owner, rank[is_hit], rank_within(owner) + 1, which[which >= 0], cells, true.counts[cells])


def places_among(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The index of each key in the sorted array ``known``; -1 if it is missing."""
    if not len(known):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)


def mean_over_lists(
    truth: Coded,
    prediction: Coded,
    k: int,
    separator: str | None,
    value: Callable[[Hits], np.ndarray],
    relevant: Callable[[Coded, str | None], LabelSets] = label_sets,
) -> Contributions:
    """For each row its hits, the number of relevant labels, its value, and 1 for the row, as ``Contributions``.

    ``value`` is used for lists with relevant labels. Without relevant labels an empty list is worth 1 and any other 0.
    ``relevant`` finds the relevant labels of a truth.
    """
    true = truth.once(relevant, separator)
    said = prediction.once(ranked_labels, separator, k, true.are_numbers)
    true_cells, said_cells, of_row = distinct_pairs(truth, prediction)
    is_silent = (np.diff(said.starts) == 0)[said_cells]
    found = [np.zeros((0, 3))]
    found += [
        np.column_stack([hits.sum(), hits.relevant, value(hits)])
        for hits in found_in(true, said, true_cells, said_cells)
    ]
    table = np.concatenate(found)
    table[:, 2] = np.where(table[:, 1] == 0, is_silent, table[:, 2])
    return Contributions(np.column_stack([table, np.ones(len(table))]), of_row)


def mean_of_lists(rows: Callable[..., Contributions], value: str) -> RowSum:
    """The mean over rows of the values in ``rows``, a function that returns ``mean_over_lists``; ``value`` is their
    name in the worked example."""
    parts = ("hits", "relevant", value, "rows")
    return RowSum(rows=rows, total=_mean_value, parts=parts, last_line=f"{{{value}}} / {{rows}}")


def _mean_value(sums: np.ndarray) -> float:
    *_, value, count = sums
    return ratio(value, count)


def longest(truth: Coded, separator: str | None) -> int:
    return int(truth.once(label_sets, separator).counts[truth.codes].max(initial=0))


def shortest(truth: Coded, separator: str | None) -> int | None:
    """The smallest number of relevant labels in a row that has any; ``None`` if no row has."""
    counts = truth.once(label_sets, separator).counts[truth.codes]
    return int(counts[counts > 0].min()) if counts.any() else None


def perfect(truth: Coded, *, separator: Separator) -> list[list[str]]:
    """A perfect submission: the relevant labels, each once."""
    cells = truth.map(_once_each, separator)
    return [[cells.values[code] for code in cells.codes]]


def _once_each(cell: str, separator: str | None) -> str:
    if separator is None or not separator.strip():
        return (separator or " ").join(sorted(set(cell.split())))
    return separator.join(sorted({label for part in cell.split(separator) if (label := part.strip())}))


LEAST, MOST = Decimal("0.001"), 50
"""The least and the largest grade above 0: between them ``2 ** grade - 1`` keeps its digits."""


@dataclass(frozen=True)
class Graded(LabelSets):
    """The distinct relevant labels of each distinct cell, with their grades; labels of grade 0 are not relevant."""

    grades: np.ndarray = field(kw_only=True)
    wrong: dict[int, str] = field(kw_only=True)
    """Cells that cannot be read, with the reason."""


def graded_labels(column: Coded, separator: str | None) -> Graded:
    """Parse the distinct cells of a truth. This happens once per truth, so plain Python is fast enough."""
    cells: list[dict[str, float]] = []
    wrong: dict[int, str] = {}
    for number, text in enumerate(column.values):
        try:
            cells.append(_grades_in(text, separator))
        except ValueError as error:
            wrong[number] = error_message(error)
            cells.append({})
    labels = arrow_texts(sorted({label for cell in cells for label in cell}))
    by_value = are_numbers(labels.to_pylist())
    names = number_names(labels, in_any_form=by_value)
    cells = [{names.get(label, label): grade for label, grade in cell.items()} for cell in cells] if names else cells
    vocabulary = sorted({label for cell in cells for label in cell})
    rank = {label: place for place, label in enumerate(vocabulary)}
    ordered = [(rank[label], cell[label]) for cell in cells for label in sorted(cell)]
    return Graded(
        starts=starts_of(np.array([len(cell) for cell in cells], np.int64)),
        codes=np.array([code for code, _ in ordered], np.int64),
        known=arrow_texts(vocabulary),
        more=arrow_texts([]),
        are_numbers=by_value,
        grades=np.array([grade for _, grade in ordered], np.float64),
        wrong=wrong,
    )


def _grades_in(text: str, separator: str | None) -> dict[str, float]:
    """The labels of a cell with their grades. Raises ``ValueError`` with a reason.

    >>> _grades_in("a:2 b:0 x:y:1", None)
    {'a': 2.0, 'x:y': 1.0}
    """
    found: dict[str, float] = {}
    for part in text.split(separator):
        label, _, grade = part.strip().rpartition(":")
        number = to_decimal(grade)
        if not part.strip():
            continue
        if not label or number is None or not (number == 0 or LEAST <= number <= MOST):
            raise ValueError(
                Message(
                    '{part} is not "label:grade" with a grade of 0 or from {least} to {most}.',
                    part=shown(part),
                    least=f"{LEAST}",
                    most=f"{MOST}",
                )
            )
        if label in found:
            raise ValueError(Message("{label} has two grades in one cell.", label=shown(label)))
        found[label] = float(number)
    return {label: grade for label, grade in found.items() if grade}


def best_first(text: str, separator: str | None) -> str:
    """The labels of a cell, the highest grade first.

    >>> best_first("a:1 b:3", None)
    'b a'
    """
    grades = _grades_in(text, separator)
    return (separator or " ").join(sorted(grades, key=lambda label: (-grades[label], label)))


def ideal(graded: Graded, gains: np.ndarray, discount: np.ndarray) -> np.ndarray:
    """The largest discounted gain that a list for each cell can have: gains in falling order, cut after the last
    discount."""
    owner = np.repeat(np.arange(len(graded.counts)), graded.counts)
    order = np.lexsort((-gains, owner))
    rank = np.arange(len(order)) - graded.starts[owner]
    counted = rank < len(discount)
    return np.bincount(owner[counted], gains[order][counted] * discount[rank[counted]], minlength=len(graded.counts))
