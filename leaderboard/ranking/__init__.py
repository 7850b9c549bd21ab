"""Boards: standings, ties, final picks, the reveal. Kaggle's rules, because students know them (docs/ranking.md).

A rank is never stored: it is one more than the number of standings that are strictly better, so equal score and
equal receipt share it. Standings are derived from scores; `rebuild` makes them again from nothing.
"""

from __future__ import annotations

from .boards import (
    PAGE_SIZE,
    Board,
    Placing,
    Row,
    baselines,
    board,
    find,
    in_order,
    lines,
    placing,
    rank_of,
    ranks_of,
)
from .revealing import reveal, reveal_due
from .standings import Best, bests, differences, expected, finals, note_score, rebuild, sign_of

__all__ = [
    "PAGE_SIZE",
    "Best",
    "Board",
    "Placing",
    "Row",
    "baselines",
    "bests",
    "board",
    "differences",
    "expected",
    "finals",
    "find",
    "in_order",
    "lines",
    "note_score",
    "placing",
    "rank_of",
    "ranks_of",
    "rebuild",
    "reveal",
    "reveal_due",
    "sign_of",
]
