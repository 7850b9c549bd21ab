"""Scores, intervals and axis labels as text, with a sensible number of digits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import floor, log10

from django.utils.translation import gettext as _


def number_text(value: float) -> str:
    """A score with five decimals, or in scientific notation where those would show too little."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        # `+ 0.0` turns -0.0 into 0.0.
        return f"{value + 0.0:.5f}"
    return f"{value:.4e}"


def points_text(points: float | None, decimals: int) -> str:
    """Points of a grade with this number of decimals; “–” for None."""
    return "–" if points is None else f"{points:.{decimals}f}"


def decimals_of(error: float) -> int:
    """The number of decimals that a standard error leaves meaningful."""
    return min(max(1 - floor(log10(error)), 0), 15)


def rounded_text(value: float) -> str:
    """A number that a person chose, without digits of binary rounding."""
    return f"{value + 0.0:.12g}"


def interval_text(low: float | None, high: float | None, error: float | None) -> str:
    """An interval with as many digits as its standard error leaves meaningful; `""` if one of the three is None."""
    if error is None or low is None or high is None:
        return ""
    if error == 0:
        ends = number_text(low), number_text(high)
    elif max(abs(low), abs(high)) >= 1e7:
        ends = f"{low:.3g}", f"{high:.3g}"
    else:
        digits = decimals_of(error)
        ends = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return _("%(low)s to %(high)s") % {"low": ends[0], "high": ends[1]}


def short_texts(values: Sequence[float]) -> list[str]:
    """Scores for display side by side: four digits, or as many more as tell them apart, up to five decimals."""
    size = max((abs(value) for value in values), default=0.0)
    if size and not 1e-3 <= size < 1e7:
        return [f"{value:.3e}".replace("-", "−") for value in values]
    ordered = sorted(set(values))
    step = min((above - below for below, above in pairwise(ordered)), default=1.0)
    decimals = max(3 - floor(log10(size)) if size else 0, -floor(log10(step)), 0)
    return [f"{value + 0.0:.{min(decimals, 5)}f}".replace("-", "−") for value in values]


def short_text(value: float) -> str:
    return short_texts([value])[0]
