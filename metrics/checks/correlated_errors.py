"""Whose errors rise and fall together, where files say numbers of which hardly two are the same.

What everybody has in common says nothing: the noise of the answers is in all errors, weak files lean towards the mean,
and a hard row is hard for all. So what follows from the answer and from the mean error of all others is taken from the
errors of two files, and what is left is correlated. A pair is named where that is high and far above the other pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

MANY = 30
"""A file with fewer different answers says labels, or next to nothing."""
FEWEST = 5
"""Files; fewer do not say what is usual."""
HIGH = 0.9
FAR = 5.0
"""How many times the usual spread of pairs one must lie above their middle."""
LEAST_SPREAD = 0.05
STRAY = 10.0
"""Errors count as no larger than so many times the median error."""


@dataclass(frozen=True)
class Together:
    """Two files by their places in the list that was given; `usual` is the correlation of the median pair."""

    first: int
    second: int
    correlation: float
    usual: float


def together(perfect: Sequence[tuple[object, ...]], said: Sequence[Sequence[tuple[object, ...]]]) -> list[Together]:
    """The pairs above the usual, the closest first; none where answers are no numbers, or files are few."""
    truth = _numbers(perfect)
    if truth is None:
        return []
    files = [
        (place, found) for place, one in enumerate(said) if (found := _numbers(one)) is not None and _varies(found)
    ]
    if len(files) < FEWEST:
        return []
    scale = truth.std(axis=0)
    scale[scale == 0] = 1.0
    errors = np.stack([((found - truth) / scale).ravel() for _, found in files])
    most = STRAY * float(np.median(np.abs(errors)))
    if most > 0:
        errors = np.clip(errors, -most, most)
    answers = (truth / scale).ravel()
    pairs = list(combinations(range(len(files)), 2))
    found = np.array([_left_over(errors, answers, first, second) for first, second in pairs])
    heights = np.arctanh(np.clip(found, -0.999999, 0.999999))
    middle = float(np.median(heights))
    spread = max(LEAST_SPREAD, 1.4826 * float(np.median(np.abs(heights - middle))))
    named = np.flatnonzero((found >= HIGH) & (heights > middle + FAR * spread))
    usual = float(np.tanh(middle))
    chosen = [(float(found[at]), pairs[at]) for at in named]
    return [Together(files[a][0], files[b][0], value, usual) for value, (a, b) in sorted(chosen, reverse=True)]


def _numbers(cells: Sequence[tuple[object, ...]]) -> np.ndarray | None:
    """Rows × columns; None where a cell is no finite number."""
    try:
        found = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    return found if found.ndim == 2 and found.size and np.isfinite(found).all() else None


def _varies(found: np.ndarray) -> bool:
    return len(np.unique(found)) >= MANY


def _left_over(errors: np.ndarray, answers: np.ndarray, first: int, second: int) -> float:
    """The correlation of two files' errors without what the answers and the other files explain; 0 where nothing is
    left."""
    others = (errors.sum(axis=0) - errors[first] - errors[second]) / (len(errors) - 2)
    known = np.column_stack([np.ones_like(answers), answers, others])
    pair = errors[[first, second]].T
    rest = pair - known @ np.linalg.lstsq(known, pair, rcond=None)[0]
    sizes = np.linalg.norm(rest, axis=0)
    if not (sizes > 1e-9 * np.linalg.norm(pair, axis=0)).all():
        return 0.0
    return float(rest[:, 0] @ rest[:, 1] / (sizes[0] * sizes[1]))
