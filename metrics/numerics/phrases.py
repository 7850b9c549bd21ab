"""Phrases in a cell, their similarity by words, and three ways to match them.

Each distinct pair of phrases is compared once; matching then works on flat arrays, in blocks of rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.arrays import Coded
from ..core.contract import distinct_codes
from ..core.figures import Figure, Grid
from .cells import blocks, expand, is_new, starts_of
from .tokens import Tokens, arrow_texts, in_words, jaccard, tokens, words_in_order

_BLOCK = 50_000
"""Pairs of phrases processed together."""


@dataclass(frozen=True)
class Phrases:
    """The phrases of each distinct cell, in alphabetical order with repetitions, and the words of each distinct
    phrase."""

    cells: Tokens
    words: Tokens


def phrases_of(column: Coded) -> Phrases:
    """Split a column at ``|``; blank phrases are dropped, words are lower-cased."""
    cells = tokens(column.array, "|", words_in_order, distinct=False)
    words = tokens(arrow_texts(cells.vocabulary), None, in_words(lowercase=True), distinct=True)
    return Phrases(cells, words)


def distinct_phrases(cell: str) -> str:
    """The cell without phrases that have the same words as an earlier one.

    >>> distinct_phrases("a b|B a|c|")
    'a b|c'
    """
    first: dict[frozenset[str], str] = {}
    for phrase in cell.split("|"):
        if phrase.strip():
            first.setdefault(frozenset(phrase.lower().split()), phrase.strip())
    return "|".join(first.values())


@dataclass(frozen=True)
class Matrices:
    """The similarity matrices of some rows as flat arrays: for each true phrase the row's predictions in order.

    Entry e compares true phrase ``ours[e]`` with prediction ``theirs[e]`` (indices in the block); ``row_of_true`` and
    ``row_of_said`` are the row in the block of each phrase.
    """

    rows: int
    row_of_true: np.ndarray
    row_of_said: np.ndarray
    ours: np.ndarray
    theirs: np.ndarray
    value: np.ndarray

    def count_true(self, is_counted: np.ndarray) -> np.ndarray:
        """The number of true phrases of each row that the mask ``is_counted`` marks."""
        return np.bincount(self.row_of_true[is_counted], minlength=self.rows)

    def count_said(self, is_counted: np.ndarray) -> np.ndarray:
        """The number of predicted phrases of each row that the mask ``is_counted`` marks."""
        return np.bincount(self.row_of_said[is_counted], minlength=self.rows)


def matrices(true: Phrases, said: Phrases, true_cells: np.ndarray, said_cells: np.ndarray) -> Iterator[Matrices]:
    """The matrices of consecutive rows, in blocks of at most 50,000 entries, or of one row that has more."""
    sizes = true.cells.counts[true_cells] * said.cells.counts[said_cells]
    for some in blocks(sizes, _BLOCK):
        yield _block(true, said, true_cells[some], said_cells[some])


def _block(true: Phrases, said: Phrases, true_cells: np.ndarray, said_cells: np.ndarray) -> Matrices:
    true_places, row_of_true = expand(true.cells.starts, true_cells)
    said_places, row_of_said = expand(said.cells.starts, said_cells)
    theirs, ours = expand(starts_of(said.cells.counts[said_cells]), row_of_true)
    left, right = true.cells.codes[true_places][ours], said.cells.codes[said_places][theirs]
    # Each distinct pair of phrases is compared once.
    width = max(1, len(said.words.counts))
    distinct, which = distinct_codes(left.astype(np.int64) * width + right, len(true.words.counts) * width)
    value = jaccard(true.words, said.words, *np.divmod(distinct, width))[which]
    return Matrices(len(true_cells), row_of_true, row_of_said, ours, theirs, value)


Pairs = tuple[np.ndarray, np.ndarray]
"""True phrases and the predictions that match them, as indices in a block."""


def counts(
    true: Phrases, said: Phrases, true_cells: np.ndarray, said_cells: np.ndarray, threshold: float, matching: str
) -> np.ndarray:
    """tp, fp and fn of each pair of cells, shape (n, 3)."""
    found = [_outcomes(block, threshold, matching) for block in matrices(true, said, true_cells, said_cells)]
    return np.concatenate(found) if found else np.zeros((0, 3))


def _outcomes(block: Matrices, threshold: float, matching: str) -> np.ndarray:
    is_found, is_taken = np.zeros(len(block.row_of_true), bool), np.zeros(len(block.row_of_said), bool)
    ours, theirs = MATCHINGS[matching](block, threshold)
    is_found[ours] = is_taken[theirs] = True
    tp, fn = block.count_true(is_found), block.count_true(~is_found)
    if matching == "per_prediction":  # a true phrase is missed only if no prediction shares a word with it
        best, _ = _best(block.ours, block.value, len(block.row_of_true))
        tp, fn = block.count_said(is_taken), block.count_true(best <= 0)
    return np.column_stack([tp, block.count_said(~is_taken), fn])


def per_truth(block: Matrices, threshold: float) -> Pairs:
    """Each true phrase takes its most similar prediction; one prediction may serve several."""
    best, place = _best(block.ours, block.value, len(block.row_of_true))
    ours = np.flatnonzero(best >= threshold)
    return ours, block.theirs[place[ours]]


def per_prediction(block: Matrices, threshold: float) -> Pairs:
    """Each prediction is judged by itself, with its most similar true phrase."""
    order = np.argsort(block.theirs, kind="stable")
    best, place = _best(block.theirs[order], block.value[order], len(block.row_of_said))
    theirs = np.flatnonzero(best >= threshold)
    return block.ours[order[place[theirs]]], theirs


def one_to_one(block: Matrices, threshold: float) -> Pairs:
    """Each true phrase, in alphabetical order, takes its most similar prediction that is still free."""
    found: dict[int, int] = {}
    taken = set()
    able = np.flatnonzero(block.value >= threshold)
    # Best first within a true phrase; the stable sort keeps predictions in alphabetical order.
    able = able[np.lexsort((-block.value[able], block.ours[able]))]
    for ours, theirs in zip(block.ours[able].tolist(), block.theirs[able].tolist(), strict=True):
        if ours not in found and theirs not in taken:
            found[ours] = theirs
            taken.add(theirs)
    return np.array([*found], np.int64), np.array([*found.values()], np.int64)


def _best(owner: np.ndarray, value: np.ndarray, owners: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest value of each owner (-1 without values) and the first place that has it; owners are sorted."""
    best, place = np.full(owners, -1.0), np.zeros(owners, np.int64)
    if not len(owner):
        return best, place
    starts = np.flatnonzero(is_new(owner))
    best[owner[starts]] = np.maximum.reduceat(value, starts)
    is_best = np.flatnonzero(value == best[owner])
    place[owner[is_best][::-1]] = is_best[::-1]
    return best, place


