"""32-bit floats as the numbers that a file would say: 0.1, not 0.10000000149011612.

A float is written with the fewest digits that only it has. Arrow finds them by way of a text, which takes five times as
long as all else that reading a frame needs; so they are found by arithmetic, except where rounding might decide.
"""

from typing import Any

import numpy as np

_BLOCK = 1 << 14
"""Values worked on together: few enough to stay in a processor's cache."""

_NEAR_TIE = 1e-6
"""A distance from a tie that is larger than the rounding errors of the arithmetic, and hardly ever met."""

_HALF_STEPS = 2.0 ** (np.arange(256) - 151.0)
"""Half the distance to the next float, by the bits of the exponent."""

_POWERS = np.ceil(np.log10(0.5 / _HALF_STEPS)).astype(int)
"""A half step times ten to this power is between 0.5 and 5: then the shortest number is a whole one, and one that ends
with 0 if there is any within half a step; there is at most one."""

_UP, _DOWN = 10.0 ** np.maximum(_POWERS, 0), 10.0 ** np.maximum(-_POWERS, 0)
_REACH = _HALF_STEPS * 10.0**_POWERS
_IS_EXACT = (np.abs(_POWERS) <= 22) & (np.arange(256) > 0) & (np.arange(256) < 255)
"""Whether the power is a float without rounding, and the exponent that of an ordinary number."""


def shortest(array: Any) -> np.ndarray:
    """Finite values of an Arrow array of float32, each as the float64 of its shortest decimal number."""
    import pyarrow as pa

    given = np.frombuffer(array.buffers()[1], np.float32)[array.offset : array.offset + len(array)]
    found, is_unsure = np.empty(len(given)), np.empty(len(given), bool)
    for start in range(0, len(given), _BLOCK):
        some = slice(start, start + _BLOCK)
        found[some], is_unsure[some] = _shortest_of_block(given[some])
    rest = np.flatnonzero(is_unsure)
    if len(rest):
        texts = pa.array(given[rest]).cast(pa.string())
        found[rest] = np.array(texts.cast(pa.float64()).to_numpy())
    return found


def _shortest_of_block(given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shortest numbers, and where they are unsure."""
    bits = given.view(np.int32)
    exponents = (bits >> 23) & 0xFF
    up, down, reach = _UP[exponents], _DOWN[exponents], _REACH[exponents]
    scaled = given.astype(np.float64) * up / down
    tens, whole = np.rint(scaled * 0.1) * 10, np.rint(scaled)
    gap = np.abs(tens - scaled)
    is_far = gap >= reach
    is_unsure = np.abs(gap - reach) < _NEAR_TIE
    is_unsure |= is_far & (np.abs(np.abs(scaled - whole) - 0.5) < _NEAR_TIE)
    is_unsure |= ((bits & 0x7FFFFF) == 0) & (gap != 0)  # a power of two: the next float below is nearer
    is_unsure |= ~_IS_EXACT[exponents]
    return np.where(is_far, whole, tens) * down / up, is_unsure & (given != 0)
