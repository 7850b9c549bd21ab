"""Sets of labels in cells, compared as flat arrays: counts by row and by label, and the influence of each row.

Each distinct pair of cells is compared once, in blocks, so that neither many rows nor one cell with 200,000 labels
needs a matrix. Labels are numbers, the same on both sides; the texts of labels that the truth lacks are read only for
display.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from ..core.arrays import Coded
from ..core.contract import distinct_pairs
from ..core.figures import Figure, Grid
from ..core.lazy import cached_property
from ..reading.same_labels import are_numbers, number_names
from ..reading.tables import codes_among, pick
from .averages import Share, effects, mean_over_labels
from .cells import blocks, expand, is_new, starts_by_owner
from .tokens import labels_in, labels_of, mark_between, rename_labels

Separator = Annotated[str | None, "Text between two labels; empty means any white space."]

TP, FP, FN = range(3)

_BLOCK = 1_000_000
"""Labels of pairs processed together."""


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Cell c holds the labels ``codes[starts[c]:starts[c + 1]]``, ascending. Codes below ``len(known)`` are indices
    into ``known``, the labels of the truth; higher ones are labels that the truth lacks, whose texts are in ``more``.
    Both are Arrow arrays."""

    starts: np.ndarray
    codes: np.ndarray
    known: Any
    more: Any
    are_numbers: bool = False
    """Whether all labels of the truth are numbers, so that those of predictions are compared by their values."""

    @property
    def counts(self) -> np.ndarray:
        return np.diff(self.starts)


def label_sets(column: Coded, separator: str | None) -> LabelSets:
    """The distinct labels of each distinct cell of a truth."""
    found = labels_in(column.array, mark_between(separator))
    by_value = are_numbers(found[2].to_pylist())
    owner, codes, labels = rename_labels(found, number_names(found[2], in_any_form=by_value))
    return replace(_sets(column.size, owner, codes, labels, labels[:0]), are_numbers=by_value)


def predicted_sets(column: Coded, true: LabelSets, separator: str | None) -> LabelSets:
    """The distinct labels of each distinct cell of a prediction, with the truth's codes for labels that it has."""
    found = column.once(labels_of, mark_between(separator))
    owner, codes, labels = rename_labels(found, number_names(found[2], in_any_form=true.are_numbers))
    place = codes_among(labels, true.known)
    unknown = np.flatnonzero(place < 0)
    place = place.copy()
    place[unknown] = len(true.known) + np.arange(len(unknown))
    return _sets(column.size, owner, place[codes], true.known, pick(labels, unknown))


def _sets(cells: int, owner: np.ndarray, codes: np.ndarray, known: Any, more: Any) -> LabelSets:
    width = max(1, len(known) + len(more))
    keys = owner * np.int64(width) + codes
    keys.sort()
    owner, codes = np.divmod(keys[is_new(keys)], width)
    return LabelSets(starts_by_owner(owner, cells), codes.astype(np.int32), known, more)


@dataclass(frozen=True)
class Block:
    """Every label of some pairs: its pair, its code, and whether it is a ``TP``, ``FP`` or ``FN`` there. All labels
    that the truth lacks have one code, the one after those of the truth."""

    pair: np.ndarray
    label: np.ndarray
    outcome: np.ndarray


