"""Drawings that explain a score on a small file: a matrix of numbers, a curve. Pages draw them, the library only says
what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A table of numbers with named rows and columns; ``marked`` holds the (row, column) places that count."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[float | str]]
    corner: str = ""
    marked: frozenset[tuple[int, int]] = frozenset()
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """A line through points from left to right; ``diagonal`` adds the line of a guess, ``filled`` the area below."""

    title: str
    x: str
    y: str
    points: Sequence[tuple[float, float]]
    diagonal: bool = False
    filled: bool = True
    note: str = ""


Figure = Grid | Curve
