"""Where files without a model and the perfect one lie on the scale of a metric, as a drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.common.library_messages import stored_text

SIZES = (("wide", 520, 150), ("narrow", 320, 106))
"""Style, width, and room for the words of one mark."""


@dataclass(frozen=True)
class ScaleMark:
    """A file on the scale; `x` is its place, `label_x` that of its words."""

    name: str
    value: float
    x: float
    label_x: float
    is_perfect: bool


@dataclass(frozen=True)
class BaselineScale:
    style: str
    width: int
    marks: list[ScaleMark]


def answer_scales(report: Mapping[str, Any]) -> list[BaselineScale]:
    """The perfect file, the best of those that say the same in each row, and random answers; empty where not
    measured."""
    measured = [one for one in report.get("baselines", ()) if _value(one) is not None]
    if len(measured) < 2:
        return []
    perfect, goal = measured[-1], _value(measured[-1]) or 0.0
    constants = [one for one in measured[:-1] if one.get("is_constant")]
    random = [one for one in measured[:-1] if not one.get("is_constant")][-1:]
    best = sorted(constants, key=lambda one: abs((_value(one) or 0.0) - goal))[:1]
    shown = [perfect, *best, *random]
    values = [_value(one) or 0.0 for one in shown]
    low, high = min(values), max(values)
    if low == high:
        return []
    names = [stored_text(one, "name").partition(" = ")[0] for one in shown]
    shares = [(value - low) / (high - low) for value in values]
    return [
        BaselineScale(style, width, _marks(names, values, shares, width=width, room=room))
        for style, width, room in SIZES
    ]


def _marks(names: list[str], values: list[float], shares: list[float], *, width: int, room: int) -> list[ScaleMark]:
    """From left to right; words that would touch are pushed apart."""
    marks: list[ScaleMark] = []
    order, taken = sorted(range(len(shares)), key=shares.__getitem__), 0.0
    for rank, index in enumerate(order):
        x = room / 2 + shares[index] * (width - room)
        after = (len(order) - 1 - rank) * room
        label_x = min(max(x, taken + room / 2), width - room / 2 - after)
        taken = label_x + room / 2
        marks.append(ScaleMark(names[index], values[index], x, label_x, index == 0))
    return marks


def _value(one: Mapping[str, Any]) -> float | None:
    found: float | None = one["values"].get("public", {}).get("value")
    return found
