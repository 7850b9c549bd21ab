"""Cells split into tokens, as flat arrays of codes, which makes metrics of words and phrases fast.

Nothing is padded, so one cell with 200,000 words costs no more than its words.

Bags of words: the words of a text, a word that occurs twice counting twice.

Edit distances: the fewest insertions, deletions and replacements that turn one sequence into another. Sequences are
texts, or texts in which each word is replaced by one character, so that words are compared as fast as letters.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Annotated, Any

import numpy as np

from ..core.arrays import Coded
from ..core.contract import Contributions, distinct_pairs, ratio
from ..core.lazy import cached_property
from ..core.messages import Message
from ..reading.tables import plain
from .cells import expand, is_new, rank_within, starts_by_owner, starts_of

BLOCK = 20_000
"""Cells split together: the pieces of a cell need much more memory than the cell."""


@dataclass(frozen=True)
class Tokens:
    """Cell c holds the tokens ``vocabulary[code] for code in codes[starts[c]:starts[c + 1]]``."""

    starts: np.ndarray
    codes: np.ndarray
    vocabulary: list[str]

    @property
    def counts(self) -> np.ndarray:
        return np.diff(self.starts)

    @cached_property
    def known(self) -> dict[str, int]:
        return {token: code for code, token in enumerate(self.vocabulary)}


def split(array: Any, separator: str | None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Cell and code of each raw piece of an Arrow string array, split at ASCII white space or at a separator; and the
    vocabulary."""
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


def mark_between(separator: str | None) -> str | None:
    """The text between labels; ``None`` for white space."""
    return separator if separator and separator.strip() else None


def labels_in(array: Any, separator: str | None) -> tuple[np.ndarray, np.ndarray, Any]:
    """Cell and code of every label of an Arrow string array, in the order of the text, and the distinct labels as an
    Arrow array. Labels are separated by white space, or by ``separator`` and then stripped.

    Arrow does all the work, so that a million labels take a fraction of a second; its white space is that of Python.
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


def labels_of(column: Coded, separator: str | None) -> tuple[np.ndarray, np.ndarray, Any]:
    """``labels_in`` the distinct cells of a column."""
    return labels_in(column.array, separator)


def rename_labels(
    found: tuple[np.ndarray, np.ndarray, Any], names: Mapping[str, str]
) -> tuple[np.ndarray, np.ndarray, Any]:
    """The result of ``labels_in`` with some labels under another name, which may be that of another label."""
    if not names:
        return found
    owner, codes, labels = found
    encoded = arrow_texts([names.get(label, label) for label in labels.to_pylist()]).dictionary_encode()
    return owner, plain(encoded.indices, np.int32)[codes], encoded.dictionary


Reader = Callable[[list[str]], tuple[list[str], list[int] | None]]
"""A function from raw pieces to their tokens, concatenated, and the number of tokens of each piece; None instead of
counts if each piece is one token."""


def one_by_one(read: Callable[[str], Iterable[str]]) -> Reader:
    """A ``Reader`` that reads each piece by itself: as no token, one or several."""

    def pieces(texts: list[str]) -> tuple[list[str], list[int]]:
        meanings = [tuple(read(text)) for text in texts]
        return [token for meaning in meanings for token in meaning], list(map(len, meanings))

    return pieces


def words_in_order(texts: list[str]) -> tuple[list[str], list[int] | None]:
    """A ``Reader`` that keeps every piece that is not blank."""
    found = [text for text in texts if text.strip()]
    return (
        (found, None)
        if len(found) == len(texts)
        else one_by_one(lambda piece: (piece,) if piece.strip() else ())(texts)
    )


def in_words(lowercase: bool) -> Reader:
    """A ``Reader`` that splits pieces at all Unicode white space, too."""

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
    """Split each cell into tokens; ``read`` converts its raw pieces to tokens.

    Codes are the alphabetical ranks of tokens, ascending in each cell, of the smallest integer type that holds them.
    ``distinct`` drops repetitions within a cell.
    """
    blocks = [_tokens(array[place : place + BLOCK], separator, read, distinct) for place in range(0, len(array), BLOCK)]
    return _joined(blocks) if len(blocks) != 1 else blocks[0]


def _joined(blocks: list[Tokens]) -> Tokens:
    """The cells of all blocks, concatenated."""
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
    """Each block, removed from the list so that its memory is freed: the blocks together need as much memory as the
    result."""
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
        places, which = expand(starts_of(np.array(counts)), raw)
        owner, codes = owner[which], flat[places]
    # Sorted by cell, and by code within each cell.
    bits = len(vocabulary).bit_length()
    keys = (owner << bits) + codes
    keys.sort()
    if distinct:
        keys = keys[is_new(keys)]
    codes = (keys & ((1 << bits) - 1)).astype(flat.dtype)
    return Tokens(starts_by_owner(keys >> bits, len(array)), codes, vocabulary)


def jaccard(true: Tokens, said: Tokens, true_cells: np.ndarray, said_cells: np.ndarray) -> np.ndarray:
    """For each pair of cells the Jaccard index of their distinct tokens; 1.0 where both are empty."""
    common = shared(true, said, true_cells, said_cells)
    union = true.counts[true_cells] + said.counts[said_cells] - common
    return np.asarray(ratio(common, union, empty=1.0))


def shared(true: Tokens, said: Tokens, true_cells: np.ndarray, said_cells: np.ndarray) -> np.ndarray:
    """The number of distinct tokens that each pair of cells has in common."""
    translated = np.array(list(map(true.known.get, said.vocabulary, repeat(-1))) or [-1], np.int64)
    bits = len(true.vocabulary).bit_length()
    places, pair = expand(true.starts, true_cells)
    ours = (pair << bits) + true.codes[places]
    places, pair = expand(said.starts, said_cells)
    codes = translated[said.codes[places]]
    theirs = (pair << bits) + codes
    # Both are sorted, because both vocabularies are; a stable sort only merges them.
    both = np.sort(np.concatenate((ours, theirs[codes >= 0])), kind="stable")
    twice = both[1:][both[1:] == both[:-1]]
    return np.bincount(twice >> bits, minlength=len(true_cells))


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_BLOCK = 100_000
"""Pairs of texts compared together."""


def words_of(piece: str, lowercase: bool, normalise: bool) -> list[str]:
    """The words of a piece between ASCII white space.

    >>> words_of("U.S.A.", True, True), words_of("The", True, True), words_of("The", False, False)
    (['usa'], [], ['The'])
    """
    text = piece.lower() if lowercase else piece
    if normalise:
        text = _ARTICLE.sub(" ", text.translate(_PUNCTUATION))
    return text.split()


def bags(texts: Coded, lowercase: bool, normalise: bool) -> Tokens:
    """The words of each distinct text; the second, third … occurrence of a word in a text is a separate token, so that
    the intersection of two bags is that of two sets of tokens."""
    found = tokens(texts.array, None, one_by_one(lambda piece: words_of(piece, lowercase, normalise)), distinct=False)
    codes = found.codes.astype(np.int64)
    again = rank_within(np.repeat(np.arange(len(found.counts)), found.counts), codes)
    repeats = np.flatnonzero(again)
    width = int(again.max(initial=0)) + 1
    kinds, which = np.unique(codes[repeats] * width + again[repeats], return_inverse=True)
    # No word holds white space, so these names differ from all words.
    names = [f"{found.vocabulary[code]} {time}" for code, time in zip(*np.divmod(kinds, width), strict=True)]
    codes[repeats] = len(found.vocabulary) + which
    return Tokens(found.starts, codes, [*found.vocabulary, *names])


def common(true: Tokens, said: Tokens, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The number of words that each pair of texts has in common, repeated words as often as both have them."""
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(ours), _BLOCK)]
    return np.concatenate([shared(true, said, ours[block], theirs[block]) for block in blocks])


