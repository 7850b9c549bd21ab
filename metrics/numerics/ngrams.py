"""Runs of words or characters that a predicted text shares with its references, counted without a table of all runs.

A run of n codes becomes one whole number. The numbers of a block of texts are sorted once per side, so that equal runs
of a text are next to each other.
"""

import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import numpy as np

from ..core.arrays import Coded
from ..core.contract import distinct_pairs
from .cells import blocks, expand, is_new, starts_of
from .tokens import Tokens

References = Annotated[
    str | None, "Written between several references in a cell of the truth, such as |; empty means one reference."
]
Split = Callable[[str], Sequence[str]]
"""A function from a text to its words or characters."""

_PIECES = 1 << 20
_PAIRS = 1 << 17
_MOST_CODES = 1 << 40
"""The most pieces and pairs of a block, and the largest number of a run: a pair's place times a run's number must fit
into int64."""


_STEPS = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_WITHOUT_MARKS = re.compile(r"(?:[^\W_]|\s|(?<=[0-9])[.,](?=[0-9]))*")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def mteval_words(text: str) -> list[str]:
    """The words and the punctuation of a text, as the script mteval-v13a parts them.

    >>> mteval_words("It's 3.5-fold, e.g. now.")
    ["It's", '3.5', '-', 'fold', ',', 'e', '.', 'g', '.', 'now', '.']
    """
    if _WITHOUT_MARKS.fullmatch(text):
        return text.split()
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    text = f" {text} "
    for pattern, apart in _STEPS:
        text = pattern.sub(apart, text)
    return text.split()


def characters_of(text: str) -> str:
    return "".join(text.split())


_MARKS = frozenset(string.punctuation)


def parted_words(text: str) -> list[str]:
    """The words of a text, a mark at their end or else at their beginning apart.

    >>> parted_words("(so it) is...")
    ['(', 'so', 'it', ')', 'is..', '.']
    """
    found: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _MARKS:
            found += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _MARKS:
            found += [word[0], word[1:]]
        else:
            found.append(word)
    return found


@cache
def in_small_letters(split: Split) -> Split:
    """A function that splits a text in small letters as ``split`` does."""
    return lambda text: split(text.lower())


TokenKind = Annotated[
    Literal["13a", "words", "characters"], "13a: words and punctuation; words: split at white space; characters."
]


def split_function(tokens: str, lowercase: bool) -> Split:
    """The function that parts a text."""
    splits: dict[str, Split] = {"13a": mteval_words, "words": str.split, "characters": characters_of}
    return in_small_letters(splits[tokens]) if lowercase else splits[tokens]


def references_in(cell: str, separator: str | None) -> list[str]:
    """The references in a cell; at least one."""
    if not separator:
        return [cell]
    return [part.strip() for part in cell.split(separator) if part.strip()] or [""]


def first_references(truth: Coded, *, references: References) -> list[list[str]]:
    """The columns of a perfect submission: the first reference of each row."""
    firsts = [references_in(cell, references)[0] for cell in truth.values]
    return [[firsts[code] for code in truth.codes.tolist()]]


def pieces_of(column: Coded, split: Split, separator: str | None) -> tuple[np.ndarray, Tokens]:
    """The references of each distinct cell (start offsets) and their pieces."""
    references = [references_in(cell, separator) for cell in column.values]
    texts = [text for some in references for text in some]
    return starts_of(np.array([len(some) for some in references], np.int64)), number_pieces(texts, split, {})


def number_pieces(texts: Sequence[str], split: Split, known: Mapping[str, int]) -> Tokens:
    """The pieces of texts, with the codes of the ``known`` ones and further codes for others."""
    codes = dict(known)
    found = [[codes.setdefault(piece, len(codes)) for piece in split(text)] for text in texts]
    starts = starts_of(np.array(list(map(len, found)), np.int64))
    return Tokens(starts, np.array([code for text in found for code in text], np.int64), list(codes))