class LabelSetPairs:
    """The distinct pairs of a true and a predicted set. ``counts`` is the number of rows with each pair, ``of_row`` the
    pair of each row."""

    def __init__(self, truth: Coded, prediction: Coded, separator: str | None) -> None:
        self._true = truth.once(label_sets, separator)
        self._said = prediction.once(predicted_sets, self._true, separator)
        self._ours, self._theirs, self.of_row = distinct_pairs(truth, prediction)
        self.counts = np.bincount(self.of_row, minlength=len(self._ours))

    def blocks(self) -> Iterator[Block]:
        """All labels of all pairs, in blocks."""
        for some in blocks(self._true.counts[self._ours] + self._said.counts[self._theirs], _BLOCK):
            yield self._block(some)

    def _block(self, some: slice) -> Block:
        unknown = len(self._true.known)
        width = unknown + 1
        places, pair = expand(self._true.starts, self._ours[some])
        ours = pair * width + self._true.codes[places]
        places, pair = expand(self._said.starts, self._theirs[some])
        codes = self._said.codes[places]
        is_known = codes < unknown
        theirs, wrong = pair[is_known] * width + codes[is_known], pair[~is_known]
        # Both are sorted, so the stable sort only merges them; of equal ones the true label comes first.
        mixed = np.concatenate([ours, theirs])
        order = np.argsort(mixed, kind="stable")
        keys, outcome = mixed[order], np.where(order < len(ours), FN, FP)
        is_first = is_new(keys)
        outcome[:-1][~is_first[1:]] = TP
        pair, label = np.divmod(keys[is_first], width)
        return Block(
            np.concatenate([pair, wrong]) + some.start,
            np.concatenate([label, np.full(len(wrong), unknown)]),
            np.concatenate([outcome[is_first], np.full(len(wrong), FP)]),
        )

    @cached_property
    def only_predicted(self) -> np.ndarray:
        """The labels that rows hold although the truth lacks them, as indices into ``more``."""
        is_used = np.zeros(len(self._said.counts), bool)
        is_used[self._theirs] = True
        places, _ = expand(self._said.starts, np.flatnonzero(is_used))
        is_held = np.zeros(len(self._said.known) + len(self._said.more), bool)
        is_held[self._said.codes[places]] = True
        return np.flatnonzero(is_held[len(self._said.known) :])

    def by_pair(self) -> np.ndarray:
        """tp, fp and fn of each pair, shape (pairs, 3)."""
        found = np.zeros(3 * len(self.counts), np.int64)
        for block in self.blocks():
            found += np.bincount(3 * block.pair + block.outcome, minlength=len(found))
        return found.reshape(-1, 3)

    def by_label(self) -> np.ndarray:
        """tp, fp and fn over all rows of each label of the truth, and in the last row of all other labels together;
        shape (labels + 1, 3), whole numbers as float64."""
        found = np.zeros(3 * (len(self._true.known) + 1))
        for block in self.blocks():
            found += np.bincount(3 * block.label + block.outcome, self.counts[block.pair], minlength=len(found))
        return found.reshape(-1, 3)

    def mean(self, share: Share, average: str) -> float:
        return mean_over_labels(self.by_label(), share, average, others=len(self.only_predicted))

    def influence(self, share: Share, average: str) -> np.ndarray:
        """The influence of each row on an average over labels, shape (n,)."""
        changes = effects(self.by_label(), share, average, others=len(self.only_predicted))
        found = np.zeros(len(self.counts))
        for block in self.blocks():
            found += np.bincount(block.pair, changes[block.label, block.outcome], minlength=len(found))
        return found[self.of_row]

    def table(self, share: Share, title: str) -> list[Figure]:
        """A table with the counts and the ratio of each label that a row has or is predicted to have."""
        labels = [*self._said.known.to_pylist(), *pick(self._said.more, self.only_predicted).to_pylist()]
        order = sorted(range(len(labels)), key=labels.__getitem__)
        labels, counts = [labels[label] for label in order], self._of_every_label()[order]
        used = np.flatnonzero(counts.any(axis=1))
        shown = used[np.sort(np.argsort(-counts[used].sum(axis=1), kind="stable")[:_SHOWN])]
        values = (counts[shown] @ share.over) / (counts[shown] @ share.under)
        cells: list[list[float | str]] = [
            [*map(int, row), value] for row, value in zip(counts[shown].tolist(), values.tolist(), strict=True)
        ]
        left = len(used) - len(shown)
        note = f"{left:,} rarer labels are not shown." if left else ""
        names = [labels[label] for label in shown]
        return [Grid("Label by label", names, ("tp", "fp", "fn", title), cells, corner="label", note=note)]

    def _of_every_label(self) -> np.ndarray:
        """tp, fp and fn of each label of the truth, then of each label that is only predicted."""
        places, pair = expand(self._said.starts, self._theirs)
        rows = np.bincount(self._said.codes[places], self.counts[pair], minlength=len(self._said.known))
        wrong = np.zeros((len(self.only_predicted), 3))
        wrong[:, FP] = rows[len(self._said.known) + self.only_predicted]
        return np.concatenate([self.by_label()[:-1], wrong])


_SHOWN = 12
"""The most labels that a drawn table names."""
