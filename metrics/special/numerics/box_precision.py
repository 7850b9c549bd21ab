"""Average precision of boxes, class by class: the match of each predicted box, and the ranking by confidence."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np

from ...core.arrays import Coded
from ...core.contract import Metric, WholeColumn
from ...core.figures import Curve, Figure, Grid
from ...core.messages import Message
from ...numerics.cells import expand, is_new, rank_within
from ...numerics.ranks import sum_of_rest
from ...numerics.sums import exact_sum
from .boxes import Boxes, Classes, Layout, boxes_of, in_turn, labels_of_truth, matched, meetings, numbered
from .boxes import unscorable as unreadable
from .overlap_precision import thresholds

_CURVES = 3
_RECALLS = np.linspace(0.0, 1.0, 101)


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


def found_boxes(truth: Coded, prediction: Coded, true: Boxes, said: Boxes, right: np.ndarray) -> FoundBoxes:
    places, row = expand(said.starts, prediction.codes)
    ours, owner = expand(true.starts, truth.codes)
    label, confidence = labels_of_truth(true, said)[places], said.confidence[places]
    return FoundBoxes(len(truth), owner, true.labels[ours], row, label, confidence, right)


def at_places(said: Boxes, cells: np.ndarray, pair: np.ndarray, box: np.ndarray) -> np.ndarray:
    """A mask over all predicted boxes, row by row, that marks box ``box[i]`` of the pair of cells ``pair[i]``."""
    counts = said.counts[cells]
    found = np.zeros(int(counts.sum()), bool)
    found[(np.cumsum(counts) - counts)[pair] + box - said.starts[cells[pair]]] = True
    return found


@dataclass(frozen=True)
class RankedBoxes:
    """The answers of one class by falling score; equal scores share a step.

    ``row`` is the row of each answer, ``right`` whether it belongs to a true box, ``step`` its step. Per step:
    ``hits``, ``answers`` (down to this step), ``precision``, and ``worth``, which is the precision or, if
    ``is_raised``, the highest one from this step on. ``wanted`` is the row of each true box.
    """

    label: int
    row: np.ndarray
    right: np.ndarray
    wanted: np.ndarray
    step: np.ndarray
    hits: np.ndarray
    answers: np.ndarray
    precision: np.ndarray
    worth: np.ndarray

    @classmethod
    def of(
        cls, label: int, row: np.ndarray, right: np.ndarray, wanted: np.ndarray, score: np.ndarray, *, is_raised: bool
    ) -> "RankedBoxes":
        """The answers with these scores."""
        _, step = np.unique(-score, return_inverse=True)
        hits, answers = np.bincount(step, right), np.cumsum(np.bincount(step))
        precision = np.cumsum(hits) / answers
        worth = np.maximum.accumulate(precision[::-1])[::-1] if is_raised else precision
        return cls(label, row, right, wanted, step, hits, answers, precision, worth)

    @property
    def value(self) -> float:
        return float(exact_sum(self.hits * self.worth)) / len(self.wanted)

    @property
    def value_at_points(self) -> float:
        """The mean of the precision at 101 recalls from 0 to 1; 0 at those that are not reached."""
        recall = np.cumsum(self.hits) / len(self.wanted)
        places = np.searchsorted(recall, _RECALLS, side="left")
        return float(exact_sum(np.append(self.worth, 0.0)[places])) / len(_RECALLS)

    def effects(self, rows: int) -> np.ndarray:
        """The derivative of the value by the weight of each row, shape (rows,): the precision that its right answers
        earn, the effect of all its answers on the precision at their step and below, and its share of the true
        boxes."""
        # Each step gets the precision of the next peak, so a peak is weighted by the hits of all steps that use it.
        peaks = np.flatnonzero(self.precision == self.worth)
        peak_of_step = peaks[np.searchsorted(peaks, np.arange(len(self.hits)))]
        weights = np.bincount(peak_of_step, self.hits, minlength=len(self.hits)) / self.answers
        gain, loss = sum_of_rest(weights), sum_of_rest(weights * self.precision)
        earned = self.right * (self.worth + gain)[self.step] - loss[self.step]
        owned = np.bincount(self.wanted, minlength=rows)
        return (np.bincount(self.row, earned, minlength=rows) - self.value * owned) / len(self.wanted)


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
    right = at_places(said, prediction.codes, pair[is_right], theirs[is_right])
    return found_boxes(truth, prediction, true, said, right)


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


def classes_of(found: FoundBoxes) -> Iterator[tuple[np.ndarray, RankedBoxes]]:
    """For each class of the truth, in the order of their names' codes, the indices of its predicted boxes, and these
    ranked by confidence."""
    for label in np.unique(found.sought).tolist():
        boxes, wanted = np.flatnonzero(found.label == label), found.owner[found.sought == label]
        row, right, score = found.row[boxes], found.right[boxes], found.confidence[boxes]
        yield boxes, RankedBoxes.of(label, row, right, wanted, score, is_raised=True)


def average_precision(ranking: FoundBoxes) -> float:
    values = np.array([one.value for _, one in classes_of(ranking)])
    return float(exact_sum(values) / max(len(values), 1))


def found_by_row(ranking: FoundBoxes) -> np.ndarray:
    """For each row: its true boxes, its right and its wrong ones (of classes that the truth has), and its part of the
    score; shape (rows, 4)."""
    share = np.zeros(len(ranking.row))
    is_counted = np.zeros(len(ranking.row), bool)
    classes = list(classes_of(ranking))
    for boxes, one in classes:
        is_counted[boxes] = True
        share[boxes] = one.right * one.worth[one.step] / (len(one.wanted) * len(classes))
    by_row = [ranking.right & is_counted, ~ranking.right & is_counted, share]
    sums = [np.bincount(ranking.row, values, minlength=ranking.rows) for values in by_row]
    return np.column_stack([np.bincount(ranking.owner, minlength=ranking.rows), *sums])


def effects(ranking: FoundBoxes) -> np.ndarray:
    found = [one.effects(ranking.rows) for _, one in classes_of(ranking)]
    return np.sum(found, axis=0) / len(found)


def curves(ranking: FoundBoxes, names: list[str]) -> list[Figure]:
    """Precision by recall of the first classes; the area below each curve is its average precision."""
    drawn: list[Figure] = []
    for _, one in list(classes_of(ranking))[:_CURVES]:
        recall = np.concatenate(([0.0], np.cumsum(one.hits) / len(one.wanted))).tolist()
        # Each step is as high as the best precision from there on.
        points = zip(np.repeat(recall, 2)[1:-1].tolist(), np.repeat(one.worth, 2).tolist(), strict=True)
        what = f"Class {names[one.label]}" if names else "All boxes"
        note = f"The area is {one.value:.4g}."
        drawn.append(Curve(f"{what}: precision by recall", "recall", "precision", list(points), note=note))
    return drawn


def answers_of(
    truth: Coded, prediction: Coded, layout: str, classes: bool, iou: float
) -> Iterator[tuple[tuple[int, ...], RankedBoxes]]:
    """For each class of the truth: the numbers of true boxes, of right, wrong and missed boxes, and of empty pictures;
    and its ranked answers. Missed true boxes and empty pictures are answers with confidence 0. Predicted boxes choose a
    true box in the order of their confidence."""
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)
    met = meetings(true, said, truth.codes, prediction.codes, iou)
    met = in_turn(met.take(np.flatnonzero(met.iou > iou)), said)
    met = met.take(matched(numbered(met)))
    found = found_boxes(truth, prediction, true, said, at_places(said, prediction.codes, met.pair, met.theirs))
    pictures = np.arange(found.rows)
    for label in np.unique(found.sought).tolist():
        boxes, wanted = np.flatnonzero(found.label == label), found.owner[found.sought == label]
        row, right = found.row[boxes], found.right[boxes]
        open_boxes = np.bincount(wanted, minlength=found.rows) - np.bincount(row[right], minlength=found.rows)
        missed = np.repeat(pictures, open_boxes)
        empty = np.setdiff1d(pictures, np.union1d(row, wanted))
        counts = (len(wanted), int(right.sum()), int((~right).sum()), len(missed), len(empty))
        yield (
            counts,
            RankedBoxes.of(
                label,
                np.concatenate([row, missed, empty]),
                np.concatenate([right, np.ones(len(missed), bool), np.zeros(len(empty), bool)]),
                wanted,
                np.concatenate([found.confidence[boxes], np.zeros(len(missed) + len(empty))]),
                is_raised=False,
            ),
        )


def unscorable(truth: Coded, *, boxes: Layout, classes: Classes) -> str:
    """The reason why a truth has cells that are not boxes, boxes without area, or no box at all; or ``""``."""
    wrong = unreadable(truth, boxes=boxes, classes=classes)
    if wrong or truth.once(boxes_of, boxes, classes, False).counts[truth.codes].any():
        return wrong
    return Message("it has no box to be found.")


MOST_BOXES = 100
"""The most predicted boxes of a class in a picture that count, by their confidence."""

_STEP = 0.05


def coco_rankings(
    truth: Coded, prediction: Coded, layout: str, classes: bool, levels: Sequence[float]
) -> Iterator[FoundBoxes]:
    """For each threshold of IoU the predicted boxes as COCO matches them: by falling confidence each takes the free
    true box that it overlaps most (ties: the last of the cell)."""
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)
    places, row = expand(said.starts, prediction.codes)
    order = np.lexsort((places, -said.confidence[places], said.labels[places], row))
    is_counted = np.empty(len(order), bool)
    is_counted[order] = rank_within(row[order], said.labels[places][order]) < MOST_BOXES
    met = meetings(true, said, truth.codes, prediction.codes, min(levels))
    starts = np.cumsum(said.counts[prediction.codes]) - said.counts[prediction.codes]
    met = met.take(np.flatnonzero(is_counted[starts[met.pair] + met.theirs - said.starts[prediction.codes[met.pair]]]))
    met = met.take(np.lexsort((-met.ours, -met.iou, met.theirs, -said.confidence[met.theirs], met.pair)))
    for level in levels:
        some = met.take(np.flatnonzero(met.iou >= level))
        some = some.take(matched(numbered(some)))
        right = at_places(said, prediction.codes, some.pair, some.theirs)
        found = found_boxes(truth, prediction, true, said, right)
        cut = {name: getattr(found, name)[is_counted] for name in ("row", "label", "confidence", "right")}
        yield replace(found, **cut)


def coco_precision(rankings: Iterable[FoundBoxes]) -> float:
    values = [[one.value_at_points for _, one in classes_of(ranking)] for ranking in rankings]
    return float(exact_sum(np.array(values))) / max(1, sum(map(len, values)))


def coco_effects(rankings: Iterable[FoundBoxes]) -> np.ndarray:
    """The derivative of the score by the weight of each row, for the area under the curve instead of its 101 points."""
    return np.asarray(np.mean([effects(ranking) for ranking in rankings], axis=0))


def too_many(truth: Coded, *, boxes: Layout, classes: Classes) -> str:
    """The reason why a truth cannot be scored, such as more boxes than COCO counts; or ``""``."""
    if wrong := unscorable(truth, boxes=boxes, classes=classes):
        return wrong
    true = truth.once(boxes_of, boxes, classes, False)
    places, cell = expand(true.starts, np.unique(truth.codes))
    _, counts = np.unique(np.column_stack([cell, true.labels[places]]), axis=0, return_counts=True)
    if counts.max() <= MOST_BOXES:
        return ""
    return Message(
        "a picture has {count} boxes of one class, and COCO counts at most {most}.",
        count=int(counts.max()),
        most=MOST_BOXES,
    )


def of_coco(metric: Metric, declared: Callable[..., Any]) -> Metric:
    """The box metric with COCO's rules. ``declared`` is a function of the metric's file with its parameters."""

    @wraps(declared)
    def score(truth: Coded, prediction: Coded, **params: Any) -> float:
        return coco_precision(_ranked_boxes(truth, prediction, **params))

    @wraps(declared)
    def influence(truth: Coded, prediction: Coded, **params: Any) -> np.ndarray:
        return coco_effects(_ranked_boxes(truth, prediction, **params))

    @wraps(declared)
    def figures(truth: Coded, prediction: Coded, **params: Any) -> list[Figure]:
        names = truth.once(boxes_of, params["boxes"], params["classes"], False).vocabulary
        levels = _iou_levels(**params)
        rankings = [list(classes_of(ranking)) for ranking in _ranked_boxes(truth, prediction, **params)]
        rows = [names[one.label] if names else "all boxes" for _, one in rankings[0]]
        values = [[one.value_at_points for _, one in ranking] for ranking in rankings]
        cells = [[*row, sum(row) / len(row)] for row in zip(*values, strict=True)]
        heads = [*(f"IoU {level:g}" for level in levels), "mean"]
        note = "The score is the mean of the last column."
        return [Grid("Average precision of each class", rows, heads, cells, corner="class", note=note)]

    return replace(
        metric,
        computation=WholeColumn(score=score, influence=influence),
        rules=replace(metric.rules, unscorable=too_many),
        figures=figures,
    )


def _iou_levels(*, iou: float, iou_stop: float, **_: Any) -> list[float]:
    levels: list[float] = thresholds(iou, iou_stop, _STEP).tolist()
    return levels


def _ranked_boxes(truth: Coded, prediction: Coded, **params: Any) -> Iterator[FoundBoxes]:
    return coco_rankings(truth, prediction, params["boxes"], params["classes"], _iou_levels(**params))
