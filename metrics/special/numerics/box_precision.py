"""Average precision of boxes, class by class: the match of each predicted box, and the ranking by confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core.arrays import Coded
from ...core.figures import Curve, Figure
from ...numerics.cells import expand, is_new, rank_within
from ...numerics.ranks import sum_of_rest
from ...numerics.sums import exact_sum
from .boxes import Boxes, boxes_of, in_turn, labels_of_truth, matched, meetings, numbered

_CURVES = 3


@dataclass(frozen=True)
class FoundBoxes:
    """The predicted boxes of some rows: ``row`` and ``label`` (the truth's code) of each box, its confidence, and
    whether it is right. ``owner`` and ``sought`` are the row and the label of each true box."""

    rows: int
    owner: np.ndarray
    sought: np.ndarray
    row: np.ndarray
    label: np.ndarray
    confidence: np.ndarray
    right: np.ndarray


def _found_boxes(truth: Coded, prediction: Coded, true: Boxes, said: Boxes, right: np.ndarray) -> FoundBoxes:
    places, row = expand(said.starts, prediction.codes)
    ours, owner = expand(true.starts, truth.codes)
    label, confidence = labels_of_truth(true, said)[places], said.confidence[places]
    return FoundBoxes(len(truth), owner, true.labels[ours], row, label, confidence, right)


def _at_places(said: Boxes, cells: np.ndarray, pair: np.ndarray, box: np.ndarray) -> np.ndarray:
    """A mask over all predicted boxes, row by row, that marks box ``box[i]`` of the pair of cells ``pair[i]``."""
    counts = said.counts[cells]
    found = np.zeros(int(counts.sum()), bool)
    found[(np.cumsum(counts) - counts)[pair] + box - said.starts[cells[pair]]] = True
    return found


@dataclass(frozen=True)
class BoxesOfClass:
    """The predicted boxes of one class. ``boxes`` are their indices and ``places`` their ranks by confidence; equal
    confidences share a rank. Per rank: ``hits``, ``answers`` (boxes down to this rank), ``precision``, and ``best``
    (the highest precision from this rank on). ``count`` is the number of true boxes."""

    label: int
    count: int
    boxes: np.ndarray
    places: np.ndarray
    hits: np.ndarray
    answers: np.ndarray
    precision: np.ndarray
    best: np.ndarray

    @property
    def value(self) -> float:
        """The average precision."""
        return float(exact_sum(self.hits * self.best)) / self.count


def ranking_of(truth: Coded, prediction: Coded, layout: str, classes: bool, iou: float) -> FoundBoxes:
    """Match each predicted box with the true box that it overlaps most. If several predicted boxes choose the same true
    box, only the most confident one is right."""
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)
    first, times = truth.once(_twins, layout, classes)
    met = meetings(true, said, truth.codes, prediction.codes, iou)
    ours = first[met.ours]
    # The best true box of each predicted one: the first after sorting.
    met = met.take(order := np.lexsort((ours, -met.iou, met.theirs, met.pair)))
    ours = ours[order]
    mine = np.flatnonzero(is_new(met.pair, met.theirs))
    pair, ours, theirs = met.pair[mine], ours[mine], met.theirs[mine]
    # The most confident predicted boxes of each true box are right: as many as there are true boxes equal to it.
    order = np.lexsort((theirs, -said.confidence[theirs], ours, pair))
    pair, ours, theirs = pair[order], ours[order], theirs[order]
    is_right = rank_within(pair, ours) < times[ours]
    right = _at_places(said, prediction.codes, pair[is_right], theirs[is_right])
    return _found_boxes(truth, prediction, true, said, right)


def _twins(truth: Coded, layout: str, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    """For each true box the first identical box of its cell, and the number of identical boxes."""
    boxes = truth.once(boxes_of, layout, classes, False)
    cell = np.repeat(np.arange(len(boxes.counts)), boxes.counts)
    keys = np.column_stack([boxes.corners, boxes.labels, cell])
    order = np.lexsort(keys.T)
    is_first = is_new(*keys[order].T)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(is_first) - 1
    return order[is_first][group], np.bincount(group)[group]


def classes_of(found: FoundBoxes) -> Iterator[BoxesOfClass]:
    """The classes of the truth, in the order of their names' codes."""
    counts = np.bincount(found.sought)
    order = np.lexsort((found.confidence, found.label))
    labels = found.label[order]
    for label in np.flatnonzero(counts).tolist():
        low, high = np.searchsorted(labels, (label, label + 1))
        boxes = order[low:high]
        _, places = np.unique(-found.confidence[boxes], return_inverse=True)
        hits, answers = np.bincount(places, found.right[boxes]), np.cumsum(np.bincount(places))
        precision = np.cumsum(hits) / answers
        best = np.maximum.accumulate(precision[::-1])[::-1]
        yield BoxesOfClass(label, int(counts[label]), boxes, places, hits, answers, precision, best)


def average_precision(ranking: FoundBoxes) -> float:
    """The mean average precision over the classes of the truth."""
    values = np.array([one.value for one in classes_of(ranking)])
    return float(exact_sum(values) / max(len(values), 1))


def found_by_row(ranking: FoundBoxes) -> np.ndarray:
    """For each row: its true boxes, its right and its wrong ones (of classes that the truth has), and its part of the
    score; shape (rows, 4)."""
    share = np.zeros(len(ranking.row))
    is_counted = np.zeros(len(ranking.row), bool)
    classes = list(classes_of(ranking))
    for one in classes:
        is_counted[one.boxes] = True
        share[one.boxes] = ranking.right[one.boxes] * one.best[one.places] / (one.count * len(classes))
    by_row = [ranking.right & is_counted, ~ranking.right & is_counted, share]
    sums = [np.bincount(ranking.row, values, minlength=ranking.rows) for values in by_row]
    return np.column_stack([np.bincount(ranking.owner, minlength=ranking.rows), *sums])


def effects(ranking: FoundBoxes) -> np.ndarray:
    """The derivative of the score by the weight of each row, shape (rows,): the precision that its right boxes earn,
    the effect of all its boxes on the precision at their rank and below, and its share of the true boxes."""
    found = np.zeros(ranking.rows)
    classes = list(classes_of(ranking))
    for one in classes:
        # Each rank gets the precision of the next peak, so a peak is weighted by the hits of all ranks that use it.
        peaks = np.flatnonzero(one.precision == one.best)
        judge = peaks[np.searchsorted(peaks, np.arange(len(one.hits)))]
        worth = np.bincount(judge, one.hits, minlength=len(one.hits)) / one.answers
        gain, loss = sum_of_rest(worth), sum_of_rest(worth * one.precision)
        per_box = ranking.right[one.boxes] * (one.best + gain)[one.places] - loss[one.places]
        effect = np.bincount(ranking.row[one.boxes], per_box, minlength=ranking.rows)
        mine = ranking.owner[ranking.sought == one.label]
        found += (effect - one.value * np.bincount(mine, minlength=ranking.rows)) / (one.count * len(classes))
    return found


def curves(ranking: FoundBoxes, names: list[str]) -> list[Figure]:
    """Precision by recall of the first classes; the area below each curve is its average precision."""
    drawn: list[Figure] = []
    for one in list(classes_of(ranking))[:_CURVES]:
        recall = np.concatenate(([0.0], np.cumsum(one.hits) / one.count)).tolist()
        # Each step is as high as the best precision from there on.
        points = zip(np.repeat(recall, 2)[1:-1].tolist(), np.repeat(one.best, 2).tolist(), strict=True)
        what = f"Class {names[one.label]}" if names else "All boxes"
        note = f"The area is {one.value:.4g}."
        drawn.append(Curve(f"{what}: precision by recall", "recall", "precision", list(points), note=note))
    return drawn


@dataclass(frozen=True)
class AnswersOfClass:
    """The boxes of one class as answers to rank: found and missed boxes, wrong boxes, and correctly empty pictures.

    ``row`` is the row of each answer, ``right`` whether it belongs to a true box, ``step`` the rank of its score from
    the highest down. ``name`` is the class; ``counts`` are the numbers of true boxes, right, wrong and missed boxes,
    and empty pictures.
    """

    name: str
    counts: tuple[int, int, int, int, int]
    row: np.ndarray
    right: np.ndarray
    step: np.ndarray

    def _steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each step: right answers, all answers down to it, and precision."""
        hits, answers = np.bincount(self.step, self.right), np.cumsum(np.bincount(self.step))
        return hits, answers, np.cumsum(hits) / answers

    @property
    def value(self) -> float:
        """The average precision."""
        hits, _, precision = self._steps()
        return float(exact_sum(hits * precision)) / self.counts[0]

    def effects(self, rows: int) -> np.ndarray:
        """The derivative of the value by the weight of each row, shape (rows,): the precision that its right answers
        earn, the effect of all its answers on the precision at their step and below, and its share of the true
        boxes."""
        hits, answers, precision = self._steps()
        gain, loss = sum_of_rest(hits / answers), sum_of_rest(hits * precision / answers)
        earned = self.right * (precision + gain)[self.step] - loss[self.step]
        # Each true box is one right answer.
        return np.bincount(self.row, earned - self.value * self.right, minlength=rows) / self.counts[0]


def answers_of(truth: Coded, prediction: Coded, layout: str, classes: bool, iou: float) -> Iterator[AnswersOfClass]:
    """The answers of each class of the truth, by code. Predicted boxes choose a true box in the order of their
    confidence."""
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)
    met = meetings(true, said, truth.codes, prediction.codes, iou)
    met = in_turn(met.take(np.flatnonzero(met.iou > iou)), said)
    met = met.take(matched(numbered(met)))
    found = _found_boxes(truth, prediction, true, said, _at_places(said, prediction.codes, met.pair, met.theirs))
    pictures = np.arange(found.rows)
    for code in np.unique(found.sought).tolist():
        mine, wanted = np.flatnonzero(found.label == code), found.owner[found.sought == code]
        hits = mine[found.right[mine]]
        open_boxes = np.bincount(wanted, minlength=found.rows) - np.bincount(found.row[hits], minlength=found.rows)
        missed = np.repeat(pictures, open_boxes)
        empty = np.setdiff1d(pictures, np.union1d(found.row[mine], wanted))
        score = np.concatenate([-found.confidence[mine], np.zeros(len(missed) + len(empty))])
        yield AnswersOfClass(
            name=true.vocabulary[code] if classes else "all boxes",
            counts=(len(wanted), len(hits), len(mine) - len(hits), len(missed), len(empty)),
            row=np.concatenate([found.row[mine], missed, empty]),
            right=np.concatenate([found.right[mine], np.ones(len(missed), bool), np.zeros(len(empty), bool)]),
            step=np.unique(score, return_inverse=True)[1],
        )
