"""Masks as run lengths: ``start length start length …``, pixels numbered from 1. Nothing is drawn: areas and
intersections are computed from the ends of the runs."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...core.arrays import Coded
from ...core.contract import distinct_pairs
from ...core.messages import Message, Plural
from ...core.parameters import Range
from ...numerics.cells import blocks, expand, expand_ranges, is_new, starts_by_owner, starts_of
from ...reading.columns import NOTHING, Cells, Kind
from ...reading.tables import pick, plain
from ...reading.text import LONGEST_MASK_LINE

NO_MASK = "-"
"""Written by some files in place of an empty cell."""

LARGEST = 10**12
"""The last pixel allowed, so that the pixels of many pictures side by side can be numbered in 63 bits."""

Pixels = Annotated[
    int | None, Range(1, LARGEST), "Pixels of a picture, its width times its height; empty means not checked."
]

_WHOLE = re.compile("[0-9]{1,18}")
_PICTURE = (6, 5)
"""Height and width of invented pictures."""

FAULTS = {
    "not_run_lengths": Plural(
        '{count} value of {column} is not "start length start length …" in whole numbers from 1 on '
        "(no mask is an empty cell or -): {examples}.",
        '{count} values of {column} are not "start length start length …" in whole numbers from 1 on '
        "(no mask is an empty cell or -): {examples}.",
    ),
    "not_in_order": Plural(
        "{count} value of {column} is made of runs that overlap or do not ascend: {examples}.",
        "{count} values of {column} are made of runs that overlap or do not ascend: {examples}.",
    ),
    "too_large": Plural(
        "{count} value of {column} is naming a pixel beyond {bound}: {examples}.",
        "{count} values of {column} are naming a pixel beyond {bound}: {examples}.",
    ),
    "objects_overlap": Plural(
        "{count} value of {column} is made of objects that share pixels: {examples}.",
        "{count} values of {column} are made of objects that share pixels: {examples}.",
    ),
}
_OUTSIDE = Plural(
    "{count} value of {column} is naming a pixel beyond the {bound} of a picture: {examples}.",
    "{count} values of {column} are naming a pixel beyond the {bound} of a picture: {examples}.",
)


class RunLengths(Kind):
    """A mask as run lengths; an empty cell or ``-`` means no mask. With ``several``: any number of masks, separated by
    ``|``, that share no pixel."""

    longest_line = LONGEST_MASK_LINE

    def __init__(self, *, several: bool = False) -> None:
        self.several = several
        self.words = Message("masks as run lengths, separated by |") if several else Message("mask as run lengths")

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        coded = cells.coded()
        masks = coded.once(masks_of, self.several)
        for code, wrong in masks.faults.items():
            if len(places := np.flatnonzero(wrong[coded.codes])):
                facts = {"bound": LARGEST} if code == "too_large" else NOTHING
                cells.refuse(code, FAULTS[code], places, facts)
        return coded

    def sample(self, truth: Any) -> str:
        return "1 1"

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        if truth is not None and dice.random() < 0.5:
            return [dice.choice(truth.values) for _ in range(width)]
        return [_invented(dice, dice.randint(0, 4) if self.several else dice.randint(0, 1)) for _ in range(width)]


def _invented(dice: random.Random, objects: int) -> str:
    """Rectangles side by side in a small picture whose pixels are numbered from top to bottom, then left to right."""
    height, width = _PICTURE
    masks = []
    for number in range(objects):
        top, bottom = sorted(dice.sample(range(height + 1), 2))
        columns = range(number * width, number * width + dice.randint(1, width))
        masks.append(" ".join(f"{column * height + top + 1} {bottom - top}" for column in columns))
    return "|".join(masks)


@dataclass(frozen=True)
class Masks:
    """The masks of distinct cells: cell c has the objects from ``objects[c]`` to ``objects[c + 1]`` and the runs from
    ``runs[c]`` to ``runs[c + 1]``, which ascend and share no pixel.

    Run r covers the pixels from ``first[r]`` to ``stop[r] - 1`` and belongs to object ``of[r]``; ``areas`` are those of
    the objects. ``faults`` marks, per kind of fault, the cells that have it; if there are any, the other arrays are
    useless.
    """

    objects: np.ndarray
    runs: np.ndarray
    first: np.ndarray
    stop: np.ndarray
    of: np.ndarray
    areas: np.ndarray
    faults: dict[str, np.ndarray]

    def last(self) -> np.ndarray:
        """The last pixel of each cell, 0 without a mask."""
        filled = np.flatnonzero(np.diff(self.runs))
        found = np.zeros(len(self.runs) - 1, np.int64)
        found[filled] = self.stop[self.runs[filled + 1] - 1] - 1
        return found

    def area(self) -> np.ndarray:
        """The number of pixels of each cell."""
        sums = starts_of(self.areas)
        return sums[self.objects[1:]] - sums[self.objects[:-1]]


def masks_of(column: Coded, several: bool) -> Masks:
    """Parse the distinct cells of a column."""
    cell_of_object, object_of_number, numbers = _numbers(column, several)
    cells, objects = column.size, len(cell_of_object)
    counts = np.bincount(object_of_number, minlength=objects)
    faults = {code: np.zeros(cells, bool) for code in FAULTS}
    faults["not_run_lengths"][cell_of_object[counts % 2 == 1]] = True
    faults["not_run_lengths"][cell_of_object[object_of_number[numbers < 1]]] = True
    is_fine = ~faults["not_run_lengths"][cell_of_object[object_of_number]]
    of = object_of_number[is_fine][::2]
    first, length = numbers[is_fine][::2], numbers[is_fine][1::2]
    stop = first + length
    faults["too_large"][cell_of_object[of[stop > LARGEST + 1]]] = True
    faults["not_in_order"][_backwards(of, first, stop, cell_of_object)] = True
    if several and len(_backwards(cell_of_object[of], first, stop, np.arange(cells))):
        # Most objects follow each other without interleaving and need no sorting.
        order = np.lexsort((first, cell_of_object[of]))
        of, first, stop = of[order], first[order], stop[order]
        clash = _backwards(cell_of_object[of], first, stop, np.arange(cells))
        faults["objects_overlap"][clash[~faults["not_in_order"][clash]]] = True
    return Masks(
        objects=starts_by_owner(cell_of_object, cells),
        runs=starts_by_owner(cell_of_object[of], cells),
        first=first,
        stop=stop,
        of=of,
        areas=np.bincount(of, stop - first, minlength=objects).astype(np.int64),
        faults=faults,
    )


def _backwards(owner: np.ndarray, first: np.ndarray, stop: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The cells in which a run begins before the previous run of the same owner ends."""
    return cells[owner[1:][(owner[1:] == owner[:-1]) & (first[1:] < stop[:-1])]]


