"""Mean precision of objects in pictures at rising thresholds of IoU.

A cell holds all objects of a picture, each a mask as run lengths, separated by `|`: `1 3 10 1|20 5` are two objects.
Runs ascend; no two objects of a cell share a pixel. (Competition files with one line per object become this by joining
the lines of a picture with `|`.) At a threshold $t$ a predicted object matches a true one if their intersection over
union is **greater than** $t$; from 0.5 on it can match only one. With $tp$ matches, $fp$ predictions and $fn$ true
objects left over,

$$\\frac{1}{n} \\sum_{i=1}^{n} \\frac{1}{|T|} \\sum_{t \\in T} \\frac{tp_i(t)}{tp_i(t) + fp_i(t) + fn_i(t)}$$

with $T$ from `start` to `stop` in steps of `step`: 0.5, 0.55 … 0.95 as a default. No IoU is above a threshold
of 1, not even a perfect file's, so they end at 0.99.

A picture without objects scores 1 if none is predicted, else 0; predicting nothing where there is something scores 0.
One object found with IoU 0.72 is above five of ten thresholds: 0.5. An IoU of exactly 0.5 matches at none.

With `beta`, F-beta of the objects takes the place of $tp / (tp + fp + fn)$; with `pooling` = `pooled` the objects of
all pictures are counted together at each threshold.

Source: 2018 Data Science Bowl; Sartorius Cell Instance Segmentation; TGS Salt Identification (at most one mask per
cell); Airbus Ship Detection (`beta` 2).
"""

from typing import Annotated

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Example, Metric, RowSum, Rules, distinct_pairs
from ..core.figures import Figure
from ..core.parameters import Range
from .numerics.masks import Pixels, RunLengths, beyond, masks_of, objects_that_meet
from .numerics.overlap_precision import PARTS, Beta, Step, Stop, last_line, matrices, table_of, thresholds, total

Start = Annotated[float, Range(0.5, 0.99), "The first threshold; from 0.5 on an object can match only one other."]


def rows(
    truth: Coded,
    prediction: Coded,
    *,
    start: Start = 0.5,
    stop: Stop = 0.95,
    step: Step = 0.05,
    beta: Beta = None,
    pixels: Pixels = None,
) -> Contributions:
    """The row's counts and values as in ``table_of``; ``pixels`` is checked by ``verify``."""
    true_cells, said_cells, of_row = distinct_pairs(truth, prediction)
    true = np.diff(truth.once(masks_of, True).objects)[true_cells]
    said = np.diff(prediction.once(masks_of, True).objects)[said_cells]
    pair, _, _, iou = objects_that_meet(truth, prediction, true_cells, said_cells)
    matches = [np.bincount(pair[iou > level], minlength=len(true)) for level in thresholds(start, stop, step)]
    return Contributions(table_of(true, said, matches, beta), of_row)


def figures(truth: Coded, prediction: Coded, *, start: Start) -> list[Figure]:
    true, said = truth.once(masks_of, True).objects, prediction.once(masks_of, True).objects

    def met(row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cells = truth.codes[row : row + 1], prediction.codes[row : row + 1]
        _, ours, theirs, iou = objects_that_meet(truth, prediction, *cells)
        return ours - true[cells[0]], theirs - said[cells[1]], iou

    return matrices(np.diff(true)[truth.codes], np.diff(said)[prediction.codes], met, start)


verify, unscorable = beyond(several=True)

mean_precision_at_iou = Metric(
    title="Mean precision at IoU",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=RunLengths(several=True),
    computation=RowSum(rows=rows, total=total, parts=PARTS, last_line=last_line),
    rules=Rules(verify=verify, unscorable=unscorable),
    figures=figures,
    example=Example(
        truth="id,masks\nimg1,1 10|20 10\nimg2,\nimg3,5 4\n",
        submission="id,masks\nimg1,1 9|24 10\nimg2,\nimg3,\n",
        score=0.4222222222222222,
    ),
)
