"""Overlap of a true and a predicted mask: twice the common pixels, divided by the pixels of both.

A mask is written as run lengths: `3 2 10 4` are the pixels 3, 4, 10, 11, 12 and 13. Pixels are numbered from 1; whether
by row or by column does not matter, as long as both files do the same (Kaggle counts from top to bottom, then left to
right). Runs ascend and share no pixel. For a true mask $a$ and a predicted mask $b$,

$$D(a, b) = \\frac{2\\,|a \\cap b|}{|a| + |b|}$$

- `pooling` = `rows` (default): this value for each row, then the mean over rows;
- `pooling` = `pooled`: the pixels are added over all rows, then one value.

An empty cell or `-` is an empty mask. Two empty masks are worth 1, one empty mask is worth 0: with many empty truths,
an empty file scores high by rows and 0 pooled; with `both_empty` = `skip` such rows do not count. Truth `1 3 10 1` and
prediction `2 3` share 2 pixels of 4 and 3: $4 / 7 = 0.571$.

`beta` other than 1 weighs recall, the share of $a$ that was found: $(1 + \\beta^2)\\,|a \\cap b|$
divided by $\\beta^2 |a| + |b|$. With `pixels`, a mask beyond the picture is an error; otherwise such pixels are wrong.

Source: Dice 1945. On Kaggle by rows: Carvana, Severstal, HuBMAP, SIIM-ACR Pneumothorax (whose runs told the distance
from the run before, and `-1` was no mask); pooled: Identify Contrails; with `beta` 0.5: Vesuvius Ink Detection. Equals
the F1 score of pixels.
"""

from typing import Annotated, Literal

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Example, Metric, RowSum, Rules, ratio
from ..core.messages import Message
from ..numerics.averages import Beta, f_beta
from .numerics.masks import Pixels, RunLengths, areas, beyond, masks_of

BothEmpty = Annotated[
    Literal["1", "skip"], "1: two empty masks are worth 1; skip: rows with two empty masks do not count in the mean."
]
Pooling = Annotated[Literal["rows", "pooled"], "rows: mean over rows; pooled: pixels of all rows together."]


def rows(
    truth: Coded, prediction: Coded, *, beta: Beta = 1.0, pixels: Pixels = None, both_empty: BothEmpty = "1"
) -> Contributions:
    """Common, true and predicted pixels and Dice of each row, and 1 for the row; ``pixels`` is checked by
    ``verify``."""
    table, of_row = areas(truth, prediction)
    common, true, said = table.T
    is_empty = true + said == 0
    dice = f_beta(common, said - common, true - common, beta)
    counted = ~is_empty if both_empty == "skip" else np.ones(len(table), bool)
    return Contributions(np.column_stack([table, dice * counted, counted]), of_row)


def total(sums: np.ndarray, *, pooling: Pooling = "rows", beta: Beta = 1.0) -> float:
    common, true, said, dice, count = sums
    return ratio(dice, count) if pooling == "rows" else f_beta(common, said - common, true - common, beta)


def last_line(*, pooling: Pooling, beta: Beta) -> str:
    if pooling == "rows":
        return "{dice} / {rows}"
    if beta == 1:
        return "2·{common} / ({true_pixels} + {predicted_pixels})"
    return "(1 + {beta}²)·{common} / ({beta}²·{true_pixels} + {predicted_pixels})"


verify, beyond_picture = beyond(several=False)


def unscorable(truth: Coded, *, pixels: Pixels, both_empty: BothEmpty) -> str:
    """The reason why a part cannot be scored, or ``""``: a mask leaves the picture, or all masks are empty and empty
    ones do not count."""
    if both_empty == "skip" and not truth.once(masks_of, False).area()[truth.codes].any():
        return Message("it has no mask to be found.")
    return beyond_picture(truth, pixels=pixels)


dice = Metric(
    title="Dice",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=RunLengths(),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("common", "true_pixels", "predicted_pixels", "dice", "rows"),
        last_line=last_line,
    ),
    rules=Rules(verify=verify, unscorable=unscorable),
    example=Example(
        truth="id,mask\nimg1,1 3 10 1\nimg2,5 4\nimg3,\n",
        submission="id,mask\nimg1,2 3\nimg2,5 4\nimg3,7 1\n",
        score=0.5238095238095238,
    ),
)
