"""Clusters: their kind of column, and how much the clusters of truth and prediction have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import Coded
from ..core.figures import Figure, Grid
from ..core.messages import Message
from ..reading.column_kinds import Label
from .contingency import cross


class Cluster(Label):
    """One cluster per row under any name, never empty."""

    words = Message("cluster (any name)")


@dataclass(frozen=True)
class Sizes:
    """For each pair of a true and a predicted cluster with rows in common: how many (``shared``), and the sizes of both
    clusters. ``of_row`` tells the pair of each row."""

    shared: np.ndarray
    true: np.ndarray
    said: np.ndarray
    of_row: np.ndarray

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.of_row)

    def information(self) -> np.ndarray:
        """For each pair, in nats: what both clusters say about the same thing, what the true cluster says, what the
        predicted one says; means over rows are mutual information and entropies. Shape (pairs, 3).

        Where one cluster lies within the other, equal sizes give equal digits.
        """
        by_chance = self.true.astype(np.float64) * self.said
        said: np.ndarray = np.log([self.rows * self.shared / by_chance, self.rows / self.true, self.rows / self.said])
        return said.T


def sizes(truth: Coded, prediction: Coded) -> Sizes:
    """Count the rows; names mean nothing across the two columns."""
    found = cross(truth, prediction)
    return Sizes(found.counts, found.truly[found.true], found.predicted[found.said], found.of_row)


def contingency(truth: Coded, prediction: Coded) -> list[Figure]:
    """How many rows each true cluster shares with each predicted one; at most 12 of both, the largest."""
    found = cross(truth, prediction)
    ours, theirs = _largest(found.truly), _largest(found.predicted)
    cells = np.zeros((len(ours), len(theirs)), np.int64)
    row, column = (np.full(len(found.labels), -1) for _ in range(2))
    row[ours], column[theirs] = np.arange(len(ours)), np.arange(len(theirs))
    counted = (row[found.true] >= 0) & (column[found.said] >= 0)
    cells[row[found.true[counted]], column[found.said[counted]]] = found.counts[counted]
    rows, columns = ([str(found.labels[place]) for place in places] for places in (ours, theirs))
    hidden = np.count_nonzero(found.truly) + np.count_nonzero(found.predicted) - len(ours) - len(theirs)
    note = "Rows by true cluster, columns by predicted cluster."
    if hidden:
        note += f" {hidden:,} smaller clusters are not shown."
    return [Grid("Rows in common", rows, columns, cells.tolist(), corner="truth", note=note)]


_SHOWN = 12


def _largest(counts: np.ndarray) -> np.ndarray:
    often = np.argsort(-counts, kind="stable")[:_SHOWN]
    return np.sort(often[counts[often] > 0])
