"""Parts of the area under the ROC curve: weighted slices, and areas of subgroups of the rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...core.figures import numbers_in
from ...core.messages import Message
from ...numerics.ranks import Thresholds, roc_area, roc_influence, thresholds_of


def edges_in(text: str) -> tuple[float, ...]:
    """Ascending numbers from 0 to 1. Raises ``ValueError`` with a message.

    >>> edges_in("0, 0.4, 1")
    (0.0, 0.4, 1.0)
    """
    found = numbers_in(text)
    if len(found) < 2 or found[0] != 0 or found[-1] != 1:
        raise ValueError(Message("The first must be 0 and the last 1."))
    if any(high <= low for low, high in pairwise(found)):
        raise ValueError(Message("Each must be larger than the one before."))
    return found


def _edges(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of the rows above each distinct score, from the highest down, and with those of this score."""
    ends = np.cumsum(counts) / max(1.0, float(counts.sum()))
    return np.concatenate([[0.0], ends[:-1]]), ends


@dataclass(frozen=True)
class Regions:
    """Weights of the curve by its height: ``weights[k]`` between the shares of 1s ``edges[k]`` and ``edges[k + 1]``."""

    edges: tuple[float, ...]
    weights: tuple[float, ...]

    def __iter__(self) -> Iterator[tuple[float, float, float]]:
        """Weight, lower and upper edge of each region."""
        return zip(self.weights, self.edges[:-1], self.edges[1:], strict=True)

    def areas(self, found: Thresholds) -> tuple[np.ndarray, np.ndarray]:
        """The weighted height of the curve's slice at each score, and the weighted area to the left of the curve in
        it."""
        (starts, ends), (before, after) = _edges(found.up), _edges(found.down)
        rise = ends - starts
        slope = (after - before) / np.where(rise > 0, rise, 1.0)
        heights, lost = np.zeros(len(rise)), np.zeros(len(rise))
        for weight, low, high in self:
            bottom, top = np.clip(starts, low, high), np.clip(ends, low, high)
            heights += weight * (top - bottom)
            lost += weight * (top - bottom) * (before + slope * ((bottom + top) / 2 - starts))
        return heights, lost

    def below(self, shares: np.ndarray) -> np.ndarray:
        """The weighted height from 0 up to each share of 1s."""
        heights = np.zeros(len(shares))
        for weight, low, high in self:
            heights += weight * (np.clip(shares, low, high) - low)
        return heights

    def mean_below(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The mean of ``below`` over the height of each slice: the weighted height of the curve at a 0 of the slice."""
        added = np.zeros(len(starts))
        for weight, low, high in self:
            bottom, top = np.clip(starts, low, high), np.clip(ends, low, high)
            beyond = np.maximum(ends, high) - np.maximum(starts, high)
            added += weight * ((top - bottom) * ((bottom + top) / 2 - low) + (high - low) * beyond)
        rise = ends - starts
        return np.where(rise > 0, added / np.where(rise > 0, rise, 1.0), self.below(starts))

    def density(self, shares: np.ndarray) -> np.ndarray:
        """The weight at each share of 1s; on an edge the mean of both sides."""
        weights, inner = np.array(self.weights), self.edges[1:-1]
        left, right = (weights[np.searchsorted(inner, shares, side=side)] for side in ("left", "right"))
        return (left + right) / 2


def influence_of_regions(truth: np.ndarray, scores: np.ndarray, regions: Regions) -> np.ndarray:
    """The derivative of the weighted area by the weight of each row, shape (n,).

    The area is the mean, over the 0s, of the weighted height of the curve. A 0 changes this mean; a 1 changes the
    height of the curve at every 0, by its rank above or below it.
    """
    found = thresholds_of(truth, scores)
    starts, ends = _edges(found.up)
    ones, zeros = float(found.up.sum()), float(found.down.sum())
    whole = regions.below(np.ones(1))[0]
    means, rise = regions.mean_below(starts, ends), ends - starts
    value = float((found.down * means).sum()) / zeros
    has_ones = rise > 0
    safe = np.where(has_ones, rise, 1.0)
    by_end = np.where(has_ones, (regions.below(ends) - means) / safe, 0.0) * found.down
    by_start = np.where(has_ones, (means - regions.below(starts)) / safe, regions.density(starts))
    by_start *= found.down
    common = float((by_end * ends + by_start * starts).sum())
    lower = np.cumsum(by_start[::-1])[::-1] - by_start
    as_one = (np.cumsum(by_end[::-1])[::-1] + lower - common) / (ones * zeros * whole)
    as_zero = (means - value) / (zeros * whole)
    return found.of_rows(as_zero, as_one)


KINDS = ("subgroup", "background 1s, subgroup 0s", "background 0s, subgroup 1s")


def masks(truth: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """For each subgroup and kind of area the mask of its rows. The first column of ``truth`` is the answer; each other
    column marks the members of a subgroup."""
    positive = truth[:, 0] == 1
    for group in range(truth.shape[1] - 1):
        belongs = truth[:, group + 1] == 1
        for kind, rows in enumerate((belongs, belongs != positive, belongs == positive)):
            yield group, kind, rows


def areas_of_subgroups(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The three areas of each subgroup, shape (subgroups, 3)."""
    found = np.zeros((truth.shape[1] - 1, len(KINDS)))
    for group, kind, rows in masks(truth):
        found[group, kind] = roc_area(truth[rows, 0], prediction[rows])
    return found


def power_means(areas: np.ndarray, power: float) -> np.ndarray:
    """The power mean of each column; 0 if an area is 0 and the power negative."""
    with np.errstate(divide="ignore"):
        found: np.ndarray = np.mean(areas**power, axis=0) ** (1 / power)
    return found


def influence_of_subgroups(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """The influence of each row on the sum of the three power means, through every area that includes the row, shape
    (n,)."""
    areas = areas_of_subgroups(truth, prediction)
    means = power_means(areas, power)
    slopes = np.where(areas > 0, (np.where(areas > 0, areas, 1.0) / np.where(means > 0, means, 1.0)) ** (power - 1), 0)
    effect = np.zeros(len(truth))
    for group, kind, rows in masks(truth):
        moved = roc_influence(truth[rows, 0], prediction[rows])
        effect[rows] += slopes[group, kind] / len(areas) * moved
    return effect


def missing_rows(truth: np.ndarray) -> str:
    if truth.shape[1] < 2:
        return Message("it has no column beside the answer that says who belongs to a subgroup.")
    for group, _, rows in masks(truth):
        answers = truth[rows, 0]
        if not len(answers) or (answers == answers[0]).all():
            return Message("subgroup {group} and the other rows must each have both answers, 0 and 1.", group=group + 1)
    return ""
