"""Mean over volumes of 1 minus the normalised Hausdorff distance of true and predicted masks.

A row is one mask of one slice, written as run lengths as for `dice`. Four further truth columns, which the host names,
put slices together: the `volume` of the row, its `slice` (numbers in the order of the slices; rows of one slice are
joined), and `height` and `width` of its picture. Coordinates run from 0 to 1 in each direction. For the true voxels $A$
and the predicted voxels $B$ of a volume,

$$H(A, B) = \\frac{1}{\\sqrt 3} \\max\\Big(\\max_{a \\in A} \\min_{b \\in B} |a - b|,\\;
\\max_{b \\in B} \\min_{a \\in A} |a - b|\\Big)$$

and the score is the mean of $1 - H$ over volumes. 1 is perfect; one stray voxel decides about a whole volume.

- Volumes without a mask on either side do not count. If one side alone is empty, $H$ is 1; also where a predicted mask
  leaves the picture, and where more than 10 times the true voxels are predicted.
- With `numbering` = `columns` (default) pixels are numbered from top to bottom, then left to right; with `rows` from
  left to right, then top to bottom.
- Volumes are those of the split, so all rows of one belong to the same part. Pictures of different sizes in one volume,
  volumes of more than 67 million voxels and a part without any mask are refused at publication.

Source: "UW-Madison GI Tract Image Segmentation" on Kaggle, 2022, which added 0.4 `dice` and 0.6 of this (see
`composite_score`). Equals scipy's `directed_hausdorff`, the larger of both ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random as Dice
from typing import Annotated, Any, Literal

import numpy as np

from ..core.arrays import Answers, Coded
from ..core.contract import Example, Metric, Role, Rules, WholeColumn
from ..core.figures import Figure, Grid
from ..core.messages import Message, Plural
from ..numerics.cells import expand
from ..numerics.sums import exact_sum
from ..reading.column_kinds import Label, Number
from ..reading.columns import Cells
from .numerics.masks import RunLengths, masks_of

LARGEST = 1 << 24
"""The most voxels of a volume: measuring takes about two seconds for each million."""

MANY = 10
"""A predicted volume with more than this many times the true voxels gets the worst value."""

_FAR = 1e6
"""The squared distance on a line without voxels; all real distances are below 4."""
_LINES = 20_000
"""Lines of a grid processed together."""


_NOT_WHOLE = Plural(
    "{count} value of {column} is not a whole number: {examples}.",
    "{count} values of {column} are not whole numbers: {examples}.",
)


class PictureSide(Number):
    """A whole number of pixels."""

    def __init__(self) -> None:
        super().__init__(minimum=1, maximum=100_000)
        self.words = Message("whole number of pixels")

    def one(self, cells: Cells) -> np.ndarray:
        values = super().one(cells)
        if len(places := np.flatnonzero(values != np.floor(values))):
            cells.refuse("not_whole", _NOT_WHOLE, places)
        return values

    def random(self, dice: Dice, width: int, truth: Any = None) -> list[str]:
        return ["6"] * width


@dataclass(frozen=True)
class Volume:
    """The ``rows`` of one volume, its ``shape`` (slices, height, width), and the slice of each row."""

    rows: np.ndarray
    shape: tuple[int, int, int]
    slices: np.ndarray


def volumes_of(truth: Answers) -> Iterator[Volume]:
    """The volumes of these rows. Slices are numbered by their order in the volume."""
    _, codes = np.unique(truth["volume"].codes, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(codes))[:-1]):
        known, slices = np.unique(truth["slice"][rows], return_inverse=True)
        yield Volume(rows, (len(known), int(truth["height"][rows[0]]), int(truth["width"][rows[0]])), slices)


def voxels(masks: Coded, volume: Volume, most: int, numbering: str) -> np.ndarray | None:
    """Slice, line and column of each voxel, shape (n, 3), each once; ``None`` if there are more than ``most``, or one
    is outside the pictures."""
    runs = masks.once(masks_of, False)
    _, height, width = volume.shape
    places, owner = expand(runs.runs, masks.codes[volume.rows])
    lengths = runs.stop[places] - runs.first[places]
    if lengths.sum() > most or (len(places) and runs.stop[places].max() - 1 > height * width):
        return None
    start = np.repeat(runs.first[places] - 1 - (np.cumsum(lengths) - lengths), lengths)
    pixel = start + np.arange(len(start))
    numbers = np.unique(np.repeat(volume.slices[owner], lengths) * height * width + pixel)
    at, pixel = np.divmod(numbers, height * width)
    pair = np.divmod(pixel, width) if numbering == "rows" else np.divmod(pixel, height)[::-1]
    return np.column_stack([at, *pair])


def distance(truth: Coded, prediction: Coded, volume: Volume, numbering: str) -> float:
    """The Hausdorff distance in a cube of side 1, divided by its diagonal; NaN if both volumes are empty."""
    true = voxels(truth, volume, LARGEST, numbering)
    assert true is not None
    said = voxels(prediction, volume, max(MANY * len(true), 1), numbering)
    if said is None or (len(true) == 0) != (len(said) == 0):
        return 1.0
    if not len(true):
        return float("nan")
    grids = []
    for points in (true, said):
        # The whole volume, not only the part around the voxels, so that the time does not reveal where these are.
        grid = np.zeros(volume.shape, bool)
        grid[tuple(points.T)] = True
        grids.append(grid)
    ours, theirs = grids
    steps = 1.0 / np.array(volume.shape)
    square = max(farthest(ours, theirs, steps), farthest(theirs, ours, steps))
    return float(np.sqrt(square / 3))


def farthest(points: np.ndarray, others: np.ndarray, steps: np.ndarray) -> float:
    """The largest squared distance from one of the ``points`` of a grid to the nearest of the ``others``."""
    squares = _along_columns(others, float(steps[2]))
    _lower(squares.swapaxes(1, 2), float(steps[1]), np.ones((squares.shape[0], squares.shape[2]), bool))
    _lower(squares.transpose(1, 2, 0), float(steps[0]), np.asarray(points.any(axis=0)))
    return float(squares[points].max())


def _along_columns(grid: np.ndarray, step: float) -> np.ndarray:
    """The squared distance to the nearest voxel in the same slice and line."""
    places = np.arange(grid.shape[2])
    left = np.maximum.accumulate(np.where(grid, places, -_FAR), axis=2)
    right = np.minimum.accumulate(np.where(grid, places, _FAR)[..., ::-1], axis=2)[..., ::-1]
    return np.minimum((np.minimum(places - left, right - places) * step) ** 2, _FAR)


def _lower(squares: np.ndarray, step: float, wanted: np.ndarray) -> None:
    """Replace, along the last axis of the ``wanted`` lines, the values by the lower envelope of parabolas on them."""
    lines = np.argwhere(wanted)
    for start in range(0, len(lines), _LINES):
        one, other = lines[start : start + _LINES].T
        squares[one, other] = _envelope(squares[one, other], step)


def _envelope(values: np.ndarray, step: float) -> np.ndarray:
    """The lower envelope of parabolas (Felzenszwalb and Huttenlocher 2012) of many lines at once, shape (lines, n)."""
    count, length = values.shape
    every = np.arange(count)
    top = np.zeros(count, np.int64)
    base = np.zeros((count, length), np.int64)
    since = np.full((count, length + 1), np.inf)
    since[:, 0] = -np.inf
    heights = values / step**2 + np.arange(length) ** 2
    for place in range(1, length):
        left = every
        while len(left):
            last = base[left, top[left]]
            cut = (heights[left, place] - heights[left, last]) / (2 * (place - last))
            is_over = cut <= since[left, top[left]]
            done = left[~is_over]
            top[done] += 1
            base[done, top[done]] = place
            since[done, top[done]] = cut[~is_over]
            since[done, top[done] + 1] = np.inf
            left = left[is_over]
            top[left] -= 1
    found = np.empty_like(values)
    top[:] = 0
    for place in range(length):
        left = every
        while len(left := left[since[left, top[left] + 1] < place]):
            top[left] += 1
        nearest = base[every, top]
        found[:, place] = values[every, nearest] + ((place - nearest) * step) ** 2
    return found


Numbering = Annotated[Literal["columns", "rows"], "How pixels are numbered: columns after columns or rows after rows."]


def measured(truth: Answers, prediction: Coded, numbering: str) -> list[tuple[Volume, float]]:
    """The volumes that count, each with its distance."""
    found = [(volume, distance(truth.answer, prediction, volume, numbering)) for volume in volumes_of(truth)]
    return [(volume, apart) for volume, apart in found if not np.isnan(apart)]


def score(truth: Answers, prediction: Coded, *, numbering: Numbering = "columns") -> float:
    values = np.array([1.0 - apart for _, apart in measured(truth, prediction, numbering)])
    return float(exact_sum(values)) / len(values) if len(values) else 0.0


def influence(truth: Answers, prediction: Coded, *, numbering: Numbering) -> np.ndarray:
    """The influence of each volume on the mean, divided among its rows so that their squares add up to that of the
    volume."""
    found = measured(truth, prediction, numbering)
    mean = score(truth, prediction, numbering=numbering)
    effects = np.zeros(len(prediction))
    for volume, apart in found:
        effects[volume.rows] = (1.0 - apart - mean) / (len(found) * np.sqrt(len(volume.rows)))
    return effects


def figures(truth: Answers, prediction: Coded, *, numbering: Numbering) -> list[Figure]:
    found = measured(truth, prediction, numbering)
    names = [str(truth["volume"].values[truth["volume"].codes[volume.rows[0]]]) for volume, _ in found]
    cells = [[len(volume.rows), volume.shape[0], apart, 1.0 - apart] for volume, apart in found]
    note = "The score is the mean of the last column."
    return [Grid("Each volume", names, ["rows", "slices", "distance", "worth"], cells, corner="volume", note=note)]


def unscorable(truth: Answers) -> str:
    last = truth.answer.once(masks_of, False).last()[truth.answer.codes]
    if not last.any():
        return Message("it has no mask to be found.")
    for volume in volumes_of(truth):
        count, height, width = volume.shape
        name = str(truth["volume"].values[truth["volume"].codes[volume.rows[0]]])
        if (truth["height"][volume.rows] != height).any() or (truth["width"][volume.rows] != width).any():
            return Message("the pictures of the volume {volume} differ in size.", volume=name)
        if count * height * width > LARGEST:
            return Message("the volume {volume} has more than {most} voxels.", volume=name, most=LARGEST)
        if last[volume.rows].max() > height * width:
            return Message("a mask of the volume {volume} leaves its picture.", volume=name)
    return ""


hausdorff_3d = Metric(
    title="Hausdorff distance of volumes",
    group="Masks and boxes",
    direction="maximize",
    worst=0.0,
    truth=RunLengths(),
    roles={
        "volume": Role(Label(), "The volume of each row."),
        "slice": Role(Number(), "A number by which the slices of a volume are ordered."),
        "height": Role(PictureSide(), "Lines of the row's picture."),
        "width": Role(PictureSide(), "Columns of the row's picture."),
    },
    computation=WholeColumn(score=score, influence=influence),
    rules=Rules(unscorable=unscorable),
    figures=figures,
    example=Example(
        truth="id,mask,volume,slice,height,width\n1,1 2,v,1,4,4\n2,1 2,v,2,4,4\n3,,w,1,4,4\n4,6 1,w,2,4,4\n",
        submission="id,mask\n1,1 2\n2,1 3\n3,\n4,6 1\n",
        score=0.9278312163512967,
    ),
)
