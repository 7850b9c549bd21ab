"""Average precision of boxes as COCO computes it: 101 recalls, several thresholds of IoU, at most 100 boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from ...core.arrays import Coded
from ...core.contract import Metric, WholeColumn
from ...core.figures import Figure, Grid
from ...core.messages import Message
from ...numerics.cells import expand, rank_within
from ...numerics.sums import exact_sum
from .box_precision import FoundBoxes, at_places, classes_of, effects, found_boxes, unscorable
from .boxes import Classes, Layout, boxes_of, matched, meetings, numbered
from .overlap_precision import thresholds

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
    """The derivative by the weight of each row, of the area in place of its 101 points."""
    return np.asarray(np.mean([effects(ranking) for ranking in rankings], axis=0))


def too_many(truth: Coded, *, boxes: Layout, classes: Classes) -> str:
    """The reason why a truth cannot be scored, more boxes than count among them, or ``""``."""
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
