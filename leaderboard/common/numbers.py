"""How many digits of a score are shown."""

from __future__ import annotations

from math import floor, log10


def number_text(value: float) -> str:
    """A score as people compare it: five decimals, or scientific where those would say nothing."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        # Without the sign of a zero: nobody is worse by nothing.
        return f"{value + 0.0:.5f}"
    return f"{value:.4e}"


def decimals_of(error: float) -> int:
    """How many decimals of an interval a standard error makes meaningful."""
    return min(max(1 - floor(log10(error)), 0), 15)


def rounded_end(end: float | None, error: float) -> float | None:
    """The end of an interval as pages show it. All its digits would distinguish the right rows of one file from those
    of another."""
    if end is None or error == 0:
        return end
    return float(f"{end:.3g}") if abs(end) >= 1e7 else round(end, decimals_of(error))


def rounded_text(value: float) -> str:
    """A number that somebody chose, or a score that a board rounded: without digits that it does not have."""
    return f"{value + 0.0:.12g}"
