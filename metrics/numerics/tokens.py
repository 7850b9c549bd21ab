"""Cells cut into tokens, as flat arrays of codes: what makes metrics of words and phrases fast.

Nothing is padded, so one cell with 200,000 words costs no more than its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from ..reading.tables import plain

BLOCK = 20_000
"""Cells cut together: the pieces of a cell need much more memory than the cell."""


@dataclass(frozen=True)
class Tokens:
    """Cell c holds the tokens ``vocabulary[code] for code in codes[starts[c]:starts[c + 1]]``, sorted by code; the
    codes are of the smallest kind of whole number that holds them."""

    starts: np.ndarray
    codes: np.ndarray
    vocabulary: list[str]

    @property
    def counts(self) -> np.ndarray:
        """Tokens of each cell."""
        return np.diff(self.starts)

    @cached_property
    def known(self) -> dict[str, int]:
        """The code of each token."""
        return {token: code for code, token in enumerate(self.vocabulary)}


def expand(starts: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All places of the given cells one after the other, and for each place which of ``cells`` it belongs to."""
    counts = starts[cells + 1] - starts[cells]
    owner = np.repeat(np.arange(len(cells)), counts)
    first = np.repeat(starts[cells] - (np.cumsum(counts) - counts), counts)
    return first + np.arange(len(owner)), owner


def split(array: Any, separator: str | None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Cell, code and vocabulary of the raw pieces of an Arrow string array, cut at ASCII white space or at a
    separator."""
    import pyarrow.compute as pc

    lists = pc.ascii_split_whitespace(array) if separator is None else pc.split_pattern(array, separator)
    pieces = lists.flatten()
    encoded = pieces.dictionary_encode()
    counts = plain(pc.list_value_length(lists), np.int32)
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, plain(encoded.indices, np.int32).astype(np.int64), encoded.dictionary.to_pylist()


def arrow_texts(texts: list[str]) -> Any:
    """The texts as an Arrow string array. (``pa.array`` would import pandas.)"""
    import pyarrow as pa

    cells = [text.encode() for text in texts]
    offsets = np.zeros(len(cells) + 1, np.int32)
    np.cumsum([len(cell) for cell in cells], out=offsets[1:])
    return pa.StringArray.from_buffers(len(cells), pa.py_buffer(offsets), pa.py_buffer(b"".join(cells)))


def labels_in(array: Any, separator: str | None) -> tuple[np.ndarray, np.ndarray, Any]:
    """Cell and code of every label of an Arrow string array, in the order of the text, and the distinct labels as an
    Arrow array. Labels stand between white space, or between separators and then without the white space around them.

    All of it is Arrow's work, so that a million labels cost a fraction of a second; what it takes for white space is
    what Python does.
    """
    import pyarrow.compute as pc

    lists = pc.utf8_split_whitespace(array) if separator is None else pc.split_pattern(array, separator)
    counts = plain(pc.list_value_length(lists), np.int32)
    pieces = lists.flatten().dictionary_encode()
    codes, labels = plain(pieces.indices, np.int32), pieces.dictionary
    if separator is not None:
        texts = pc.utf8_trim_whitespace(labels).dictionary_encode()
        codes, labels = plain(texts.indices, np.int32)[codes], texts.dictionary
    owner = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    empty = np.flatnonzero(plain(pc.binary_length(labels), np.int32) == 0)  # `pc.index` would import pandas
    if len(empty):
        is_label = codes != empty[0]
        owner, codes = owner[is_label], codes[is_label]
    return owner, codes, labels


def codes_among(labels: Any, known: Any) -> np.ndarray:
    """Where each text of an Arrow array is among the known ones, -1 for a text that is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # `pc.fill_null` would import pandas.
    unknown = pa.Array.from_buffers(pa.int32(), len(labels), [None, pa.py_buffer(np.full(len(labels), -1, np.int32))])
    return plain(pc.coalesce(pc.index_in(labels, value_set=known), unknown), np.int32)


Reader = Callable[[list[str]], tuple[list[str], list[int] | None]]
"""From raw pieces to the tokens they stand for, one piece after the other, and how many each stands for; no counts
where each is one token."""


def one_by_one(read: Callable[[str], Iterable[str]]) -> Reader:
    """Read each piece by itself: no token, one or several."""

    def pieces(texts: list[str]) -> tuple[list[str], list[int]]:
        meanings = [tuple(read(text)) for text in texts]
        return [token for meaning in meanings for token in meaning], list(map(len, meanings))

    return pieces


def kept(texts: list[str]) -> tuple[list[str], list[int] | None]:
    """Every piece that is not blank."""
    found = [text for text in texts if text.strip()]
    return (
        (found, None)
        if len(found) == len(texts)
        else one_by_one(lambda piece: (piece,) if piece.strip() else ())(texts)
    )


def stripped(texts: list[str]) -> tuple[list[str], list[int] | None]:
    """Every piece that is not blank, without the white space around it."""
    found = [text.strip() for text in texts]
    return (found, None) if all(found) else one_by_one(lambda piece: (piece,) if piece else ())(found)


def in_words(lowercase: bool) -> Reader:
    """Pieces without ASCII white space, cut at all other as well."""

    def pieces(texts: list[str]) -> tuple[list[str], list[int] | None]:
        together = "\n".join(texts)
        if lowercase:
            together = together.lower()
        found = together.split()
        if found == together.split("\n"):
            return found, None
        return one_by_one(lambda piece: (piece.lower() if lowercase else piece).split())(texts)

    return pieces


def tokens(array: Any, separator: str | None, read: Reader, *, distinct: bool) -> Tokens:
    """Cut each cell; ``read`` tells which tokens its raw pieces stand for.

    Codes are the alphabetical ranks of tokens. ``distinct`` drops what a cell repeats.
    """
    blocks = [_tokens(array[place : place + BLOCK], separator, read, distinct) for place in range(0, len(array), BLOCK)]
    return _joined(blocks) if len(blocks) != 1 else blocks[0]


def _joined(blocks: list[Tokens]) -> Tokens:
    """The cells of all blocks, one block after the other."""
    vocabulary = sorted({token for block in blocks for token in block.vocabulary})
    rank = {token: place for place, token in enumerate(vocabulary)}
    # Both vocabularies are sorted, so the codes of a cell stay sorted.
    kind = np.min_scalar_type(len(vocabulary))
    codes, end = np.empty(sum(len(block.codes) for block in blocks), kind), 0
    starts, cells = np.zeros(sum(len(block.starts) - 1 for block in blocks) + 1, np.int64), 0
    for block in _let_go(blocks):
        start, end = end, end + len(block.codes)
        if end > start:
            codes[start:end] = np.array([rank[token] for token in block.vocabulary], kind)[block.codes]
        starts[cells + 1 : cells + len(block.starts)] = block.starts[1:] + start
        cells += len(block.starts) - 1
    return Tokens(starts, codes, vocabulary)


def _let_go(blocks: list[Tokens]) -> Iterator[Tokens]:
    """Each block, of which nothing is kept: together they need as much memory as what is made of them."""
    blocks.reverse()
    while blocks:
        yield blocks.pop()


def _tokens(array: Any, separator: str | None, read: Reader, distinct: bool) -> Tokens:
    owner, raw, texts = split(array, separator)
    meanings, counts = read(texts)
    vocabulary = sorted(set(meanings))
    rank = {token: place for place, token in enumerate(vocabulary)}
    flat = np.fromiter(map(rank.__getitem__, meanings), np.min_scalar_type(len(vocabulary)), len(meanings))
    if counts is None:
        codes = flat[raw]
    else:
        starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        places, which = expand(starts, raw)
        owner, codes = owner[which], flat[places]
    starts = _starts(owner, len(array))
    codes = _sorted_within(starts, codes)
    if distinct and len(codes):
        is_new = np.concatenate(([True], (codes[1:] != codes[:-1]) | (owner[1:] != owner[:-1])))
        if not is_new.all():
            owner, codes = owner[is_new], codes[is_new]
            starts = _starts(owner, len(array))
    return Tokens(starts, codes, vocabulary)


def _starts(owner: np.ndarray, cells: int) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=cells), dtype=np.int64)))


