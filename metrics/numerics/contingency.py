"""The confusion matrix of labels or clusters: the number of rows with each pair of a true and a predicted label.

Distances between labels: by their values if they are numbers, else by their alphabetical positions. At the end is the
two-by-two table of binary answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Annotated, Any, Literal

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, distinct_codes, distinct_pairs, ratio, sums_of
from ..core.figures import Figure, Grid
from ..core.lazy import cached_property
from ..core.messages import Message
from ..reading.columns import Cells, to_decimal
from ..reading.foreign import judge_clusters
from ..reading.label_kinds import Label
from ..reading.number_kinds import LARGEST
from ..reading.tables import pick, plain

_SHOWN = 12
"""The most labels that a drawn table names; rarer ones share one line."""


@dataclass(frozen=True, eq=False)
class _Numbering:
    """A number for each distinct value of both columns, equal for equal values and ascending in their order:
    ``of_truth`` and ``of_prediction`` map codes to numbers. ``labels`` has the values by number: a list, or an Arrow
    array if all are texts."""

    of_truth: np.ndarray
    of_prediction: np.ndarray
    labels: Any


@dataclass(frozen=True)
class Crossing:
    """The nonempty cells of the confusion matrix, sorted, without a matrix of labels × labels.

    ``true``, ``said`` and ``counts`` have one entry per cell: the indices of the true and of the predicted label among
    the ``size`` labels in use, and the number of rows. ``of_row`` is the cell of each row.
    """

    numbering: _Numbering
    used: np.ndarray
    true: np.ndarray
    said: np.ndarray
    counts: np.ndarray
    of_row: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.of_row)

    @property
    def size(self) -> int:
        return len(self.used)

    @cached_property
    def labels(self) -> list[Any]:
        """The labels in order: numbers by value, then texts alphabetically."""
        known = self.numbering.labels
        if isinstance(known, list):
            return [known[number] for number in self.used.tolist()]
        return list(pick(known, self.used).to_pylist())

    @cached_property
    def numbers(self) -> list[Decimal]:
        """The labels that are numbers, ascending."""
        if not isinstance(self.numbering.labels, list):
            return []
        return [label for label in self.labels if isinstance(label, Decimal)]

    @cached_property
    def is_right(self) -> np.ndarray:
        """A mask of the cells on the diagonal."""
        return self.true == self.said

    @cached_property
    def truly(self) -> np.ndarray:
        return self._by_label(self.true)

    @cached_property
    def predicted(self) -> np.ndarray:
        return self._by_label(self.said)

    @cached_property
    def outcomes(self) -> np.ndarray:
        """tp, fp and fn of each label, shape (labels, 3)."""
        tp = np.bincount(self.true[self.is_right], self.counts[self.is_right], minlength=self.size)
        return np.column_stack([tp, self.predicted - tp, self.truly - tp])

    def _by_label(self, places: np.ndarray) -> np.ndarray:
        return np.bincount(places, self.counts, minlength=self.size).astype(np.int64)


def cross(truth: Coded, prediction: Coded) -> Crossing:
    """The confusion matrix; labels that are equal as values are one label. Cached for one pair of truth and
    prediction."""
    return prediction.with_truth(truth, _cross)


def _cross(truth: Coded, prediction: Coded) -> Crossing:
    true, said, of_row = distinct_pairs(truth, prediction)
    # The splits of a truth share results of ``once``, so the numbering is made once for all of them.
    numbering = prediction.once(_numbered, truth.once(_itself))
    ours, theirs = numbering.of_truth[true], numbering.of_prediction[said]
    is_used = np.zeros(len(numbering.labels), bool)
    is_used[ours] = is_used[theirs] = True
    used = np.flatnonzero(is_used)
    place = np.cumsum(is_used) - 1
    pairs = place[ours] * len(used) + place[theirs]
    cells, place = distinct_codes(pairs, len(used) ** 2)
    of_row = place[of_row]
    counts = np.bincount(of_row, minlength=len(cells))
    return Crossing(numbering, used, *np.divmod(cells, max(1, len(used))), counts, of_row)


def _itself(truth: Coded) -> Coded:
    return truth


def _numbered(prediction: Coded, truth: Coded) -> _Numbering:
    """Number the values of both columns together."""
    if truth.array is not None and prediction.array is not None:
        return _numbered_texts(truth.array, prediction.array)
    ours, theirs = truth.values, prediction.values
    distinct = {label: None for side in (ours, theirs) for label in side}
    labels = sorted(label for label in distinct if not isinstance(label, str))
    labels += sorted(label for label in distinct if isinstance(label, str))
    place = {label: number for number, label in enumerate(labels)}
    of_truth, of_prediction = (np.array([place[label] for label in side], np.int64) for side in (ours, theirs))
    return _Numbering(of_truth, of_prediction, labels)


def _numbered_texts(ours: Any, theirs: Any) -> _Numbering:
    """The numbering of texts, which Arrow compares and sorts without making Python strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pa.concat_arrays([ours, theirs]).dictionary_encode()
    order = plain(pc.array_sort_indices(encoded.dictionary), np.uint64).astype(np.int64)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    numbers = rank[plain(encoded.indices, np.int32)]
    return _Numbering(numbers[: len(ours)], numbers[len(ours) :], pick(encoded.dictionary, order))


