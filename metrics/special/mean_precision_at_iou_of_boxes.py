"""Mean precision of boxes in pictures at rising thresholds of IoU.

The truth's cell holds the boxes of a picture, four numbers each: `10 10 40 30 60 5 8 8` are two. The submission's cell
has a confidence before each: `0.9 12 10 40 30 0.4 0 0 5 5`. Numbers are left, top, width and height, or with `boxes` =
`corners` left, top, right and bottom. Areas are width times height, without adding a pixel.

At a threshold $t$, predicted boxes choose in the order of their confidence (ties: of their cell): each matches the true
box with the largest intersection over union among those still free, if that is **greater than** $t$. With $tp$ matches,
$fp$ predictions and $fn$ true boxes left over,

$$\\frac{1}{n} \\sum_{i=1}^{n} \\frac{1}{|T|} \\sum_{t \\in T} \\frac{tp_i(t)}{tp_i(t) + fp_i(t) + fn_i(t)}$$

with $T$ from `start` to `stop` in steps of `step`: 0.5, 0.55 … 0.75 as a default; nothing is above 1, so they end at
0.99. Confidences do no more than sort.

A picture without true boxes scores 0 if any box is predicted. If none is, it scores 1, or with `empty` = `left_out`
does not count at all. Predicting nothing where there is something scores 0. One box found with IoU 0.6 is above two of
six thresholds: 0.333.

With `beta`, F-beta of the boxes takes the place of $tp / (tp + fp + fn)$; with `pooling` = `pooled` the boxes of all
pictures are counted together at each threshold.

Source: Global Wheat Detection; RSNA Pneumonia Detection Challenge (`start` 0.4, `empty` = `left_out`); TensorFlow Great
Barrier Reef (`beta` 2, `pooling` = `pooled`, 0.3 to 0.8).
"""

from typing import Annotated, Literal

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Example, Metric, RowSum, Rules, distinct_pairs
from ..core.figures import Figure
from ..core.parameters import Range
from .numerics.boxes import (
    BoxList,
    Layout,
    boxes_of,
    in_turn,
    matched,
    matrix,
    meetings,
    numbered,
    perfect,
    unscorable,
    verify,
)
from .numerics.overlap_precision import PARTS, Beta, Step, Stop, last_line, table_of, thresholds, total

Start = Annotated[float, Range(0, 0.99), "The first threshold."]
Empty = Annotated[Literal["one", "left_out"], "What a picture without true and predicted boxes is worth."]


def rows(
    truth: Coded,
    prediction: Coded,
    *,
    boxes: Layout = "xywh",
    start: Start = 0.5,
    stop: Stop = 0.75,
    step: Step = 0.05,
    beta: Beta = None,
    empty: Empty = "one",
) -> Contributions:
    """The row's counts and values as in ``table_of``; all 0 for a picture that is left out."""
    true_boxes, said_boxes = truth.once(boxes_of, boxes, False, False), prediction.once(boxes_of, boxes, False, True)
    true_cells, said_cells, of_row = distinct_pairs(truth, prediction)
    true, said = true_boxes.counts[true_cells], said_boxes.counts[said_cells]
    met = numbered(in_turn(meetings(true_boxes, said_boxes, true_cells, said_cells, start), said_boxes))
    enough = (met.take(np.flatnonzero(met.iou > level)) for level in thresholds(start, stop, step))
    matches = [np.bincount(some.pair[matched(some)], minlength=len(true)) for some in enough]
    table = table_of(true, said, matches, beta)
    if empty == "left_out":
        table[true + said == 0] = 0.0
    return Contributions(table, of_row)


def figures(truth: Coded, prediction: Coded, *, boxes: Layout, start: Start) -> list[Figure]:
    return matrix(truth, prediction, boxes, False, start, strict=True)


mean_precision_at_iou_of_boxes = Metric(
    title="Mean precision at IoU of boxes",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=BoxList(),
    submission=BoxList(confidence=True),
    computation=RowSum(rows=rows, total=total, parts=PARTS, last_line=last_line),
    rules=Rules(verify=verify, unscorable=unscorable, perfect=perfect),
    figures=figures,
    example=Example(
        truth="id,boxes\nimg1,0 0 10 10 20 20 10 10\nimg2,\nimg3,5 5 4 4\n",
        submission="id,boxes\nimg1,0.9 0 0 10 6 0.8 21 20 10 10\nimg2,\nimg3,\n",
        score=0.5185185185185186,
    ),
)
