"""Sums that do not depend on the order of the rows, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def exact_sum(values: np.ndarray) -> Fraction:
    """The sum of finite float64 values without any rounding, so in any order the same.

    Each value is cut into slices of a fixed grid; the slices are whole numbers that int64 adds exactly. Counts need
    one slice, most floats two or three.

    >>> float(exact_sum(np.array([1e16, 1.0, -1e16])))
    1.0
    """
    rest = np.asarray(values, np.float64).ravel()
    largest = float(np.abs(rest).max(initial=0.0))
    if largest == 0.0:
        return Fraction(0)
    bits = 62 - max(1, len(rest).bit_length())
    unit = int(np.frexp(largest)[1]) - bits
    total = Fraction(0)
    while True:
        unit = max(unit, -1074)
        # In two steps, because 2 ** 1074 is no float.
        slices = np.trunc(np.ldexp(np.ldexp(rest, -unit // 2), -unit - -unit // 2))
        total += Fraction(int(slices.astype(np.int64).sum())) * Fraction(2) ** unit
        if unit == -1074:
            return total
        rest = rest - np.ldexp(slices, unit)
        if not rest.any():
            return total
        unit -= bits
