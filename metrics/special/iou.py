"""Intersection over union (Jaccard) of a true and a predicted mask.

A mask is written as run lengths: `3 2 10 4` are the pixels 3, 4, 10, 11, 12 and 13. Pixels are numbered from 1; whether
by row or by column does not matter, as long as both files do the same. Runs ascend and share no pixel. For a true mask
$a$ and a predicted mask $b$,

$$\\mathrm{IoU}(a, b) = \\frac{|a \\cap b|}{|a \\cup b|}$$

- `pooling` = `rows` (default): this value for each row, then the mean over rows;
- `pooling` = `pooled`: the pixels are added over all rows, then one value.

Two empty masks are worth 1, one empty mask is worth 0. Truth `1 3 10 1` and prediction `2 3` share 2 of 5 pixels: 0.4.
With `pixels`, a mask beyond the picture is an error; otherwise such pixels are wrong.

Source: Jaccard 1912. Equals scikit-learn's `jaccard_score` of the pixels; from Dice $D$ of one row it follows as
$D / (2 - D)$.
"""

from typing import Annotated, Literal

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Example, Metric, RowSum, Rules, ratio
from .numerics.masks import Pixels, RunLengths, areas, beyond

Pooling = Annotated[Literal["rows", "pooled"], "rows: mean over rows; pooled: pixels of all rows together."]


def rows(truth: Coded, prediction: Coded, *, pixels: Pixels = None) -> Contributions:
    """Pixels in both masks and in either, IoU of each row, and 1 for the row; ``pixels`` is checked by ``verify``."""
    table, of_row = areas(truth, prediction)
    common, true, said = table.T
    union = true + said - common
    iou = ratio(common, union, empty=1.0)
    return Contributions(np.column_stack([common, union, iou, np.ones(len(table))]), of_row)


def total(sums: np.ndarray, *, pooling: Pooling = "rows") -> float:
    intersection, union, iou, count = sums
    return ratio(iou, count) if pooling == "rows" else ratio(intersection, union, empty=1.0)


def last_line(*, pooling: Pooling) -> str:
    return "{iou} / {rows}" if pooling == "rows" else "{intersection} / {union}"


verify, unscorable = beyond(several=False)

iou = Metric(
    title="IoU",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=RunLengths(),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("intersection", "union", "iou", "rows"),
        last_line=last_line,
    ),
    rules=Rules(verify=verify, unscorable=unscorable),
    example=Example(
        truth="id,mask\nimg1,1 3 10 1\nimg2,5 4\nimg3,\n",
        submission="id,mask\nimg1,2 3\nimg2,5 4\nimg3,7 1\n",
        score=0.4666666666666666,
    ),
)
