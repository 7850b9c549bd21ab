"""Sets of labels in cells, compared as flat arrays: counts by row and by label, and what one row changes.

Each distinct pair of cells is looked at once, in blocks, so that neither many rows nor one cell with 200,000 labels
needs a matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from metrics._arrays import Coded
from metrics._averages import Share, effects
from metrics._contract import distinct_pairs
from metrics._figures import Figure, Grid
from metrics._tokens import Tokens, expand, in_words, stripped, tokens

Separator = Annotated[str | None, "Text between two labels; empty means any white space."]

TP, FP, FN = range(3)

_BLOCK = 1_000_000
"""Labels of pairs looked at together."""


def label_sets(column: Coded, separator: str | None) -> Tokens:
    """The distinct labels of each distinct cell."""
    if separator is None or not separator.strip():
        return tokens(column.array, None, in_words(lowercase=False), distinct=True)
    return tokens(column.array, separator, stripped, distinct=True)


@dataclass(frozen=True)
class Block:
    """Every label of some pairs: the pair it belongs to, its place in the vocabulary, and whether it is a ``TP``,
    ``FP`` or ``FN`` there."""

    pair: np.ndarray
    label: np.ndarray
    outcome: np.ndarray


class Comparison:
    """The distinct pairs of a true and a predicted set. ``counts`` says how many rows have each pair, ``of_row`` which
    pair each row has, ``labels`` are those of both columns in alphabetical order."""

    def __init__(self, truth: Coded, prediction: Coded, separator: str | None) -> None:
        self._true = truth.once(label_sets, separator)
        self._said = prediction.once(label_sets, separator)
        self._ours, self._theirs, self.of_row = distinct_pairs(truth, prediction)
        self.counts = np.bincount(self.of_row, minlength=len(self._ours))
        self.labels: list[str] = sorted({*self._true.vocabulary, *self._said.vocabulary})

    def blocks(self) -> Iterator[Block]:
        """All labels of all pairs."""
        place = {label: number for number, label in enumerate(self.labels)}
        true, said = (
            np.array([place[label] for label in side.vocabulary], np.int64) for side in (self._true, self._said)
        )
        sizes = np.cumsum(self._true.counts[self._ours] + self._said.counts[self._theirs])
        start = 0
        while start < len(sizes):
            before = int(sizes[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(sizes, before + _BLOCK, side="right")))
            yield self._block(start, stop, true, said)
            start = stop

    def _block(self, start: int, stop: int, true: np.ndarray, said: np.ndarray) -> Block:
        width = max(1, len(self.labels))
        places, pair = expand(self._true.starts, self._ours[start:stop])
        ours = pair * width + true[self._true.codes[places]]
        places, pair = expand(self._said.starts, self._theirs[start:stop])
        theirs = pair * width + said[self._said.codes[places]]
        # Both are sorted, for both vocabularies are; the stable sort only merges them, the true one of two first.
        mixed = np.concatenate([ours, theirs])
        order = np.argsort(mixed, kind="stable")
        keys, outcome = mixed[order], np.where(order < len(ours), FN, FP)
        is_second = np.concatenate([[False], keys[1:] == keys[:-1]])[: len(keys)]
        outcome[:-1][is_second[1:]] = TP
        pair, label = np.divmod(keys[~is_second], width)
        return Block(pair + start, label, outcome[~is_second])

    def by_pair(self) -> np.ndarray:
        """tp, fp and fn of each pair, shape (pairs, 3)."""
        found = np.zeros(3 * len(self.counts), np.int64)
        for block in self.blocks():
            found += np.bincount(3 * block.pair + block.outcome, minlength=len(found))
        return found.reshape(-1, 3)

    def by_label(self) -> np.ndarray:
        """tp, fp and fn of each label over all rows, shape (labels, 3), whole numbers as float64."""
        found = np.zeros(3 * len(self.labels))
        for block in self.blocks():
            found += np.bincount(3 * block.label + block.outcome, self.counts[block.pair], minlength=len(found))
        return found.reshape(-1, 3)

    def influence(self, share: Share, average: str) -> np.ndarray:
        """What each row changes in an average over labels, shape (n,)."""
        changes = effects(self.by_label(), share, average)
        found = np.zeros(len(self.counts))
        for block in self.blocks():
            found += np.bincount(block.pair, changes[block.label, block.outcome], minlength=len(found))
        by_row: np.ndarray = found[self.of_row]
        return by_row

    def table(self, share: Share, title: str) -> list[Figure]:
        """The counts and the ratio of each label that a row has or is predicted to have."""
        counts = self.by_label()
        kept = np.flatnonzero(counts.any(axis=1))
        shown = kept[np.sort(np.argsort(-counts[kept].sum(axis=1), kind="stable")[:_SHOWN])]
        values = (counts[shown] @ share.over) / (counts[shown] @ share.under)
        cells: list[list[float | str]] = [
            [*map(int, row), value] for row, value in zip(counts[shown].tolist(), values.tolist(), strict=True)
        ]
        left = len(kept) - len(shown)
        note = f"{left:,} rarer labels are not shown." if left else ""
        names = [self.labels[label] for label in shown]
        return [Grid("Label by label", names, ("tp", "fp", "fn", title), cells, corner="label", note=note)]


_SHOWN = 12
"""Labels that a drawn table names."""