def one_label(truth: Coded) -> str:
    first = truth.values[truth.codes[0]]
    if all(truth.values[code] == first for code in np.unique(truth.codes).tolist()):
        return Message("all its answers are the same; two different labels are needed.")
    return ""


def confusion_matrix(truth: Coded, prediction: Coded) -> list[Figure]:
    """The confusion matrix as a table; with more than 12 labels the rarest share the last row and column."""
    found = cross(truth, prediction)
    names, place = _shown(found)
    cells = np.zeros((len(names), len(names)), np.int64)
    np.add.at(cells, (place[found.true], place[found.said]), found.counts)
    note, named = "Rows by truth, columns by prediction; the marked cells are right.", len(names)
    if len(names) < len(found.labels):
        named -= 1
        note += f" The {len(found.labels) - named:,} rarest labels are taken together."
    marked = frozenset((label, label) for label in range(named))
    return [Grid("Confusion matrix", names, names, cells.tolist(), corner="truth", marked=marked, note=note)]


_OTHERS = "other labels"


def _shown(found: Crossing) -> tuple[list[str], np.ndarray]:
    """The names of the drawn rows, and for each label the index of its row."""
    names = [str(label) for label in found.labels]
    if len(names) <= _SHOWN:
        return names, np.arange(len(names))
    often = np.argsort(-(found.truly + found.predicted), kind="stable")[: _SHOWN - 1]
    frequent = np.sort(often)
    place = np.full(len(names), len(frequent))
    place[frequent] = np.arange(len(frequent))
    return [*(names[label] for label in frequent), _OTHERS], place


Weights = Annotated[
    Literal["none", "linear", "quadratic"], "none: each confusion costs 1; linear, quadratic: by the distance."
]


