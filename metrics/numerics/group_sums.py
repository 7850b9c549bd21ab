"""Sums of groups of rows that do not depend on the order of the rows, to the last bit."""

from __future__ import annotations

import numpy as np


def group_sums(values: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """The sum of the finite ``values`` of each of ``count`` groups, shape (count,).

    As in ``exact_sum``, values are cut into slices of a fixed grid. ``bincount`` adds in float64, so a slice has so few
    bits that no sum of it is rounded; the sums of the slices are then added from the largest on.
    """
    rest = np.asarray(values, np.float64)
    found = np.zeros(count)
    if not np.isfinite(rest).all():
        return np.bincount(groups, rest, minlength=count)  # not finite: for the engine to refuse
    bits = 52 - max(1, len(rest).bit_length())
    while (largest := float(np.abs(rest).max(initial=0.0))) > 0:
        unit = max(int(np.frexp(largest)[1]) - bits, -1074)
        slices = np.trunc(np.ldexp(np.ldexp(rest, -unit // 2), -unit - -unit // 2))
        found += np.ldexp(np.bincount(groups, slices, minlength=count), unit)
        rest = rest - np.ldexp(slices, unit)
    return found
