"""Groups of rows, named by a column: their numbers, and exact sums within them."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Coded


def distinct(groups: Coded) -> tuple[np.ndarray, list[str]]:
    """The group number of each distinct text, and the groups' names; ``1`` and ``1.0`` are one group if groups are
    numbers."""
    names = {value: place for place, value in enumerate(dict.fromkeys(groups.values))}
    return np.array([names[value] for value in groups.values]), [str(value) for value in names]


def group_numbers(groups: Coded) -> tuple[np.ndarray, list[str]]:
    """The number of the group of each row, and the names of the groups of these rows, by number."""
    places, names = groups.once(distinct)
    used, numbers = np.unique(places[groups.codes], return_inverse=True)
    return numbers, [names[place] for place in used.tolist()]


def group_sums(values: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """The sum of the finite ``values`` in each of ``count`` groups, shape (count,).

    As in ``exact_sum``, values are cut into slices of a fixed grid. ``bincount`` adds in float64, so a slice has so few
    bits that none of its sums is rounded; the sums of the slices are then added from the largest on.
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
