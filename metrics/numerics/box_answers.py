"""Answers about the boxes of one class: found and missed boxes, wrong ones, and pictures that are rightly empty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.arrays import Coded
from .boxes import boxes_of, in_turn, matched, meetings
from .sums import exact_sum
from .tokens import expand


@dataclass(frozen=True)
class BoxAnswers:
    """The answers of one class: ``row`` is where each comes from, ``right`` whether it stands for a true box, ``step``
    the rank of its score from the highest down. ``name`` is the class, ``counts`` are its true boxes, right and wrong
    ones, missed ones and empty pictures."""

    name: str
    counts: tuple[int, int, int, int, int]
    row: np.ndarray
    right: np.ndarray
    step: np.ndarray

    def _steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Right answers, all answers down to there, and precision of each step."""
        hits, answers = np.bincount(self.step, self.right), np.cumsum(np.bincount(self.step))
        return hits, answers, np.cumsum(hits) / answers

    @property
    def value(self) -> float:
        """The average precision."""
        hits, _, precision = self._steps()
        return float(exact_sum(hits * precision)) / self.counts[0]

    def effects(self, rows: int) -> np.ndarray:
        """The derivative of the value by the weight of each row: what its right answers earn, what all its answers do
        to the precision of their step and those below, and its share of the true boxes."""
        hits, answers, precision = self._steps()
        gain, loss = (np.cumsum(terms[::-1])[::-1] for terms in (hits / answers, hits * precision / answers))
        earned = self.right * (precision + gain)[self.step] - loss[self.step]
        # Each true box is one right answer.
        return np.bincount(self.row, earned - self.value * self.right, minlength=rows) / self.counts[0]


def answers_of(truth: Coded, prediction: Coded, layout: str, classes: bool, iou: float) -> Iterator[BoxAnswers]:
    """The answers of each class of the truth, by name."""
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)
    ours, owner = expand(true.starts, truth.codes)
    places, row = expand(said.starts, prediction.codes)
    found = _right(truth, prediction, (layout, classes, iou))
    known = {label: code for code, label in enumerate(true.vocabulary)}
    translated = np.array([known.get(label, -1) for label in said.vocabulary] or [0], np.int64)
    labels, sought, scores = translated[said.labels[places]], true.labels[ours], said.confidence[places]
    taken = np.bincount(row[found] * (len(known) + 1) + labels[found], minlength=len(truth) * (len(known) + 1))
    for code in np.unique(sought).tolist():
        mine, wanted = np.flatnonzero(labels == code), owner[sought == code]
        count = np.bincount(wanted, minlength=len(truth))
        missed = np.repeat(np.arange(len(truth)), count - taken[code :: len(known) + 1][: len(truth)])
        empty = np.setdiff1d(np.arange(len(truth)), np.union1d(row[mine], wanted))
        right = np.concatenate([found[mine], np.ones(len(missed), bool), np.zeros(len(empty), bool)])
        at = np.concatenate([-scores[mine], np.zeros(len(missed) + len(empty))])
        hits = int(found[mine].sum())
        yield BoxAnswers(
            name=true.vocabulary[code] if classes else "all boxes",
            counts=(len(wanted), hits, len(mine) - hits, len(missed), len(empty)),
            row=np.concatenate([row[mine], missed, empty]),
            right=right,
            step=np.unique(at, return_inverse=True)[1],
        )


def _right(truth: Coded, prediction: Coded, options: tuple[str, bool, float]) -> np.ndarray:
    """Whether each predicted box of each row found a true one, row by row."""
    layout, classes, iou = options
    true, said = truth.once(boxes_of, layout, classes, False), prediction.once(boxes_of, layout, classes, True)
    met = meetings(true, said, truth.codes, prediction.codes, iou)
    met = met.take(np.flatnonzero(met.iou > iou))
    # In the order of in_turn, which gives boxes other numbers.
    met = met.take(np.lexsort((met.ours, -met.iou, met.theirs, -said.confidence[met.theirs], met.pair)))
    met = met.take(matched(in_turn(met, said)))
    counts = said.counts[prediction.codes]
    first = np.cumsum(counts) - counts
    right = np.zeros(int(counts.sum()), bool)
    right[first[met.pair] + met.theirs - said.starts[prediction.codes[met.pair]]] = True
    return right
