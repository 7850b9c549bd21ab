"""Predicted boxes of all pictures in the order of their confidence, class by class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.arrays import Coded
from ..core.figures import Curve, Figure
from .boxes import Boxes, boxes_of, meetings
from .sums import exact_sum
from .tokens import expand

_CURVES = 3


@dataclass(frozen=True)
class BoxRanking:
    """The predicted boxes of some rows: ``row`` and ``label`` (the truth's code) of each, its confidence and whether it
    is right. ``owner`` and ``sought`` are the row and the label of each true box."""

    rows: int
    owner: np.ndarray
    sought: np.ndarray
    row: np.ndarray
    label: np.ndarray
    confidence: np.ndarray
    right: np.ndarray

    def classes(self) -> Iterator[BoxesOfClass]:
        """The classes of the truth, in the order of their names' codes."""
        counts = np.bincount(self.sought)
        order = np.lexsort((self.confidence, self.label))
        labels = self.label[order]
        for label in np.flatnonzero(counts).tolist():
            low, high = np.searchsorted(labels, (label, label + 1))
            yield _one_class(self, label, order[low:high], int(counts[label]))


@dataclass(frozen=True)
class BoxesOfClass:
    """The predicted boxes of one class: ``boxes`` are their places, ``places`` their ranks; equal confidences are one
    rank. ``hits``, ``answers``, ``precision`` and ``best`` (the highest precision from there on) tell of each rank;
    ``count`` is the number of true boxes."""

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


def _one_class(ranking: BoxRanking, label: int, boxes: np.ndarray, count: int) -> BoxesOfClass:
    _, places = np.unique(-ranking.confidence[boxes], return_inverse=True)
    hits, answers = np.bincount(places, ranking.right[boxes]), np.bincount(places)
    precision = np.cumsum(hits) / np.cumsum(answers)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return BoxesOfClass(label, count, boxes, places, hits, answers, precision, best)


def ranking_of(truth: Coded, prediction: Coded, layout: str, classes: bool, iou: float) -> BoxRanking:
    """Match the boxes of each row."""
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)
    places, row = expand(said.starts, prediction.codes)
    known = {label: code for code, label in enumerate(true.vocabulary)}
    translated = np.array([known.get(label, -1) for label in said.vocabulary] or [0], np.int64)
    ours, owner = expand(true.starts, truth.codes)
    return BoxRanking(
        rows=len(truth),
        owner=owner,
        sought=true.labels[ours],
        row=row,
        label=translated[said.labels[places]],
        confidence=said.confidence[places],
        right=_right(truth, prediction, true, said, (layout, classes, iou)),
    )


def _right(truth: Coded, prediction: Coded, true: Boxes, said: Boxes, options: tuple[str, bool, float]) -> np.ndarray:
    """Whether each predicted box of each row is right, row by row."""
    layout, classes, least = options
    first, times = truth.once(_twins, layout, classes)
    met = meetings(true, said, truth.codes, prediction.codes, least)
    ours = first[met.ours]
    # The best true box of each predicted one: the first after sorting.
    met = met.take(order := np.lexsort((ours, -met.iou, met.theirs, met.pair)))
    ours = ours[order]
    mine = np.flatnonzero(_is_new(met.pair, met.theirs))
    pair, ours, theirs = met.pair[mine], ours[mine], met.theirs[mine]
    # The most confident predicted ones of each true box: as many as there are boxes equal to it.
    order = np.lexsort((theirs, -said.confidence[theirs], ours, pair))
    pair, ours, theirs = pair[order], ours[order], theirs[order]
    places = np.arange(len(pair))
    turn = places - np.maximum.accumulate(np.where(_is_new(pair, ours), places, 0))
    is_right = turn < times[ours]
    counts = said.counts[prediction.codes]
    right = np.zeros(int(counts.sum()), bool)
    starts = np.cumsum(counts) - counts
    at = starts[pair] + theirs - said.starts[prediction.codes[pair]]
    right[at[is_right]] = True
    return right


def _is_new(pair: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Where a box differs from the one before it."""
    return np.concatenate(([True], (pair[1:] != pair[:-1]) | (box[1:] != box[:-1])))[: len(pair)]


def _twins(truth: Coded, layout: str, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    """For each true box the first one of its cell that equals it, and how many do."""
    boxes = truth.once(boxes_of, layout, classes, False)
    cell = np.repeat(np.arange(len(boxes.counts)), boxes.counts)
    keys = np.column_stack([boxes.corners, boxes.labels, cell])
    order = np.lexsort(keys.T)
    ordered = keys[order]
    is_new = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))[: len(order)]
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(is_new) - 1
    first: np.ndarray = order[is_new][group]
    return first, np.bincount(group)[group]


def average_precision(ranking: BoxRanking) -> float:
    """The mean over the classes of the truth."""
    values = np.array([one.value for one in ranking.classes()])
    return float(exact_sum(values) / max(len(values), 1))


def found_by_row(ranking: BoxRanking) -> np.ndarray:
    """True boxes, right and wrong ones (of classes that the truth has) and share of the score of each row."""
    share = np.zeros(len(ranking.row))
    is_counted = np.zeros(len(ranking.row), bool)
    classes = list(ranking.classes())
    for one in classes:
        is_counted[one.boxes] = True
        share[one.boxes] = ranking.right[one.boxes] * one.best[one.places] / (one.count * len(classes))
    by_row = [ranking.right & is_counted, ~ranking.right & is_counted, share]
    sums = [np.bincount(ranking.row, values, minlength=ranking.rows) for values in by_row]
    return np.column_stack([np.bincount(ranking.owner, minlength=ranking.rows), *sums])


def effects(ranking: BoxRanking) -> np.ndarray:
    """The derivative of the score by the weight of each row: what its right boxes earn, what all its boxes do to the
    precision of the ranks at and below them, and its share of the true boxes."""
    found = np.zeros(ranking.rows)
    classes = list(ranking.classes())
    for one in classes:
        right, places = ranking.right[one.boxes], one.places
        # Each rank is judged by the precision at the next peak; what a peak is worth are the hits that look up to it.
        peaks = np.flatnonzero(one.precision == one.best)
        judge = peaks[np.searchsorted(peaks, np.arange(len(one.hits)))]
        worth = np.bincount(judge, one.hits, minlength=len(one.hits)) / np.cumsum(one.answers)
        gain = np.cumsum(worth[::-1])[::-1]
        loss = np.cumsum((worth * one.precision)[::-1])[::-1]
        per_box = right * (one.best + gain)[places] - loss[places]
        mine = ranking.owner[ranking.sought == one.label]
        effect = np.bincount(ranking.row[one.boxes], per_box, minlength=ranking.rows)
        lost = one.value * np.bincount(mine, minlength=ranking.rows)
        found += (effect - lost) / (one.count * len(classes))
    return found


def curves(ranking: BoxRanking, names: list[str]) -> list[Figure]:
    """Precision by recall of the first classes, as the area is measured."""
    drawn: list[Figure] = []
    for one in list(ranking.classes())[:_CURVES]:
        recall = np.concatenate(([0.0], np.cumsum(one.hits) / one.count))
        points = [
            point
            for left, right, height in zip(recall[:-1].tolist(), recall[1:].tolist(), one.best.tolist(), strict=True)
            for point in ((left, height), (right, height))
        ]
        what = f"Class {names[one.label]}" if names else "All boxes"
        note = f"The area is {one.value:.4g}."
        drawn.append(Curve(f"{what}: precision by recall", "recall", "precision", points, note=note))
    return drawn
