"""Scores of which only the order counts: their ranks, and what is counted at each of them."""

from __future__ import annotations

import numpy as np


def closed_up(places: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 on without those that nobody has, in the same order; int32."""
    seen = np.zeros(int(places.max(initial=0)) + 1, np.int32)
    seen[places] = 1
    number = np.cumsum(seen, dtype=np.int32)
    number -= 1
    closed: np.ndarray = number[places]
    return closed


def dense_ranks(values: np.ndarray) -> np.ndarray:
    """The place of each value among the distinct values, from 0 for the lowest; int32, shape (n,)."""
    order = np.argsort(values)
    ordered = values[order]
    steps = np.zeros(len(order), np.int32)
    np.cumsum(ordered[1:] != ordered[:-1], out=steps[1:])
    ranks = np.empty(len(order), np.int32)
    ranks[order] = steps
    return ranks


def counts_in_order(positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many negative and how many positive rows have each distinct score, from the lowest on."""
    ranks = dense_ranks(scores)
    distinct = int(ranks.max(initial=-1)) + 1
    return np.bincount(ranks[~positive], minlength=distinct), np.bincount(ranks[positive], minlength=distinct)


def precision_from_top(down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the scores that positive rows have, from the lowest on: how many have it, and the share of positive rows
    among all with this score or a higher one."""
    counted = np.flatnonzero(up)
    hits, below = up[counted], np.cumsum(down + up)
    taken = below[-1:] - below[counted] + down[counted] + hits
    return hits, np.cumsum(hits[::-1])[::-1] / taken
