"""The similarities of the true and the predicted phrases of a row, with the matches marked: a figure for few rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.arrays import Coded
from ..core.figures import Figure, Grid
from .phrases import Phrases, matrices, phrases_of

MOST_ROWS, MOST_PHRASES = 3, 20
Marked = frozenset[tuple[int, int]]


def similarity_matrices(truth: Coded, prediction: Coded, threshold: float, matching: str) -> list[Figure]:
    """A matrix for each of the first three rows that have phrases on both sides, at most twenty on each."""
    true, said = truth.once(phrases_of), prediction.once(phrases_of)
    ours, theirs = true.cells.counts[truth.codes], said.cells.counts[prediction.codes]
    fits = (ours > 0) & (theirs > 0) & (ours <= MOST_PHRASES) & (theirs <= MOST_PHRASES)
    found: list[Figure] = []
    for row in np.flatnonzero(fits)[:MOST_ROWS].tolist():
        cells = truth.codes[row : row + 1], prediction.codes[row : row + 1]
        (block,) = matrices(true, said, *cells)
        values = block.value.reshape(ours[row], theirs[row])
        found.append(
            Grid(
                title=f"Similarity in row {row + 1}",
                corner="true phrase",
                rows=_phrases(true, int(cells[0][0])),
                columns=_phrases(said, int(cells[1][0])),
                cells=values.tolist(),
                marked=MATCHES[matching](values, threshold),
                note=f"Shared words per all words of two phrases. Marked are the matches, from {threshold:g} on.",
            )
        )
    return found


def _phrases(phrases: Phrases, cell: int) -> Sequence[str]:
    starts = phrases.cells.starts
    return [phrases.cells.vocabulary[code].strip() for code in phrases.cells.codes[starts[cell] : starts[cell + 1]]]


def per_truth(values: np.ndarray, threshold: float) -> Marked:
    """Each true phrase and the first of its best predictions."""
    best = values.argmax(axis=1).tolist()
    return frozenset((ours, theirs) for ours, theirs in enumerate(best) if values[ours, theirs] >= threshold)


def per_prediction(values: np.ndarray, threshold: float) -> Marked:
    """Each prediction and the first of its best true phrases."""
    return frozenset((ours, theirs) for theirs, ours in per_truth(values.T, threshold))


def one_to_one(values: np.ndarray, threshold: float) -> Marked:
    """Each true phrase in its turn and the first of the best predictions that are still free."""
    free = values.copy()
    found = set()
    for ours in range(len(free)):
        theirs = int(free[ours].argmax())
        if free[ours, theirs] >= threshold:
            found.add((ours, theirs))
            free[:, theirs] = -1.0
    return frozenset(found)


MATCHES: dict[str, Callable[[np.ndarray, float], Marked]] = {
    "per_truth": per_truth,
    "one_to_one": one_to_one,
    "per_prediction": per_prediction,
}