@dataclass(frozen=True)
class PairBlock:
    """Some distinct pairs of a true and a predicted cell; ``pairs`` are their places among all.

    ``ours`` are the references of all its pairs, ``owner`` the pair of each, counted from the block's first, and
    ``theirs`` the predicted text of each pair.
    """

    true: Tokens
    said: Tokens
    pairs: slice
    owner: np.ndarray
    ours: np.ndarray
    theirs: np.ndarray

    def runs(self, order: int) -> tuple[np.ndarray, np.ndarray, int]:
        """The runs of ``order`` pieces of the references, and of the predicted texts, sorted, and a limit. A run is a
        number below the limit, plus the index of its text times the limit."""
        sides = [_find_runs(self.true, self.ours, order), _find_runs(self.said, self.theirs, order)]
        width = max(1, len(self.said.vocabulary))
        numbers, limit = [pieces[0] for _, pieces in sides], width
        for step in range(1, order):
            if limit * width > _MOST_CODES:
                distinct, again = np.unique(np.concatenate(numbers), return_inverse=True)
                numbers, limit = np.split(again, [len(numbers[0])]), max(1, len(distinct))
            numbers = [number * width + pieces[step] for number, (_, pieces) in zip(numbers, sides, strict=True)]
            limit *= width
        ours, theirs = (np.sort(text * limit + some) for (text, _), some in zip(sides, numbers, strict=True))
        return ours, theirs, limit

    def shared(self, order: int) -> np.ndarray:
        """The number of runs that each predicted text shares with each reference, repeated ones as often as both have
        them; shape (references,)."""
        ours, theirs, limit = self.runs(order)
        true, times = _count_distinct(ours)
        said, again = _count_distinct(theirs)
        text, run = np.divmod(true, limit)
        both, place = _find_among(said, self.owner[text] * limit + run)
        least = np.minimum(times[both], again[place])
        return np.bincount(text[both], least, minlength=len(self.owner))

    def clipped(self, order: int) -> np.ndarray:
        """The number of runs of each predicted text that occur in its references, each at most as often as in one of
        them; shape (pairs,)."""
        ours, theirs, limit = self.runs(order)
        true, times = _count_distinct(ours)
        text, run = np.divmod(true, limit)
        keys = self.owner[text] * limit + run
        by_key = np.lexsort((-times, keys))
        most = by_key[is_new(keys[by_key])]
        said, again = _count_distinct(theirs)
        both, place = _find_among(keys[most], said)
        least = np.minimum(again[both], times[most][place])
        return np.bincount(said[both] // limit, least, minlength=len(self.theirs))


def _find_runs(pieces: Tokens, texts: np.ndarray, order: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """For each run the index of its text in ``texts``, and its first, second … piece."""
    places, owner = expand(pieces.starts, texts)
    fits = places + order <= pieces.starts[texts + 1][owner]
    places = places[fits]
    return owner[fits], [pieces.codes[places + step] for step in range(order)]


def _count_distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values of sorted keys, and how often each occurs."""
    first = np.flatnonzero(is_new(keys)) if len(keys) else np.zeros(0, np.int64)
    return keys[first], np.diff(np.append(first, len(keys)))


def _find_among(known: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the keys that are among the sorted ``known`` ones, and their places there."""
    place = np.searchsorted(known, keys)
    both = np.flatnonzero(place < len(known))
    both = both[known[place[both]] == keys[both]]
    return both, place[both]


def pairs_in_blocks(
    truth: Coded, prediction: Coded, split: Split, separator: str | None
) -> tuple[int, np.ndarray, Iterator[PairBlock]]:
    """The number of distinct pairs of cells, the pair of each row, and the pairs in blocks."""
    starts, true = truth.once(pieces_of, split, separator)
    said = number_pieces(prediction.values, split, true.known)
    ours, theirs, of_row = distinct_pairs(truth, prediction)
    sizes = said.counts[theirs] + np.diff(np.concatenate(([0], np.cumsum(true.counts)))[starts])[ours]

    def some() -> Iterator[PairBlock]:
        for block in blocks(sizes + _PIECES // _PAIRS, _PIECES):
            references, owner = expand(starts, ours[block])
            yield PairBlock(true, said, block, owner, references, theirs[block])

    return len(ours), of_row, some()


def run_counts(
    truth: Coded, prediction: Coded, split: Split, separator: str | None, orders: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each reference of each distinct pair of cells the runs that it shares with the predicted text, all runs of
    that text (0 if the reference has none) and all that the reference has, by order; shape (references, orders, 3).
    Then the pair of each reference, and the pair of each row."""
    _, of_row, some = pairs_in_blocks(truth, prediction, split, separator)
    found, owners = [np.zeros((0, orders, 3))], [np.zeros(0, np.int64)]
    for block in some:
        said, true = block.said.counts[block.theirs][block.owner], block.true.counts[block.ours]
        table = np.zeros((len(block.owner), orders, 3))
        for step in range(orders):
            table[:, step, 0] = block.shared(step + 1)
            table[:, step, 2] = np.maximum(true - step, 0)
            table[:, step, 1] = np.where(table[:, step, 2] > 0, np.maximum(said - step, 0), 0)
        found.append(table)
        owners.append(block.owner + block.pairs.start)
    return np.concatenate(found), np.concatenate(owners), of_row
