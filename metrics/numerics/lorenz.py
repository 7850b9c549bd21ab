"""Ranks from the middle and what a row's weight does to them: what the Gini coefficient adds up."""

from __future__ import annotations

import numpy as np

from ..core.figures import Curve, Figure


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