MATCHINGS: dict[str, Callable[[Matrices, float], Pairs]] = {
    "per_truth": per_truth,
    "one_to_one": one_to_one,
    "per_prediction": per_prediction,
}


MOST_ROWS, MOST_PHRASES = 3, 20


def similarity_matrices(truth: Coded, prediction: Coded, *, threshold: float, matching: str) -> list[Figure]:
    """A matrix for each of the first three rows with one to twenty phrases on both sides."""
    true, said = truth.once(phrases_of), prediction.once(phrases_of)
    ours, theirs = true.cells.counts[truth.codes], said.cells.counts[prediction.codes]
    fits = (ours > 0) & (theirs > 0) & (ours <= MOST_PHRASES) & (theirs <= MOST_PHRASES)
    found: list[Figure] = []
    for row in np.flatnonzero(fits)[:MOST_ROWS].tolist():
        cells = truth.codes[row : row + 1], prediction.codes[row : row + 1]
        (block,) = matrices(true, said, *cells)
        pairs = MATCHINGS[matching](block, threshold)
        found.append(
            Grid(
                title=f"Similarity in row {row + 1}",
                corner="true phrase",
                rows=_phrases(true, int(cells[0][0])),
                columns=_phrases(said, int(cells[1][0])),
                cells=block.value.reshape(ours[row], theirs[row]).tolist(),
                marked=frozenset(zip(*(side.tolist() for side in pairs), strict=True)),
                note=f"Shared words per all words of two phrases. Marked are the matches, from {threshold:g} on.",
            )
        )
    return found


def _phrases(phrases: Phrases, cell: int) -> Sequence[str]:
    starts = phrases.cells.starts
    return [phrases.cells.vocabulary[code].strip() for code in phrases.cells.codes[starts[cell] : starts[cell + 1]]]
