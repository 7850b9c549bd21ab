"""Sums of all rows, or of those of each group, that do not depend on the order of the rows, to the last bit.

Repeated ``math.fsum`` finds the same fractions but is slower: for ``spearman`` it took 60 ms of processor time on top
of 150 ms with 100,000 rows, and 1.1 s on top of 1.8 s with 1,000,000 rows.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ..core.arrays import Coded

_BLOCK = 1 << 14
"""Values added together: few enough to stay in a processor's cache."""

_BITS = 62 - _BLOCK.bit_length()
"""Bits of a slice: the sum of a block of slices never overflows int64."""

_LEAST = -1074
"""The exponent of the smallest float."""


def exact_sum(values: np.ndarray) -> Fraction:
    """The exact sum of finite float64 values, so the same in any order.

    Each value is cut into slices of a fixed grid; the slices are whole numbers that int64 adds exactly. Counts need one
    slice, most floats two or three.

    >>> float(exact_sum(np.array([1e16, 1.0, -1e16])))
    1.0
    """
    flat = np.asarray(values, np.float64).ravel()
    sums: defaultdict[int, int] = defaultdict(int)
    for start in range(0, len(flat), _BLOCK):
        for whole, unit in _slices(flat[start : start + _BLOCK]):
            sums[unit] += whole
    least = min(sums, default=0)
    total = sum(whole << (unit - least) for unit, whole in sums.items())
    return Fraction(total << least) if least >= 0 else Fraction(total, 1 << -least)


def _slices(rest: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs (sum, exponent): the values add up to the sum of all ``sum * 2 ** exponent``."""
    largest = max(float(rest.max()), -float(rest.min()))
    if largest == 0.0:
        return
    if largest < 1 << _BITS:
        whole = rest.astype(np.int64)
        if (whole == rest).all():
            yield int(whole.sum()), 0
            return
    unit = int(np.frexp(largest)[1]) - _BITS
    while True:
        unit = max(unit, _LEAST)
        slices = np.trunc(_scaled(rest, -unit))
        yield int(slices.astype(np.int64).sum()), unit
        if unit == _LEAST:
            return
        rest = rest - _scaled(slices, unit)
        if not rest.any():
            return
        unit -= _BITS


def _scaled(values: np.ndarray, power: int) -> np.ndarray:
    """``values * 2 ** power``; exact, except for results that are too small for the grid anyway."""
    if abs(power) <= 1000:
        return values * 2.0**power
    # In two steps, because 2 ** 1074 is too large for a float.
    half = power // 2
    return np.ldexp(np.ldexp(values, half), power - half)


def _distinct_groups(groups: Coded) -> tuple[np.ndarray, list[str]]:
    """The group number of each distinct text, and the groups' names; ``1`` and ``1.0`` are one group if groups are
    numbers."""
    names = {value: place for place, value in enumerate(dict.fromkeys(groups.values))}
    return np.array([names[value] for value in groups.values]), [str(value) for value in names]


def group_numbers(groups: Coded) -> tuple[np.ndarray, list[str]]:
    """The number of the group of each row, and the names of the groups of these rows, by number."""
    places, names = groups.once(_distinct_groups)
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
