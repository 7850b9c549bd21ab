"""F1 of labelled points: right is a point inside a true box of the same label.

The truth's cell holds the boxes of a picture, each with its label, left, top, width and height: `cat 10 10 40 30`. The
submission's cell holds a label and a point for each: `cat 12 31`. A label is a word without white space. With $tp$
boxes that were found, $fn$ that were not, and $fp$ points that found none, over all pictures together,

$$F_1 = \\frac{2\\,tp}{2\\,tp + fp + fn}$$

- A point finds a box if it lies inside it, not on its border, and has its label. True boxes choose in the order of
  their cell, each the first such point that no other box has; so one point finds one box.
- A picture without boxes is an empty cell; points there are wrong.
- `most` is how many points a cell may have; more are an error. Without that limit, covering the picture with points
  would cost precision only.

Two boxes `a 0 0 4 4 b 10 10 4 4` and points `a 1 1 a 11 11`: one of each is right, so the score is 0.5. A part of the
truth without a box is refused at publication.

Source: "Kuzushiji Recognition" on Kaggle, 2019, with the Unicode names of characters as labels.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, Example, Metric, RowSum, Rules, each_pair
from ..core.messages import Message, Plural
from ..core.parameters import Range
from ..numerics.averages import f_beta
from ..reading.columns import Cells
from .numerics.boxes import Item, LabelledBoxes, LabelledPoints, items_of

Most = Annotated[int, Range(1, 100_000), "So many points a cell may have."]
_TOO_MANY = Plural(
    "{count} value of {column} has more than {most} points: {examples}.",
    "{count} values of {column} have more than {most} points: {examples}.",
)


def rows(truth: Coded, prediction: Coded, *, most: Most = 1200) -> Contributions:
    """For each row the boxes with a point, points without a box, and boxes without a point; ``most`` is checked by
    ``verify``."""
    return each_pair(truth.map(items_of, 4), prediction.map(items_of, 2), found_in)


def found_in(boxes: list[Item], points: list[Item]) -> tuple[int, int, int]:
    """The counts of one picture."""
    free: dict[str, list[tuple[float, ...]]] = {}
    for label, point in points:
        free.setdefault(label, []).append(point)
    found = 0
    for label, (left, top, width, height) in boxes:
        for place, (x, y) in enumerate(free.get(label, ())):
            if left < x < left + width and top < y < top + height:
                del free[label][place]
                found += 1
                break
    return found, len(points) - found, len(boxes) - found


def total(sums: np.ndarray) -> float:
    tp, fp, fn = sums
    return f_beta(tp, fp, fn, 1.0)


def verify(columns: Sequence[Cells], prediction: Coded, *, most: Most) -> None:
    many = np.array([len(items or ()) > most for items in prediction.map(items_of, 2).values], bool)
    if len(places := np.flatnonzero(many[prediction.codes]) if len(many) else many):
        columns[0].refuse("too_many_points", _TOO_MANY, places, {"most": most}, quote=False)


def unscorable(truth: Coded) -> str:
    counts = np.array([len(items) for items in truth.map(items_of, 4).values])
    return "" if counts[truth.codes].any() else Message("it has no box to be found.")


def perfect(truth: Coded) -> list[list[str]]:
    cells = [
        " ".join(f"{label} {x + width / 2!r} {y + height / 2!r}" for label, (x, y, width, height) in items)
        for items in truth.map(items_of, 4).values
    ]
    return [[cells[code] for code in truth.codes]]


labelled_points_f1 = Metric(
    title="F1 of labelled points",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=LabelledBoxes(),
    submission=LabelledPoints(),
    computation=RowSum(
        rows=rows,
        total=total,
        parts=("tp", "fp", "fn"),
        last_line="2·{tp} / (2·{tp} + {fp} + {fn})",
    ),
    rules=Rules(verify=verify, unscorable=unscorable, perfect=perfect),
    example=Example(
        truth="id,labels\np1,a 0 0 4 4 b 10 10 4 4\np2,a 1 1 2 2\np3,\n",
        submission="id,labels\np1,a 1 1 a 11 11\np2,a 2 2\np3,b 5 5\n",
        score=0.5714285714285714,
    ),
)