def _numbers(column: Coded, several: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cell of each object, and the object and value of each number; 0 for texts that are not numbers."""
    import pyarrow.compute as pc

    pieces, owner = column.array, np.arange(column.size)
    if several:
        lists = pc.split_pattern(pieces, "|")
        owner = np.repeat(owner, plain(pc.list_value_length(lists), np.int32))
        pieces = pc.utf8_trim_whitespace(lists.flatten())
    lengths = plain(pc.binary_length(pieces), np.int32)
    short = np.flatnonzero(lengths == 1)
    none = [text == NO_MASK for text in pick(pieces, short).to_pylist()]
    filled = np.setdiff1d(np.flatnonzero(lengths), short[none])
    return owner[filled], *_whole_numbers(pick(pieces, filled))


def _whole_numbers(pieces: Any) -> tuple[np.ndarray, np.ndarray]:
    """The piece and the value of each number; 0 for texts that are not whole numbers from 1 on."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = pc.ascii_split_whitespace(pieces)
    texts = lists.flatten()
    owner = np.repeat(np.arange(len(pieces)), plain(pc.list_value_length(lists), np.int32))
    try:
        values = plain(texts.cast(pa.int64()), np.int64)
    except pa.ArrowInvalid:
        encoded = texts.dictionary_encode()
        known = [int(text) if _WHOLE.fullmatch(text) else 0 for text in encoded.dictionary.to_pylist()]
        values = np.array(known, np.int64)[plain(encoded.indices, np.int32)]
    # Clipped so that the sum of two too large numbers does not overflow and is still too large.
    return owner, np.clip(values, 0, 2 * LARGEST)


@dataclass(frozen=True)
class Overlaps:
    """Overlaps of runs of two masks: in pair ``pair`` of the block, true object ``ours`` and predicted object
    ``theirs`` share ``pixels``. Objects are numbered as in their columns and may occur several times."""

    block: slice
    pair: np.ndarray
    ours: np.ndarray
    theirs: np.ndarray
    pixels: np.ndarray


def overlaps(true: Masks, said: Masks, true_cells: np.ndarray, said_cells: np.ndarray) -> Iterator[Overlaps]:
    """The overlaps of pairs of cells, in blocks of pairs.

    The pictures of a block are laid side by side on one line; both sides are then sorted runs that share no pixel, and
    a binary search finds the runs that overlap. Takes O(runs · log runs).
    """
    sizes = np.diff(true.runs)[true_cells] + np.diff(said.runs)[said_cells] + 1
    for some in blocks(sizes):
        width = int(max(true.stop.max(initial=1), said.stop.max(initial=1)))
        ours, pair = expand(true.runs, true_cells[some])
        theirs, other = expand(said.runs, said_cells[some])
        first, stop = pair * width + true.first[ours], pair * width + true.stop[ours]
        begins, ends = other * width + said.first[theirs], other * width + said.stop[theirs]
        low = np.searchsorted(ends, first, side="right")
        meets, run = expand_ranges(low, np.searchsorted(begins, stop, side="left"))
        pixels = np.minimum(stop[run], ends[meets]) - np.maximum(first[run], begins[meets])
        yield Overlaps(some, pair[run], true.of[ours[run]], said.of[theirs[meets]], pixels)


def areas(truth: Coded, prediction: Coded) -> tuple[np.ndarray, np.ndarray]:
    """For distinct pairs of cells the number of pixels in both masks, in the true one and in the predicted one, shape
    (pairs, 3); and the pair of each row."""
    true, said = truth.once(masks_of, False), prediction.once(masks_of, False)
    true_cells, said_cells, of_row = distinct_pairs(truth, prediction)
    common = np.zeros(len(true_cells))
    for found in overlaps(true, said, true_cells, said_cells):
        here = common[found.block]
        here += np.bincount(found.pair, found.pixels, minlength=len(here))
    return np.column_stack([common, true.area()[true_cells], said.area()[said_cells]]), of_row


def objects_that_meet(
    truth: Coded, prediction: Coded, true_cells: np.ndarray, said_cells: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pair of cells, true object, predicted object and IoU of all objects that share a pixel, sorted by pair."""
    true, said = truth.once(masks_of, True), prediction.once(masks_of, True)
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for meeting in overlaps(true, said, true_cells, said_cells):
        order = np.lexsort((meeting.theirs, meeting.ours, meeting.pair))
        pair, ours, theirs = meeting.pair[order], meeting.ours[order], meeting.theirs[order]
        is_first = is_new(pair, ours, theirs)
        pixels = np.bincount(np.cumsum(is_first) - 1, meeting.pixels[order], minlength=int(is_first.sum()))
        pair, ours, theirs = pair[is_first], ours[is_first], theirs[is_first]
        iou = pixels / (true.areas[ours] + said.areas[theirs] - pixels)
        found.append((pair + meeting.block.start, ours, theirs, iou))
    pairs, true_objects, said_objects, values = map(np.concatenate, zip(*found, strict=True))
    return pairs, true_objects, said_objects, values


def beyond(several: bool) -> tuple[Callable[..., None], Callable[..., str]]:
    """The functions ``verify`` and ``unscorable`` of a metric, which refuse masks with pixels outside the picture."""

    def verify(columns: Sequence[Cells], prediction: Coded, *, pixels: Pixels = None) -> None:
        outside = _outside(prediction, several, pixels)
        if len(outside) and pixels is not None:
            columns[0].refuse("outside_picture", _OUTSIDE, outside, {"bound": pixels})

    def unscorable(truth: Coded, *, pixels: Pixels = None) -> str:
        """The reason why a truth has such masks, which no submission could match, or ``""``."""
        count = len(_outside(truth, several, pixels))
        if not count or pixels is None:
            return ""
        return Message.counted(
            count,
            "{count} mask with a pixel beyond the {bound} of a picture.",
            "{count} masks with a pixel beyond the {bound} of a picture.",
            bound=pixels,
        )

    return verify, unscorable


def _outside(column: Coded, several: bool, pixels: int | None) -> np.ndarray:
    """The rows with a pixel outside the picture."""
    if pixels is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero((column.once(masks_of, several).last() > pixels)[column.codes])
