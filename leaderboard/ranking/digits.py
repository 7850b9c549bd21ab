"""How many digits of a score are told."""

from __future__ import annotations


def number_text(value: float) -> str:
    """A score as people compare it: five decimals, or scientific where those would say nothing."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        # Without the sign of a zero: nobody is worse by nothing.
        return f"{value + 0.0:.5f}"
    return f"{value:.4e}"


def rounded_text(value: float) -> str:
    """A number that somebody chose, or a score that a board rounded: without digits that it does not have."""
    return f"{value + 0.0:.12g}"
