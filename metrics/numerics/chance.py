"""Probabilities by chance."""

from __future__ import annotations

import math


def poisson_tail(number: int, expected: float) -> float:
    """The probability of at least ``number`` events of a Poisson distribution; exact for tiny probabilities."""
    if not expected:
        return 0.0
    term, total = math.exp(number * math.log(expected) - expected - math.lgamma(number + 1)), 0.0
    while total + term > total:
        total += term
        number += 1
        term *= expected / number
    return total
