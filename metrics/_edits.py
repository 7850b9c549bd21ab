"""Edit distances: the fewest insertions, deletions and replacements that turn one sequence into another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from metrics._arrays import Coded
from metrics._contract import Contributions, distinct_pairs, ratio

Lowercase = Annotated[bool, "Whether upper and lower case are the same."]


def characters(text: str, lowercase: bool) -> str:
    """The code points of a text."""
    return text.lower() if lowercase else text


def words(text: str, lowercase: bool) -> list[str]:
    """The words of a text, in order.

    >>> words("To  be\\nor", True)
    ['to', 'be', 'or']
    """
    return characters(text, lowercase).split()


def lengths(parsed: Coded) -> np.ndarray:
    """The length of each distinct sequence; remembered."""
    return np.array([len(sequence) for sequence in parsed.values] or [0], np.int64)


def edits(true: Coded, said: Coded) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each distinct pair of sequences (texts or lists of words) the distance and both lengths; and, last, which
    pair each row has."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    ours, theirs, of_row = distinct_pairs(true, said)
    pairs = _picked(true.values, ours), _picked(said.values, theirs)
    distance: np.ndarray = cpdist(*pairs, scorer=Levenshtein.distance, dtype=np.int64)
    return distance, true.once(lengths)[ours], said.once(lengths)[theirs], of_row


def _picked(values: Sequence[Sequence[str]], codes: np.ndarray) -> list[Sequence[str]]:
    return [values[code] for code in codes.tolist()]


def pooled(true: Coded, said: Coded) -> Contributions:
    """For each row the distance and the length of the truth: the parts of an error rate."""
    distance, length, _, of_row = edits(true, said)
    return Contributions(np.column_stack([distance, length]).astype(np.float64), of_row)


def per_length(sums: np.ndarray) -> float:
    """Distances per length."""
    distance, length = sums
    return ratio(distance, length)


def nothing_true(parsed: Coded) -> str:
    """Why there is nothing to divide by, or ``""``."""
    return "" if parsed.once(lengths)[parsed.codes].any() else "all its answers are empty."
