"""Edit distances: the fewest insertions, deletions and replacements that turn one sequence into another.

Sequences are texts, or texts whose words were each made one character, which is what makes words as fast as letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, distinct_pairs, ratio
from ..core.messages import Message
from .tokens import Tokens, expand, split

Lowercase = Annotated[bool, "Whether upper and lower case are the same."]


@dataclass(frozen=True)
class Sequences:
    """What is compared of the distinct cells of a column, and how long each is."""

    values: Sequence[Sequence[Any]]
    lengths: np.ndarray


def characters(texts: Coded, lowercase: bool) -> Sequences:
    """The code points of each distinct text."""
    values = [text.lower() for text in texts.values] if lowercase else texts.values
    return Sequences(values, np.array([len(text) for text in values], np.int64))


def words(texts: Coded, lowercase: bool) -> Tokens:
    """The words of each distinct text, in order."""
    owner, raw, pieces = split(texts.array, None)
    # A piece between ASCII white space may hold other white space: it stands for any number of words.
    meanings = [(piece.lower() if lowercase else piece).split() for piece in pieces]
    place: dict[str, int] = {}
    flat = np.array([place.setdefault(word, len(place)) for meaning in meanings for word in meaning], np.int64)
    starts = np.concatenate(([0], np.cumsum([len(meaning) for meaning in meanings], dtype=np.int64)))
    places, which = expand(starts, raw)
    counts = np.bincount(owner[which], minlength=texts.size)
    return Tokens(np.concatenate(([0], np.cumsum(counts))), flat[places], list(place))


def spelled(texts: Coded, lowercase: bool) -> Sequences:
    """The words of each distinct text, each word as one character."""
    found = texts.once(words, lowercase)
    return _spelled(found, np.arange(len(found.vocabulary)), len(found.vocabulary))


def spelled_like(texts: Coded, model: Tokens, lowercase: bool) -> Sequences:
    """The same with the characters that ``model`` has; all words that it does not know are one other character."""
    found = texts.once(words, lowercase)
    known = {word: code for code, word in enumerate(model.vocabulary)}
    numbers = np.array([known.get(word, len(known)) for word in found.vocabulary], np.int64)
    return _spelled(found, numbers, len(known))


_SURROGATES, _GAP, _MOST = 0xD800, 0x800, 0x110000
"""Code points that are no characters, how many of them there are, and where code points end."""


def _spelled(found: Tokens, numbers: np.ndarray, largest: int) -> Sequences:
    line: Sequence[Any]
    codes = numbers[found.codes]
    if largest + _GAP < _MOST:
        line = (codes + _GAP * (codes >= _SURROGATES)).astype("<u4").tobytes().decode("utf-32-le")
    else:  # more words than characters: compared as numbers, slower but the same
        line = codes.tolist()
    return Sequences([line[start:end] for start, end in pairwise(found.starts.tolist())], found.counts)


def edits(truth: Coded, prediction: Coded, true: Sequences, said: Sequences) -> tuple[np.ndarray, ...]:
    """For each distinct pair of cells the distance and both lengths; and, last, which pair each row has."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    ours, theirs, of_row = distinct_pairs(truth, prediction)
    sides = [[side.values[code] for code in codes.tolist()] for side, codes in ((true, ours), (said, theirs))]
    distance = cpdist(*sides, scorer=Levenshtein.distance, dtype=np.int64)
    return distance, true.lengths[ours], said.lengths[theirs], of_row


def pooled(truth: Coded, prediction: Coded, true: Sequences, said: Sequences) -> Contributions:
    """For each row the distance and the length of the truth: the parts of an error rate."""
    distance, length, _, of_row = edits(truth, prediction, true, said)
    return Contributions(np.column_stack([distance, length]).astype(np.float64), of_row)


def per_length(sums: np.ndarray) -> float:
    """Distances per length."""
    distance, length = sums
    return ratio(distance, length)


def nothing_true(truth: Coded, lengths: np.ndarray) -> str:
    """Why there is nothing to divide by, or ``""``."""
    return "" if lengths[truth.codes].any() else Message("all its answers are empty.")