_EXACT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Precise enough for exact differences between large numbers that differ little."""


def too_large(column: Coded) -> np.ndarray:
    """The rows with a number so large that float64 could not hold its distances."""
    numbers = [to_decimal(str(value)) for value in column.values]
    far = [code for code, number in enumerate(numbers) if number is not None and number.copy_abs() > LARGEST]
    return np.flatnonzero(np.isin(column.codes, far))


def positions(found: Crossing) -> np.ndarray:
    """The position of each label, ascending from 0: by its value if the truth has numbers (texts follow after the
    last), else by its index."""
    labels = found.numbers
    if not labels:
        return np.arange(found.size, dtype=np.float64)
    numbers = [float(_EXACT.subtract(label, labels[0])) for label in labels]
    return np.array(numbers + [numbers[-1] + 1] * (found.size - len(numbers)))


def distances(found: Crossing, weights: Weights) -> np.ndarray:
    """The cost of each cell of the confusion matrix."""
    if weights == "none":
        return np.where(found.is_right, 0.0, 1.0)
    places = positions(found)
    apart = np.abs(places[found.true] - places[found.said])
    return apart if weights == "linear" else apart**2


def by_chance(found: Crossing, counts: np.ndarray, weights: Weights) -> np.ndarray:
    """For each label the sum of its costs against all labels, weighted by ``counts``, shape (labels,): exact for whole
    numbers, and never computed as a small difference of large numbers."""
    if weights == "none":
        return (found.rows - counts).astype(np.float64)
    places = positions(found)
    return _linear(places, counts) if weights == "linear" else _quadratic(places, counts, found.rows)


def _linear(places: np.ndarray, counts: np.ndarray) -> np.ndarray:
    gaps = np.diff(places)
    below = np.cumsum(np.cumsum(counts)[:-1] * gaps)
    above = np.cumsum(np.cumsum(counts[::-1])[:-1] * gaps[::-1])[::-1]
    return np.concatenate(([0.0], below)) + np.concatenate((above, [0.0]))


def _quadratic(places: np.ndarray, counts: np.ndarray, rows: int) -> np.ndarray:
    cost: np.ndarray
    if rows * places[-1] ** 2 < 2**51 and (places % 1 == 0).all():
        cost = rows * places**2 - 2 * places * (counts @ places) + counts @ places**2
    else:
        apart = places - float(counts @ places) / rows
        cost = rows * apart**2 + float(counts @ apart**2)
    return cost


Positive = Annotated[Literal[1, 0], "Which of the two values counts as found."]
PARTS = ("tp", "tn", "fp", "fn")


_CELLS = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], np.float64)
"""tp, tn, fp, fn of a row that is neither positive nor predicted so, only predicted so, only positive, or both."""


def confusion(truth: np.ndarray, prediction: np.ndarray, *, positive: Positive = 1) -> Contributions:
    """tp, tn, fp, fn of each row, as ``Contributions``."""
    cells = (truth == positive).view(np.int8) * np.int8(2) + (prediction == positive)
    return Contributions(_CELLS, cells)


def two_by_two(truth: np.ndarray, prediction: np.ndarray, *, positive: Positive) -> list[Figure]:
    """The two-by-two table: rows by truth, columns by prediction."""
    tp, tn, fp, fn = (int(count) for count in sums_of(confusion(truth, prediction, positive=positive), None))
    values = (f"{positive}", f"{1 - positive}")
    return [
        Grid(
            title="Truth and prediction",
            corner="truth",
            rows=[f"is {value}" for value in values],
            columns=[f"said {value}" for value in values],
            cells=[[tp, fn], [fp, tn]],
            marked=frozenset({(0, 0), (1, 1)}),
            note=f"{_many(tp, 'true positive')}, {_many(fn, 'false negative')}, {_many(fp, 'false positive')}, "
            f"{_many(tn, 'true negative')}; the marked cells are right.",
        )
    ]


def _many(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def found_share(right: float, wrong: float, other_wrong: float) -> float:
    """``right / (right + wrong)``; if both are 0, it is 0.0 with other wrong rows and 1.0 without."""
    return ratio(right, right + wrong, empty=0.0 if other_wrong else 1.0)


def information_of_rows(truth: Coded, prediction: Coded) -> Contributions:
    """``information`` of the pair of clusters of each row."""
    found = cross(truth, prediction)
    return Contributions(information(found), found.of_row)


class Cluster(Label):
    """One cluster per row, under any name, never empty."""

    words = Message("cluster (any name)")

    def judge(self, columns: Sequence[Cells], values: Coded, truth: Any, params: Mapping[str, Any]) -> None:
        judge_clusters(columns[0], values)


def information(found: Crossing) -> np.ndarray:
    """For each pair of a true and a predicted cluster with rows in common, in nats: the pointwise mutual information,
    and the self-information of the true and of the predicted cluster. Means over rows are mutual information and
    entropies. Shape (pairs, 3).

    If one cluster contains the other, equal sizes produce equal digits.
    """
    true, said = found.truly[found.true], found.predicted[found.said]
    by_chance = true.astype(np.float64) * said
    return np.log([found.rows * found.counts / by_chance, found.rows / true, found.rows / said]).T


def contingency(truth: Coded, prediction: Coded) -> list[Figure]:
    """The number of rows that each true cluster shares with each predicted one, for the 12 largest of both at most."""
    found = cross(truth, prediction)
    ours, theirs = _largest(found.truly), _largest(found.predicted)
    cells = np.zeros((len(ours), len(theirs)), np.int64)
    row, column = (np.full(len(found.labels), -1) for _ in range(2))
    row[ours], column[theirs] = np.arange(len(ours)), np.arange(len(theirs))
    counted = (row[found.true] >= 0) & (column[found.said] >= 0)
    cells[row[found.true[counted]], column[found.said[counted]]] = found.counts[counted]
    rows, columns = ([str(found.labels[place]) for place in places] for places in (ours, theirs))
    hidden = np.count_nonzero(found.truly) + np.count_nonzero(found.predicted) - len(ours) - len(theirs)
    note = "Rows by true cluster, columns by predicted cluster."
    if hidden:
        note += f" {hidden:,} smaller clusters are not shown."
    return [Grid("Rows in common", rows, columns, cells.tolist(), corner="truth", note=note)]


def _largest(counts: np.ndarray) -> np.ndarray:
    often = np.argsort(-counts, kind="stable")[:_SHOWN]
    return np.sort(often[counts[often] > 0])
