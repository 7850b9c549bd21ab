"""Boxes in one cell, four numbers each, and their intersection over union.

A box may begin with its class and then, in a submission, with its confidence: ``class confidence x y w h``. The end of
this file has labelled boxes and labelled points: ``label x y width height …`` and ``label x y …``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random as Dice
from typing import Annotated, Any, Literal

import numpy as np

from ...core.arrays import Coded
from ...core.errors import shown
from ...core.figures import Figure
from ...core.messages import Message, Plural
from ...numerics.cells import blocks, expand, starts_of
from ...reading.columns import Cells, Kind
from ...reading.numbers import PLAIN_NUMBER, numbers_in
from ...reading.tables import pick, plain
from ...reading.text import LONGEST_MASK_LINE
from .overlap_precision import matrices

Layout = Annotated[
    Literal["xywh", "corners"],
    "xywh: left, top, width, height; corners: left, top, right, bottom (xmin ymin xmax ymax).",
]

Classes = Annotated[bool, "Whether each box begins with its class."]

LARGEST = 1e9
"""The largest coordinate or confidence allowed, so that areas are finite."""


class BoxList(Kind):
    """Any number of boxes in one cell; empty means none. The format of a box depends on parameters, so ``verify`` and
    ``unscorable`` check it, not ``read``."""

    longest_line = LONGEST_MASK_LINE

    def __init__(self, *, confidence: bool = False) -> None:
        self.confidence = confidence
        self.words = Message("boxes, each with its confidence") if confidence else Message("boxes")

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        return cells.coded()

    def sample(self, truth: Any) -> str:
        return ""

    def random(self, dice: Dice, width: int, truth: Any = None) -> list[str]:
        """Boxes on a small grid, so that some overlap; without classes, as these depend on a parameter."""
        return [" ".join(self._box(dice) for _ in range(dice.randint(0, 3))) for _ in range(width)]

    def _box(self, dice: Dice) -> str:
        confidence = f"{dice.randint(0, 4) / 4} " if self.confidence else ""
        return f"{confidence}{dice.randint(0, 3)} {dice.randint(0, 3)} {dice.randint(1, 5)} {dice.randint(1, 5) / 2}"


@dataclass(frozen=True)
class Boxes:
    """The boxes of distinct cells: cell c has those from ``starts[c]`` to ``starts[c + 1]``.

    ``corners`` are left, top, right, bottom, shape (n, 4); ``areas`` are 0 where the corners enclose nothing.
    ``labels`` are codes of the sorted ``vocabulary``. ``faults`` marks cells that could not be read, whose boxes may be
    incomplete.
    """

    starts: np.ndarray
    corners: np.ndarray
    areas: np.ndarray
    confidence: np.ndarray
    labels: np.ndarray
    vocabulary: list[str]
    faults: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        return np.diff(self.starts)


def boxes_of(column: Coded, layout: str, classes: bool, confidence: bool) -> Boxes:
    """Parse the distinct cells of a column."""
    width = classes + confidence + 4
    owner, texts, of_cells = _pieces(column.array)
    faults = of_cells % width != 0
    usable = np.flatnonzero(~faults[owner])
    owner, texts = owner[usable].reshape(-1, width)[:, 0], pick(texts, usable)
    grid = np.arange(len(texts)).reshape(-1, width)
    values = numbers_in(pick(texts, grid[:, classes:].ravel())).reshape(-1, width - classes)
    faults[owner[~(np.abs(values) <= LARGEST).all(axis=1)]] = True
    fine = np.flatnonzero(~faults[owner])
    values = values[fine]
    labels, vocabulary = _labels(pick(texts, grid[fine, 0])) if classes else (np.zeros(len(fine), np.int64), [])
    corners = values[:, -4:].copy()
    if layout == "xywh":
        corners[:, 2:] += corners[:, :2]
    sides = corners[:, 2:] - corners[:, :2]
    return Boxes(
        starts=starts_of(np.bincount(owner[fine], minlength=column.size)),
        corners=corners,
        areas=np.where((sides > 0).all(axis=1), sides[:, 0] * sides[:, 1], 0.0),
        confidence=values[:, 0] if confidence else np.ones(len(values)),
        labels=labels,
        vocabulary=vocabulary,
        faults=faults,
    )


def _pieces(cells: Any) -> tuple[np.ndarray, Any, np.ndarray]:
    """The cell and the text of each piece, and the number of pieces of each cell."""
    import pyarrow.compute as pc

    filled = np.flatnonzero(plain(pc.binary_length(cells), np.int32))
    lists = pc.ascii_split_whitespace(pick(cells, filled))
    counts = np.zeros(len(cells), np.int64)
    counts[filled] = plain(pc.list_value_length(lists), np.int32)
    return np.repeat(np.arange(len(cells)), counts), lists.flatten(), counts


def _labels(texts: Any) -> tuple[np.ndarray, list[str]]:
    """The code of each label, and the sorted labels, so that sums over classes do not depend on the order of the
    file."""
    encoded = texts.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    vocabulary = sorted(names)
    rank = {name: place for place, name in enumerate(vocabulary)}
    return np.array([rank[name] for name in names], np.int64)[plain(encoded.indices, np.int32)], vocabulary


def parts_of(classes: bool, confidence: bool, layout: str) -> str:
    """The format of a box in words.

    >>> parts_of(True, True, "corners")
    'class confidence left top right bottom'
    """
    sides = "left top width height" if layout == "xywh" else "left top right bottom"
    return "class " * classes + "confidence " * confidence + sides


_NOT_BOXES = Plural(
    "{count} value of {column} is not {boxes} in plain numbers up to {most}: {examples}.",
    "{count} values of {column} are not {boxes} in plain numbers up to {most}: {examples}.",
)


def verify(columns: Sequence[Cells], prediction: Coded, *, boxes: Layout, classes: Classes = False) -> None:
    """Refuse a submission's cells that are not boxes."""
    faults = prediction.once(boxes_of, boxes, classes, True).faults
    places = np.flatnonzero(faults[prediction.codes])
    if len(places):
        what, most = f'"{parts_of(classes, True, boxes)} …"', f"{LARGEST:,.0f}"
        columns[0].refuse("not_boxes", _NOT_BOXES, places, {"boxes": what, "most": most})


