"""What the library says about a worked example, as pages show it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics as library

from .example_curve import curve_svg, short_number

MOST_FIGURES = 6
SIDES = {"truth": gettext_lazy("Truth"), "prediction": gettext_lazy("Prediction")}
CONTRIBUTES = gettext_lazy("Contributes")


@dataclass(frozen=True)
class WorkedCell:
    """One cell of the worked table; `exact` has all digits of a number that is shown shorter."""

    label: str
    text: str
    exact: str = ""
    is_number: bool = False


class WorkedExample:
    """The child's answer as the page shows it: one table, how it adds up, figures."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.answer = answer
        self.value: float = answer["overall"]
        self.splits = [(name, answer[name]) for name in ("public", "private") if answer[name] is not None]

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        """Of which file each column is, and its name; columns of neither have no file."""
        ids, *names = self.answer["header"]
        found = [("", ids)]
        for name in names:
            side, _space, column = name.partition(" ")
            found.append((str(SIDES[side]), column) if side in SIDES and column else ("", name))
        return found + [(str(CONTRIBUTES), name) for name in self.answer["parts"]]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The upper line of the header: words over how many columns."""
        names = [group for group, _name in self.columns]
        return [(name, names.count(name)) for name in dict.fromkeys(names)]

    @property
    def rows(self) -> list[list[WorkedCell]]:
        parts = self.answer["contributions"] or [[] for _ in self.answer["rows"]]
        return [self._cells([*texts, *numbers]) for texts, numbers in zip(self.answer["rows"], parts, strict=True)]

    def _cells(self, values: Sequence[Any]) -> list[WorkedCell]:
        cells = []
        for (group, name), value in zip(self.columns, values, strict=False):
            is_number = group == str(CONTRIBUTES)
            label = name if is_number else f"{group} {name}".strip()
            cells.append(
                WorkedCell(label, number_with_digits(value), repr(value), True)
                if is_number
                else WorkedCell(label, value)
            )
        return cells

    @property
    def sums(self) -> list[WorkedCell]:
        """Under the columns of contributions."""
        sums = self.answer["sums"]
        return [
            WorkedCell(name, number_with_digits(sums[name]), repr(sums[name]), True)
            for name in self.answer["parts"]
            if name in sums
        ]

    @property
    def before_sums(self) -> int:
        return len(self.answer["header"])

    @property
    def line(self) -> list[str]:
        """How the sums become the score: in names, in numbers, the value."""
        words = [self.answer["last_line"], self.answer["worked"]] if self.answer["last_line"] else []
        return [*dict.fromkeys(words), number_with_digits(self.value, 10)]

    @property
    def figures(self) -> list[dict[str, Any]]:
        return [_figure(figure) for figure in self.answer["figures"][:MOST_FIGURES]]


def best_value_text(metric: library.Metric, params: dict[str, Any]) -> str:
    """The best value in words; a metric from outside may have none."""
    is_unknown = metric.is_outside and not metric.has_best
    return _("not known") if is_unknown else end_of_scale(metric.best_with(params))


def end_of_scale(value: float | None) -> str:
    """The best or the worst value in words."""
    return _("no end") if value is None or not math.isfinite(value) else number_with_digits(float(value), 10)


def number_with_digits(value: float, digits: int = 6) -> str:
    """A number as the page shows it; whole ones whole."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _figure(figure: Mapping[str, Any]) -> dict[str, Any]:
    if figure["kind"] == "curve":
        words = _("%(title)s: %(y)s against %(x)s; a table has the points.") % {
            "title": figure["title"],
            "y": figure["y"],
            "x": figure["x"],
        }
        svg = curve_svg(figure["points"], words, diagonal=figure["diagonal"], filled=figure["filled"])
        return {
            **figure,
            "svg": svg,
            "points": [[short_number(number) for number in point] for point in figure["points"]],
        }
    marked = {tuple(place) for place in figure["marked"]}
    lines = [
        (name, [(number_with_digits(value, 4), (row, column) in marked) for column, value in enumerate(cells)])
        for row, (name, cells) in enumerate(zip(figure["rows"], figure["cells"], strict=True))
    ]
    return {**figure, "lines": lines}
