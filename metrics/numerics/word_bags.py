"""Bags of words: words of a text where a word said twice counts twice."""

from __future__ import annotations

import re
import string

import numpy as np

from ..core.arrays import Coded
from .tokens import Tokens, one_by_one, shared, tokens

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_BLOCK = 100_000
"""Pairs of texts compared together."""


def words_of(piece: str, lowercase: bool, normalise: bool) -> list[str]:
    """The words that a piece between ASCII white space stands for.

    >>> words_of("U.S.A.", True, True), words_of("The", True, True), words_of("The", False, False)
    (['usa'], [], ['The'])
    """
    text = piece.lower() if lowercase else piece
    if normalise:
        text = _ARTICLE.sub(" ", text.translate(_PUNCTUATION))
    return text.split()


def bags(texts: Coded, lowercase: bool, normalise: bool) -> Tokens:
    """The words of each distinct text; the second, third … of a word in one text are tokens of their own, so that what
    two bags share is what two sets of tokens share."""
    found = tokens(texts.array, None, one_by_one(lambda piece: words_of(piece, lowercase, normalise)), distinct=False)
    codes, places = found.codes.astype(np.int64), np.arange(len(found.codes))
    owner = np.repeat(np.arange(len(found.counts)), found.counts)
    is_first = np.ones(len(codes), bool)
    is_first[1:] = (codes[1:] != codes[:-1]) | (owner[1:] != owner[:-1])
    again = places - np.maximum.accumulate(np.where(is_first, places, 0))
    repeats = np.flatnonzero(again)
    width = int(again.max(initial=0)) + 1
    kinds, which = np.unique(codes[repeats] * width + again[repeats], return_inverse=True)
    # No word holds white space, so these names are nobody's.
    names = [f"{found.vocabulary[code]} {time}" for code, time in zip(*np.divmod(kinds, width), strict=True)]
    numbered = codes.copy()
    numbered[repeats] = len(found.vocabulary) + which
    return Tokens(found.starts, numbered, [*found.vocabulary, *names])


def common(true: Tokens, said: Tokens, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """How many words each pair of texts has in common, each as often as both have it."""
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(ours), _BLOCK)]
    return np.concatenate([shared(true, said, ours[block], theirs[block]) for block in blocks])
