"""Areas under ROC curves of several classes, one score per class: each against the rest, pooled, or in pairs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from ..core.contract import Metric, SubmissionFormat, WholeColumn
from ..core.errors import shown
from ..core.figures import Figure, Grid
from ..core.messages import Message
from ..reading.class_columns import Classes, OneClass, Sought, certain, class_names
from ..reading.number_kinds import RankedScore
from .averages import Skip, counted_columns
from .ranks import dense_ranks, roc_area, roc_influence
from .sums import exact_sum

Average = Annotated[
    Literal["binary", "macro", "weighted", "micro", "pairs"],
    "binary: answers 0 and 1; with classes macro: mean of each against the rest; weighted: mean by rows; "
    "micro: all scores pooled; pairs: mean over pairs of classes.",
]
OneLabel = Annotated[str | None, "The label that counts as 1, all others as 0; empty means the answers are 0 and 1."]


def _present_classes(truth: Classes) -> tuple[np.ndarray, np.ndarray]:
    """The classes that occur in these rows, and their numbers of rows."""
    counts = np.bincount(truth.codes, minlength=len(truth.names))
    present = np.flatnonzero(counts)
    return present, counts[present]


def _pooled_truth(truth: Classes) -> np.ndarray:
    """1.0 for the true class of each row and 0.0 for the others, row by row; shape (rows · classes,)."""
    found: np.ndarray = (truth.codes[:, None] == np.arange(len(truth.names))).astype(np.float64).ravel()
    return found


def _class_shares(counts: np.ndarray, average: str) -> np.ndarray:
    if average == "weighted":
        return counts / counts.sum()
    return np.full(len(counts), 1 / len(counts))


def areas_by_class(truth: Classes, prediction: np.ndarray, average: str) -> np.ndarray:
    """The area of each class that occurs: against all others or, in ``pairs``, its mean against each other one."""
    present, counts = _present_classes(truth)
    if average != "pairs":
        return np.array([roc_area((truth.codes == code).astype(np.float64), prediction[:, code]) for code in present])
    return np.array([_Pairs(truth, prediction, place, present, counts).area for place in range(len(present))])


class _Pairs:
    """One class against each other class, by the scores of the one."""

    def __init__(
        self, truth: Classes, prediction: np.ndarray, place: int, present: np.ndarray, counts: np.ndarray
    ) -> None:
        ranks = dense_ranks(prediction[:, present[place]])
        self.codes = np.searchsorted(present, truth.codes)
        self.mine, self.ranks, self.place, self.counts = self.codes == place, ranks, place, counts
        ups = np.bincount(ranks, self.mine, minlength=int(ranks.max()) + 1)
        # Twice the rows of the class above each row, ties counting once: whole numbers.
        self.above = (2 * (ups.sum() - np.cumsum(ups)) + ups)[ranks]

    @property
    def others(self) -> np.ndarray:
        sums = np.bincount(self.codes, self.above, minlength=len(self.counts))
        return np.delete(sums / (2.0 * self.counts[self.place] * self.counts), self.place)

    @property
    def area(self) -> float:
        return float(exact_sum(self.others)) / (len(self.counts) - 1)

    def influence(self) -> np.ndarray:
        others = np.insert(self.others, self.place, 0.0)
        width = len(self.counts) - 1
        # Rows of other classes weigh as much as their class has in the mean.
        weights = 1 / (self.counts[self.codes] * width)
        of_other = (self.above / (2.0 * self.counts[self.place]) - others[self.codes]) * weights
        weights = np.where(self.mine, 0.0, weights)
        downs = np.bincount(self.ranks, weights)
        below = (np.cumsum(downs) - downs / 2)[self.ranks]
        return np.where(self.mine, (below - others.sum() / width) / self.counts[self.place], of_other)


def mean_area(truth: Classes, prediction: np.ndarray, *, average: Average = "macro") -> float:
    if average == "micro":
        return roc_area(_pooled_truth(truth), prediction.ravel())
    found = areas_by_class(truth, prediction, average)
    _, counts = _present_classes(truth)
    if average == "weighted":
        return float(exact_sum(found * counts)) / int(counts.sum())
    return float(exact_sum(found)) / len(found)


def mean_influence(truth: Classes, prediction: np.ndarray, *, average: Average) -> np.ndarray:
    """The influence of each row on the average, shape (n,)."""
    if average == "micro":
        cells = roc_influence(_pooled_truth(truth), prediction.ravel())
        return cells.reshape(prediction.shape).sum(axis=1)
    present, counts = _present_classes(truth)
    shares, found = _class_shares(counts, average), np.zeros(len(truth))
    for place, code in enumerate(present):
        if average == "pairs":
            found += shares[place] * _Pairs(truth, prediction, place, present, counts).influence()
        else:
            mine = (truth.codes == code).astype(np.float64)
            found += shares[place] * roc_influence(mine, prediction[:, code])
    if average == "weighted":  # one more row of a class also gives the class more weight
        gaps = areas_by_class(truth, prediction, average) - mean_area(truth, prediction, average=average)
        found += (gaps / len(truth))[np.searchsorted(present, truth.codes)]
    return found


def mean_size(truth: Classes, prediction: np.ndarray, *, average: Average) -> float | None:
    """The number of rows with which balanced classes would be as certain: the harmonic mean of those of the classes,
    times their number. ``None`` for pooled scores."""
    if average == "micro":
        return None
    _, counts = _present_classes(truth)
    sizes = 4 * counts * (len(truth) - counts) / len(truth)
    return float(1 / np.sum(_class_shares(counts, average) ** 2 / sizes))


def one_class_only(truth: Classes) -> str:
    if (truth.codes == truth.codes[0]).all():
        return Message("all its answers are the same; two different labels are needed.")
    return ""


def of_classes(metric: Metric) -> Metric:
    """An area of answers 0 and 1 as an average over classes."""
    return replace(
        metric,
        truth=OneClass(),
        submission=RankedScore(many=True),
        computation=WholeColumn(score=mean_area, influence=mean_influence, effective_size=mean_size),
        format=SubmissionFormat(names=class_names),
        rules=replace(metric.rules, unscorable=one_class_only, perfect=certain),
        figures=by_class,
    )


def by_class(truth: Classes, prediction: np.ndarray, *, average: Average) -> list[Figure]:
    present, counts = _present_classes(truth)
    values = areas_by_class(truth, prediction, average).tolist()
    cells: list[list[float | str]] = [[*pair] for pair in zip(counts.tolist(), values, strict=True)]
    names = [truth.names[code] for code in present.tolist()]
    cells.append([len(truth), mean_area(truth, prediction, average=average)])
    note = "In the last line is the score. Classes without a row are left out."
    return [Grid("Each class", [*names, average], ["rows", "AUC"], cells, corner="class", note=note)]


def of_label(metric: Metric, label: str) -> Metric:
    """A metric of answers 0 and 1 for answers that are labels, of which one counts as 1."""

    def unscorable(truth: np.ndarray) -> str:
        if not truth.any():
            return Message("none of its answers is {label}.", label=shown(label))
        if truth.all():
            return Message("all its answers are {label}; another one is needed, too.", label=shown(label))
        return ""

    def perfect(truth: np.ndarray) -> list[list[str]]:
        return [[f"{value:g}" for value in truth.tolist()]]

    return replace(metric, truth=Sought(label), rules=replace(metric.rules, unscorable=unscorable, perfect=perfect))


ColumnAverage = Annotated[
    Literal["macro", "weighted", "micro"], "macro: mean over columns; weighted: by their 1s; micro: all cells pooled."
]


def of_columns(metric: Metric) -> Metric:
    """The mean area of several columns of 0 and 1 as one weighted by their 1s, or as one area of all cells."""
    return replace(
        metric, computation=WholeColumn(score=column_area, influence=column_influence), figures=table_of_areas
    )


def column_area(
    truth: np.ndarray, prediction: np.ndarray, *, average: ColumnAverage = "macro", skip: Skip = False
) -> float:
    return _of_columns(truth, prediction, average, skip)[0]


def column_influence(truth: np.ndarray, prediction: np.ndarray, *, average: ColumnAverage, skip: Skip) -> np.ndarray:
    value, found, places = _of_columns(truth, prediction, average, skip)
    true, said = truth[:, places], prediction[:, places]
    if average == "micro":
        return roc_influence(true.ravel(), said.ravel()).reshape(true.shape).sum(axis=1)
    shares = true.sum(axis=0) / true.sum()
    effects = sum(share * roc_influence(*pair) for share, *pair in zip(shares, true.T, said.T, strict=True))
    # One more 1 in a column also gives the column more weight.
    return np.asarray(effects + true @ (found - value) / true.sum())


def table_of_areas(truth: np.ndarray, prediction: np.ndarray, *, average: ColumnAverage, skip: Skip) -> list[Figure]:
    value, found, places = _of_columns(truth, prediction, average, skip)
    cells = [[float(truth[:, place].sum()), area] for place, area in zip(places, found.tolist(), strict=True)]
    names = [*(f"column {place + 1}" for place in places), average]
    cells.append([float(truth[:, places].sum()), value])
    return [Grid("Column by column", names, ["1s", "AUC"], cells, note="In the last line is the score.")]


def _of_columns(
    truth: np.ndarray, prediction: np.ndarray, average: str, skip: bool
) -> tuple[float, np.ndarray, Sequence[int]]:
    """The value, the area of each column that counts, and their places."""
    places = counted_columns(truth, skip)
    found = np.array([roc_area(truth[:, place], prediction[:, place]) for place in places])
    if average == "micro":
        return roc_area(truth[:, places].ravel(), prediction[:, places].ravel()), found, places
    ones = truth[:, places].sum(axis=0)
    return float(exact_sum(found * ones)) / float(ones.sum()), found, places
