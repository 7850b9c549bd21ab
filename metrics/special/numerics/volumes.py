"""Masks of slices combined to volumes, and the Hausdorff distance of two volumes."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random as Dice
from typing import Any

import numpy as np

from ...core.arrays import Answers, Coded
from ...core.messages import Message, Plural
from ...numerics.cells import expand
from ...reading.columns import Cells
from ...reading.number_kinds import Number
from .masks import masks_of

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
