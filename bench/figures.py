"""Figures next to their goals and to the plain site's."""

from __future__ import annotations

import os
from collections.abc import Sequence


def share(values: Sequence[float], part: float) -> float:
    """The value below which this part of all lies: 0.95 for the 95th percentile."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, int(part * len(ordered))))] if ordered else float("nan")


def in_seconds(values: Sequence[float]) -> str:
    found = ", ".join(f"p{100 * part:.0f} {share(values, part):.2f}" for part in (0.5, 0.95, 0.99))
    return f"{found}, max {max(values, default=float('nan')):.2f} s"


class Report:
    """Prints each figure as a line and remembers how many missed their goal."""

    def __init__(self) -> None:
        self.missed = 0

    def print_figure(self, what: str, figure: str, goal: str = "", *, is_met: bool = True, plain: str = "") -> None:
        self.missed += not is_met
        verdict = f"   goal {goal:<22}{'reached' if is_met else 'MISSED'}" if goal else ""
        print(f"{what:<44} {figure:<48}{verdict}{f'   plain {plain}' if plain else ''}", flush=True)

    def most(self, what: str, figure: float, limit: float, *, unit: str = "s", plain: str = "") -> None:
        """A figure that may be so large at most."""
        self.print_figure(what, f"{figure:.2f} {unit}", f"≤ {limit:g} {unit}", is_met=figure <= limit, plain=plain)

    def least(self, what: str, figure: float, limit: float, *, unit: str = "", plain: str = "") -> None:
        """A figure that must be so large at least."""
        self.print_figure(what, f"{figure:.2f} {unit}", f"≥ {limit:g} {unit}", is_met=figure >= limit, plain=plain)

    def print_machine(self) -> None:
        """How busy the machine is: figures count only where nothing else runs."""
        loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
        print(f"load of this machine {loads} on {os.cpu_count()} processors", flush=True)