Lowercase = Annotated[bool, "Whether upper and lower case are the same."]


@dataclass(frozen=True)
class Sequences:
    """The sequence to compare for each distinct cell of a column, and its length."""

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
    places, which = expand(starts_of(np.array([len(meaning) for meaning in meanings], np.int64)), raw)
    return Tokens(starts_by_owner(owner[which], texts.size), flat[places], list(place))


def spelled(texts: Coded, lowercase: bool) -> Sequences:
    """The words of each distinct text, each word replaced by one character."""
    found = texts.once(words, lowercase)
    return spelled_codes(found, np.arange(len(found.vocabulary)), len(found.vocabulary))


def spelled_like(texts: Coded, model: Tokens, lowercase: bool) -> Sequences:
    """The words of each distinct text, replaced by the characters of ``model``; all words that it lacks share one other
    character."""
    found = texts.once(words, lowercase)
    known = {word: code for code, word in enumerate(model.vocabulary)}
    numbers = np.array([known.get(word, len(known)) for word in found.vocabulary], np.int64)
    return spelled_codes(found, numbers, len(known))


_SURROGATES, _GAP, _MOST = 0xD800, 0x800, 0x110000
"""The first surrogate (no character), the number of surrogates, and the end of all code points."""


def spelled_codes(found: Tokens, numbers: np.ndarray, largest: int) -> Sequences:
    """Each cell as a sequence with one character for each token: that of ``numbers[code]``, all below ``largest``."""
    line: Sequence[Any]
    codes = numbers[found.codes]
    if largest + _GAP < _MOST:
        line = (codes + _GAP * (codes >= _SURROGATES)).astype("<u4").tobytes().decode("utf-32-le")
    else:  # more words than characters: compared as numbers, slower but the same
        line = codes.tolist()
    return Sequences([line[start:end] for start, end in pairwise(found.starts.tolist())], found.counts)


def edits(truth: Coded, prediction: Coded, true: Sequences, said: Sequences) -> tuple[np.ndarray, ...]:
    """For each distinct pair of cells the distance and both lengths; and, last, the pair of each row."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    ours, theirs, of_row = distinct_pairs(truth, prediction)
    sides = [[side.values[code] for code in codes.tolist()] for side, codes in ((true, ours), (said, theirs))]
    distance = cpdist(*sides, scorer=Levenshtein.distance, dtype=np.int64)
    return distance, true.lengths[ours], said.lengths[theirs], of_row


def pooled(truth: Coded, prediction: Coded, true: Sequences, said: Sequences) -> Contributions:
    """For each row the distance and the length of the truth, whose sums make an error rate."""
    distance, length, _, of_row = edits(truth, prediction, true, said)
    return Contributions(np.column_stack([distance, length]).astype(np.float64), of_row)


def nothing_true(truth: Coded, lengths: np.ndarray) -> str:
    return "" if lengths[truth.codes].any() else Message("all its answers are empty.")