def unscorable(truth: Coded, *, boxes: Layout, classes: Classes = False) -> str:
    """The reason why a truth cannot be scored (cells that are not boxes, boxes without area), or ``""``."""
    true = truth.once(boxes_of, boxes, classes, False)
    used = np.unique(truth.codes)
    if count := int(true.faults[truth.codes].sum()):
        cell = truth.values[int(truth.codes[np.flatnonzero(true.faults[truth.codes])[0]])]
        return Message.counted(
            count,
            "{count} cell is not {boxes}, such as {example}.",
            "{count} cells are not {boxes}, such as {example}.",
            boxes=f'"{parts_of(classes, False, boxes)} …"',
            example=shown(cell),
        )
    places, which = expand(true.starts, used)
    flat = np.flatnonzero(true.areas[places] <= 0)
    if len(flat):
        return Message("a box has no area, in {cell}.", cell=shown(truth.values[int(used[which[flat[0]]])]))
    return ""


def perfect(truth: Coded, *, classes: Classes = False) -> list[list[str]]:
    """The true boxes with confidence 1."""
    cells = []
    for code in truth.codes:
        pieces = truth.values[code].split()
        boxes = [pieces[place : place + classes + 4] for place in range(0, len(pieces), classes + 4)]
        cells.append(" ".join(" ".join([*box[:-4], "1", *box[-4:]]) for box in boxes))
    return [cells]