_SHORT = 32


def _sorted_within(starts: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The codes sorted within each cell; cells of one short length are sorted together as a matrix."""
    counts = np.diff(starts)
    done = codes.copy()
    for length in np.unique(counts[(counts > 1) & (counts <= _SHORT)]):
        places = starts[:-1][counts == length][:, None] + np.arange(length)
        done[places] = np.sort(codes[places], axis=1)
    for cell in np.flatnonzero(counts > _SHORT):
        done[starts[cell] : starts[cell + 1]].sort()
    return done


def jaccard(true: Tokens, said: Tokens, true_cells: np.ndarray, said_cells: np.ndarray) -> np.ndarray:
    """For each pair of cells the share of their distinct tokens that both have; 1.0 where both are empty."""
    common = shared(true, said, true_cells, said_cells)
    union = true.counts[true_cells] + said.counts[said_cells] - common
    found: np.ndarray = np.where(union == 0, 1.0, common / np.maximum(union, 1))
    return found


def shared(true: Tokens, said: Tokens, true_cells: np.ndarray, said_cells: np.ndarray) -> np.ndarray:
    """How many distinct tokens each pair of cells has in common."""
    translated = np.array(list(map(true.known.get, said.vocabulary, repeat(-1))) or [-1], np.int64)
    bits = len(true.vocabulary).bit_length()
    places, pair = expand(true.starts, true_cells)
    ours = (pair << bits) + true.codes[places]
    places, pair = expand(said.starts, said_cells)
    codes = translated[said.codes[places]]
    theirs = (pair << bits) + codes
    # Both are sorted, for both vocabularies are; a stable sort only merges them.
    both = np.sort(np.concatenate((ours, theirs[codes >= 0])), kind="stable")
    twice = both[1:][both[1:] == both[:-1]]
    found: np.ndarray = np.bincount(twice >> bits, minlength=len(true_cells))
    return found
