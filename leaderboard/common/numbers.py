"""Scores, intervals and axis labels as text, with a sensible number of digits."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from math import floor, log10
from statistics import median

from django.utils.translation import gettext as _

DECIMALS = 5
"""Decimals of scores on pages that show no competition."""
MIN_DECIMALS = 3
MAX_DECIMALS = 6
SEPARATED_SHARE = 0.9
"""Share of neighbouring scores of a board whose texts must differ."""


def number_text(value: float, decimals: int = DECIMALS) -> str:
    """A score with this number of decimals, with groups of three digits from 100,000 on.

    In scientific notation only from 10¹² on, and where the decimals would show nothing but zeros.
    """
    size = abs(value)
    if size >= 1e12 or 0 < size < 0.5 * 10**-decimals:
        return f"{value:.{decimals}e}"
    # `+ 0.0` turns -0.0 into 0.0.
    return f"{value + 0.0:{',' if size >= 1e5 else ''}.{decimals}f}"


def difference_text(difference: float, decimals: int) -> str:
    """The size of a difference between scores; with three digits where these decimals would show nothing but zeros."""
    size = abs(difference)
    if 0 < size < 0.5 * 10**-decimals:
        return f"{Decimal(f'{size:.3g}'):f}"
    return number_text(size, decimals)


def separating_decimals(values: Iterable[float]) -> int:
    """The decimals, 3 to 6, that give most neighbouring scores different texts and the median three digits."""
    ordered = sorted(set(values))
    typical = median(map(abs, ordered)) if ordered else 0
    first = MIN_DECIMALS - 1 - floor(log10(typical)) if typical else MIN_DECIMALS
    for decimals in range(min(max(first, MIN_DECIMALS), MAX_DECIMALS), MAX_DECIMALS):
        texts = [number_text(value, decimals) for value in ordered]
        if sum(one != next_one for one, next_one in pairwise(texts)) >= SEPARATED_SHARE * (len(texts) - 1):
            return decimals
    return MAX_DECIMALS


def points_text(points: float | None, decimals: int) -> str:
    """Points of a grade with this number of decimals; “–” for None."""
    return "–" if points is None else f"{points:.{decimals}f}"


def decimals_of(error: float) -> int:
    """The number of decimals that a standard error leaves meaningful."""
    return min(max(1 - floor(log10(error)), 0), 15)


def rounded_text(value: float) -> str:
    """A number that a person chose, without digits of binary rounding."""
    return f"{value + 0.0:.12g}"


def interval_text(low: float | None, high: float | None, error: float | None, decimals: int = DECIMALS) -> str:
    """An interval with as many digits as its standard error leaves meaningful, with those of its score if the error
    is 0; `""` if one of the three is None."""
    if error is None or low is None or high is None:
        return ""
    if error == 0:
        ends = number_text(low, decimals), number_text(high, decimals)
    else:
        size = max(abs(low), abs(high))
        pattern = ".3g" if size >= 1e12 else f"{',' if size >= 1e5 else ''}.{decimals_of(error)}f"
        ends = format(low, pattern), format(high, pattern)
    return _("%(low)s to %(high)s") % {"low": ends[0], "high": ends[1]}