@dataclass(frozen=True)
class Meetings:
    """Pairs of a true and a predicted box of the same class in the same picture with enough overlap: ``pair`` is the
    pair of cells, ``ours`` and ``theirs`` are the boxes' indices in their columns."""

    pair: np.ndarray
    ours: np.ndarray
    theirs: np.ndarray
    iou: np.ndarray

    def take(self, places: np.ndarray) -> "Meetings":
        return Meetings(self.pair[places], self.ours[places], self.theirs[places], self.iou[places])


def labels_of_truth(true: Boxes, said: Boxes) -> np.ndarray:
    """The labels of predicted boxes as codes of the truth; -1 for labels that the truth lacks."""
    known = {label: code for code, label in enumerate(true.vocabulary)}
    return np.array([known.get(label, -1) for label in said.vocabulary] or [0], np.int64)[said.labels]


def meetings(true: Boxes, said: Boxes, true_cells: np.ndarray, said_cells: np.ndarray, least: float) -> Meetings:
    """All pairs of boxes of the same class with an IoU above 0 and of at least ``least``.

    Predicted boxes are processed in blocks, each against the true boxes of its picture, so that a picture full of boxes
    needs no full matrix.
    """
    said_labels = labels_of_truth(true, said)
    places, pair = expand(said.starts, said_cells)
    cells = true_cells[pair]
    nothing = np.zeros(0, np.int64)
    found = [Meetings(nothing, nothing, nothing, np.zeros(0))]
    for some in blocks(true.counts[cells]):
        ours, owner = expand(true.starts, cells[some])
        theirs = places[some][owner]
        same_label = np.flatnonzero(true.labels[ours] == said_labels[theirs])
        ours, theirs, owner = ours[same_label], theirs[same_label], owner[same_label]
        iou = _iou(true, said, ours, theirs)
        able = np.flatnonzero((iou >= least) & (iou > 0))
        found.append(Meetings(pair[some][owner[able]], ours[able], theirs[able], iou[able]))
    return Meetings(
        pair=np.concatenate([one.pair for one in found]),
        ours=np.concatenate([one.ours for one in found]),
        theirs=np.concatenate([one.theirs for one in found]),
        iou=np.concatenate([one.iou for one in found]),
    )


def in_turn(meet: Meetings, said: Boxes) -> Meetings:
    """Sorted in the order of choosing: by pair of cells, then predicted boxes by falling confidence (ties: by place in
    the cell), and for each the true boxes by falling overlap (ties: by place in the cell)."""
    return meet.take(np.lexsort((meet.ours, -meet.iou, meet.theirs, -said.confidence[meet.theirs], meet.pair)))


def numbered(meet: Meetings) -> Meetings:
    """The same pairs with boxes renumbered so that the boxes of each pair of cells have different numbers."""
    ours, theirs = (
        np.unique(meet.pair * (int(box.max(initial=0)) + 1) + box, return_inverse=True)[1]
        for box in (meet.ours, meet.theirs)
    )
    return Meetings(meet.pair, ours, theirs, meet.iou)


def matched(meet: Meetings) -> np.ndarray:
    """The places at which a predicted box takes a true one; the pairs are sorted by ``in_turn``, and each predicted box
    takes the first true box that is still free.

    A pair that is first for both of its boxes is taken in any case; when other pairs of these boxes are removed,
    further pairs become first. A few rounds are enough, except for long chains of boxes that wait for each other.
    """
    first, is_taken = (
        [np.zeros(int(boxes.max(initial=-1)) + 1, kind) for boxes in (meet.ours, meet.theirs)] for kind in (int, bool)
    )
    left, found = np.arange(len(meet.pair)), [np.zeros(0, np.int64)]
    while len(left):
        sides, places = (meet.ours[left], meet.theirs[left]), np.arange(len(left))
        for side, start in zip(sides, first, strict=True):
            start[side[::-1]] = places[::-1]
        wins = (first[0][sides[0]] == places) & (first[1][sides[1]] == places)
        for side, taken in zip(sides, is_taken, strict=True):
            taken[side[wins]] = True
        found.append(left[wins])
        left = left[~(is_taken[0][sides[0]] | is_taken[1][sides[1]])]
    return np.concatenate(found)


