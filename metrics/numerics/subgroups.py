"""Areas under the ROC curve within and across subgroups, and their power means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.messages import Message
from .ranks import roc_area, roc_influence

KINDS = ("subgroup", "background 1s, subgroup 0s", "background 0s, subgroup 1s")


def masks(truth: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """For each subgroup and kind of area the rows it is made of. The first column of ``truth`` is the answer, each
    other one says who belongs to a subgroup."""
    positive = truth[:, 0] == 1
    for group in range(truth.shape[1] - 1):
        belongs = truth[:, group + 1] == 1
        for kind, rows in enumerate((belongs, belongs != positive, belongs == positive)):
            yield group, kind, rows


def areas_of(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """The three areas of each subgroup, shape (subgroups, 3)."""
    found = np.zeros((truth.shape[1] - 1, len(KINDS)))
    for group, kind, rows in masks(truth):
        found[group, kind] = roc_area(truth[rows, 0], prediction[rows])
    return found


def power_means(areas: np.ndarray, power: float) -> np.ndarray:
    """The power mean of each column. An area of 0 makes it 0 where the power is negative."""
    with np.errstate(divide="ignore"):
        found: np.ndarray = np.mean(areas**power, axis=0) ** (1 / power)
    return found


def influence_of(truth: np.ndarray, prediction: np.ndarray, power: float) -> np.ndarray:
    """What each row does to the sum of the three power means, by way of every area that it belongs to."""
    areas = areas_of(truth, prediction)
    means = power_means(areas, power)
    slopes = np.where(areas > 0, (np.where(areas > 0, areas, 1.0) / np.where(means > 0, means, 1.0)) ** (power - 1), 0)
    effect = np.zeros(len(truth))
    for group, kind, rows in masks(truth):
        moved = roc_influence(truth[rows, 0], prediction[rows])
        effect[rows] += slopes[group, kind] / len(areas) * moved
    return effect


def missing_rows(truth: np.ndarray) -> str:
    """Why some area does not exist, or ``""``."""
    if truth.shape[1] < 2:
        return Message("it has no column beside the answer that says who belongs to a subgroup.")
    for group, _, rows in masks(truth):
        answers = truth[rows, 0]
        if not len(answers) or (answers == answers[0]).all():
            return Message("subgroup {group} and the other rows must each have both answers, 0 and 1.", group=group + 1)
    return ""
