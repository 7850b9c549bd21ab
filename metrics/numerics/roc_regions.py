"""The ROC curve cut into horizontal slices that weigh differently.

Ranks from the middle and what a row's weight does to them: what the Gini coefficient adds up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..core.figures import Curve, Figure, numbers_in
from ..core.messages import Message


@dataclass(frozen=True)
class Slices:
    """The slice of the curve at each distinct score, from the highest down.

    ``places`` tells each row's; ``ups`` and ``downs`` count the 1s and 0s at this score.
    """

    places: np.ndarray
    ups: np.ndarray
    downs: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        """The share of the 1s from the highest score down to this one."""
        found: np.ndarray = np.cumsum(self.ups) / max(1.0, float(self.ups.sum()))
        return found

    @property
    def starts(self) -> np.ndarray:
        """The share of the 1s above."""
        return np.concatenate([[0.0], self.ends[:-1]])

    @property
    def after(self) -> np.ndarray:
        """The share of the 0s from the highest score down to this one."""
        found: np.ndarray = np.cumsum(self.downs) / max(1.0, float(self.downs.sum()))
        return found

    @property
    def before(self) -> np.ndarray:
        """The share of the 0s above."""
        return np.concatenate([[0.0], self.after[:-1]])


def slices_of(truth: np.ndarray, scores: np.ndarray) -> Slices:
    """Sort once; shapes (n,)."""
    _, places = np.unique(-scores, return_inverse=True)
    return Slices(places, np.bincount(places, truth == 1), np.bincount(places, truth != 1))


@dataclass(frozen=True)
class Regions:
    """Between ``edges[k]`` and ``edges[k + 1]`` of the share of 1s the curve weighs ``weights[k]``."""

    edges: tuple[float, ...]
    weights: tuple[float, ...]

    def __iter__(self) -> Iterator[tuple[float, float, float]]:
        """Weight, lower and upper edge of each region."""
        return zip(self.weights, self.edges[:-1], self.edges[1:], strict=True)

    def areas(self, found: Slices) -> tuple[np.ndarray, np.ndarray]:
        """The weighted height of each slice, and the weighted area that lies left of the curve in it."""
        rise = found.ends - found.starts
        slope = (found.after - found.before) / np.where(rise > 0, rise, 1.0)
        heights, lost = np.zeros(len(rise)), np.zeros(len(rise))
        for weight, low, high in self:
            bottom, top = np.clip(found.starts, low, high), np.clip(found.ends, low, high)
            heights += weight * (top - bottom)
            lost += weight * (top - bottom) * (found.before + slope * ((bottom + top) / 2 - found.starts))
        return heights, lost

    def below(self, shares: np.ndarray) -> np.ndarray:
        """The weighted height from 0 up to each share of 1s."""
        heights = np.zeros(len(shares))
        for weight, low, high in self:
            heights += weight * (np.clip(shares, low, high) - low)
        return heights

    def mean_below(self, found: Slices) -> np.ndarray:
        """The mean of ``below`` over the height of each slice: what a 0 in it has above the curve."""
        added = np.zeros(len(found.ups))
        for weight, low, high in self:
            bottom, top = np.clip(found.starts, low, high), np.clip(found.ends, low, high)
            beyond = np.maximum(found.ends, high) - np.maximum(found.starts, high)
            added += weight * ((top - bottom) * ((bottom + top) / 2 - low) + (high - low) * beyond)
        rise = found.ends - found.starts
        mean: np.ndarray = np.where(rise > 0, added / np.where(rise > 0, rise, 1.0), self.below(found.starts))
        return mean

    def density(self, shares: np.ndarray) -> np.ndarray:
        """The weight at each share of 1s; on an edge the mean of both sides."""
        weights, inner = np.array(self.weights), self.edges[1:-1]
        left, right = (weights[np.searchsorted(inner, shares, side=side)] for side in ("left", "right"))
        found: np.ndarray = (left + right) / 2
        return found


def influence_of(truth: np.ndarray, scores: np.ndarray, regions: Regions) -> np.ndarray:
    """The derivative of the weighted area by the weight of each row, shape (n,).

    The area is the mean, over the 0s, of the weighted height they have above the curve. A 0 moves this mean; a 1 moves
    the height of the curve at every 0, by its own place above or below it.
    """
    found = slices_of(truth, scores)
    ones, zeros = float(found.ups.sum()), float(found.downs.sum())
    whole = regions.below(np.ones(1))[0]
    means, rise = regions.mean_below(found), found.ends - found.starts
    value = float((found.downs * means).sum()) / zeros
    has_ones = rise > 0
    safe = np.where(has_ones, rise, 1.0)
    by_end = np.where(has_ones, (regions.below(found.ends) - means) / safe, 0.0) * found.downs
    by_start = np.where(has_ones, (means - regions.below(found.starts)) / safe, regions.density(found.starts))
    by_start *= found.downs
    common = float((by_end * found.ends + by_start * found.starts).sum())
    lower = np.cumsum(by_start[::-1])[::-1] - by_start
    as_one = (np.cumsum(by_end[::-1])[::-1] + lower - common) / (ones * zeros * whole)
    as_zero = (means - value) / (zeros * whole)
    effect: np.ndarray = np.where(truth == 1, as_one[found.places], as_zero[found.places])
    return effect


def edges_in(text: str) -> tuple[float, ...]:
    """Numbers that rise from 0 to 1. Raises ``ValueError`` with a sentence.

    >>> edges_in("0, 0.4, 1")
    (0.0, 0.4, 1.0)
    """
    found = numbers_in(text)
    if len(found) < 2 or found[0] != 0 or found[-1] != 1:
        raise ValueError(Message("The first must be 0 and the last 1."))
    if any(high <= low for low, high in pairwise(found)):
        raise ValueError(Message("Each must be larger than the one before."))
    return found


def lead(scores: np.ndarray) -> np.ndarray:
    """How many rows have a lower score than each row, less those with a higher one, halved: from the middle rank
    upwards; equal scores share. Shape (n,), multiples of 0.5."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ahead = np.cumsum(counts)
    found: np.ndarray = (2 * ahead - counts - len(scores))[places] / 2
    return found


def pull(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The derivative of ``sum(truth * lead(scores))`` by the weight of each row: its own term, and what it does to the
    leads of the others. Added in an order that follows from the values alone."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    added = np.concatenate([[0.0], np.cumsum(truth[np.lexsort((truth, places))])])
    ends = np.cumsum(counts)
    above, below = added[-1] - added[ends], added[ends - counts]
    found: np.ndarray = truth * ((2 * ends - counts - len(scores)) / 2)[places] + ((above - below) / 2)[places]
    return found


def lorenz(truth: np.ndarray, scores: np.ndarray, title: str) -> Figure:
    """The share of all answers found so far, from the highest score down; one point for each distinct score."""
    _, places = np.unique(-scores, return_inverse=True)
    found, rows = np.cumsum(np.bincount(places, truth)), np.cumsum(np.bincount(places))
    points = [(0.0, 0.0), *zip((rows / rows[-1]).tolist(), (found / found[-1]).tolist(), strict=True)]
    note = "The line from corner to corner is what guessing gives; the Gini coefficient is the area between the two."
    return Curve(title, "share of the rows", "share of the answers", points, diagonal=True, filled=False, note=note)