def matrix(truth: Coded, prediction: Coded, layout: str, classes: bool, least: float, *, strict: bool) -> list[Figure]:
    """The IoU of all boxes of the first pictures; pairs with enough overlap for a match are marked."""
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)

    def met(row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ours, theirs = truth.codes[row : row + 1], prediction.codes[row : row + 1]
        found = meetings(true, said, ours, theirs, 0.0)
        return found.ours - true.starts[ours], found.theirs - said.starts[theirs], found.iou

    return matrices(true.counts[truth.codes], said.counts[prediction.codes], met, least, strict=strict)


def _iou(true: Boxes, said: Boxes, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    low = np.maximum(true.corners[ours, :2], said.corners[theirs, :2])
    high = np.minimum(true.corners[ours, 2:], said.corners[theirs, 2:])
    sides = np.maximum(high - low, 0.0)
    common = sides[:, 0] * sides[:, 1]
    union = true.areas[ours] + said.areas[theirs] - common
    return np.where((said.areas[theirs] > 0) & (union > 0), common / np.where(union > 0, union, 1.0), 0.0)


Item = tuple[str, tuple[float, ...]]
"""A label and its numbers."""

_NOT_LABELLED_BOXES = Plural(
    '{count} value of {column} is not "label x y width height …" in plain numbers, with sides above 0: {examples}.',
    '{count} values of {column} are not "label x y width height …" in plain numbers, with sides above 0: {examples}.',
)
_NOT_LABELLED_POINTS = Plural(
    '{count} value of {column} is not "label x y …" in plain numbers: {examples}.',
    '{count} values of {column} are not "label x y …" in plain numbers: {examples}.',
)


def items_of(cell: str, numbers: int) -> list[Item] | None:
    """The labels of a cell, each with its numbers; ``None`` if the cell has another format."""
    words, width = cell.split(), numbers + 1
    if len(words) % width:
        return None
    found = []
    for start in range(0, len(words), width):
        texts = words[start + 1 : start + width]
        if not all(map(PLAIN_NUMBER.fullmatch, texts)):
            return None
        values = tuple(map(float, texts))
        if not all(abs(value) <= LARGEST for value in values):
            return None
        found.append((words[start], values))
    return found


class LabelledBoxes(Kind):
    """Any number of boxes in one cell, each preceded by its label; empty means none."""

    words = Message("labelled boxes")
    longest_line = LONGEST_MASK_LINE
    numbers = 4

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        coded = cells.coded()
        wrong = np.array([self._is_wrong(items) for items in coded.map(items_of, self.numbers).values], bool)
        if len(places := np.flatnonzero(wrong[coded.codes]) if len(wrong) else wrong):
            cells.refuse("not_labelled", _NOT_LABELLED_BOXES if self.numbers == 4 else _NOT_LABELLED_POINTS, places)
        return coded

    def _is_wrong(self, items: list[Item] | None) -> bool:
        return items is None or any(min(sides, default=1.0) <= 0 for _, (_, _, *sides) in items)

    def sample(self, truth: Any) -> str:
        return ""

    def random(self, dice: Dice, width: int, truth: Any = None) -> list[str]:
        return [" ".join(self._item(dice) for _ in range(dice.randint(0, 4))) for _ in range(width)]

    def _item(self, dice: Dice) -> str:
        place = f"{dice.choice('ab')} {dice.randint(0, 5)} {dice.randint(0, 5)}"
        return f"{place} {dice.randint(1, 5)} {dice.randint(1, 5)}" if self.numbers == 4 else place


class LabelledPoints(LabelledBoxes):
    """Any number of points in one cell, each preceded by its label; empty means none."""

    words = Message("labelled points")
    numbers = 2
