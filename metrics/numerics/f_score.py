"""F1 and F-beta from counts, and the averages of F1 over rows."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from ..core.contract import ratio
from ..core.parameters import Range

Average = Annotated[
    Literal["samples", "micro", "macro", "weighted"],
    "samples: mean over rows; micro: pooled counts; macro: mean over labels; weighted: by a label's true rows.",
]
Beta = Annotated[float, Range(0, 1000, exclusive_minimum=True), "Weight of recall: below 1 favours precision."]


def f_beta(tp: float, fp: float, fn: float, beta: float = 1.0) -> float:
    """F-beta from counts; 1.0 where there was nothing to find and nothing was found.

    >>> f_beta(3, 1, 2, beta=0.5)
    0.7142857142857143
    """
    square = beta * beta
    return ratio((1 + square) * tp, (1 + square) * tp + square * fn + fp, empty=1.0)


def f_beta_of_rows(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, beta: float = 1.0) -> np.ndarray:
    """F-beta for each row; 1.0 where there was nothing to find and nothing was found."""
    square = beta * beta
    under = (1 + square) * tp + square * fn + fp
    return np.where(under == 0, 1.0, (1 + square) * tp / np.where(under == 0, 1.0, under))


def mean_over_rows(sums: np.ndarray, average: str, beta: float = 1.0) -> float | None:
    """The score from summed ``tp, fp, fn, f, rows``; ``None`` for the averages over labels."""
    tp, fp, fn, f, count = sums
    if average == "micro":
        return f_beta(tp, fp, fn, beta)
    return ratio(f, count) if average == "samples" else None


def words_of(cell: str, separator: str | None) -> frozenset[str]:
    """The distinct labels of a cell; ``None`` splits on any white space.

    >>> sorted(words_of("b a  a", None)), sorted(words_of("x y; z;", ";"))
    (['a', 'b'], ['x y', 'z'])
    """
    if separator is None or not separator.strip():
        return frozenset(cell.split())
    return frozenset(label for part in cell.split(separator) if (label := part.strip()))


def last_line(*, average: Average = "samples") -> str:
    """How the sums become the score; averages over labels are made label by label."""
    return {"samples": "{f} / {rows}", "micro": "2·{tp} / (2·{tp} + {fp} + {fn})"}.get(average, "")
