"""How often 95 % intervals hold the true value, next to the goal of 90 to 98 %: ``python -m bench.intervals``.

Each line makes 500 data sets of the same kind, scores one file on each, and counts the intervals that hold the value
of an endless sample of that kind. The count itself is uncertain by about 3 points. Lines without a goal are not
promised: errors with heavy tails, which few rows show, and a class of two or three rows that makes half of the value.

``python -m bench.intervals 100`` makes fewer data sets, ``python -m bench.intervals 500 f1 rmse`` these metrics only.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import metrics

Cells = tuple[Iterable[object], Iterable[object]]
Draw = Callable[[np.random.Generator, int], Cells]
SIZES = (50, 200, 1000)
LEAST, MOST = 0.90, 0.98


@dataclass(frozen=True)
class Kind:
    """A kind of data set: the cells of truth and submission for so many rows, and the value of endlessly many."""

    metric: str
    words: str
    draw: Draw
    value: float
    params: dict[str, Any] = field(default_factory=dict)
    is_promised: bool = True


def cells_of(shares: Sequence[float], right: Sequence[float]) -> np.ndarray:
    """How likely each pair of a true and a predicted label is; wrong answers are spread evenly."""
    wrong = (1 - np.array(right)) / (len(shares) - 1)
    table = np.repeat(wrong[:, None], len(shares), axis=1)
    np.fill_diagonal(table, right)
    found: np.ndarray = np.array(shares)[:, None] * table
    return found


def ratings(shares: Sequence[float]) -> np.ndarray:
    """The same where a rating is mistaken for its neighbours."""
    near = np.array([0.6, 0.3, 0.08, 0.015, 0.005])
    places = np.arange(len(shares))
    table: np.ndarray = near[np.abs(places[:, None] - places)]
    found: np.ndarray = np.array(shares)[:, None] * table / table.sum(axis=1, keepdims=True)
    return found


def drawn_from(table: np.ndarray) -> Draw:
    def draw(dice: np.random.Generator, rows: int) -> Cells:
        places = dice.choice(table.size, rows, p=table.ravel())
        return places // len(table), places % len(table)

    return draw


def accuracy_of(table: np.ndarray) -> float:
    return float(np.trace(table))


def recall_of(table: np.ndarray) -> float:
    return float((np.diagonal(table) / table.sum(axis=1)).mean())


def f1_of(table: np.ndarray) -> float:
    return float((2 * np.diagonal(table) / (table.sum(axis=1) + table.sum(axis=0))).mean())


def kappa_of(table: np.ndarray) -> float:
    places = np.arange(len(table))
    cost = (places[:, None] - places) ** 2
    return float(1 - (cost * table).sum() / (cost * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())


def scores(ones: float, apart: float) -> Draw:
    """Normal scores, those of the 1s higher; both classes occur, because other truths are refused."""

    def draw(dice: np.random.Generator, rows: int) -> Cells:
        truth = dice.random(rows) < ones
        while len(np.unique(truth)) < 2:
            truth = dice.random(rows) < ones
        return truth * 1, dice.normal(size=rows) + apart * truth

    return draw


def errors(
    draw_errors: Callable[[np.random.Generator, int], np.ndarray],
) -> Draw:
    def draw(dice: np.random.Generator, rows: int) -> Cells:
        truth = dice.normal(size=rows) * 10
        return truth, truth + draw_errors(dice, rows)

    return draw


RANKS = np.array([0.45, 0.15, 0.10, 0.05, 0.05, 0.20])
"""How likely the wanted label is at each of five places, and how likely it is missing."""


def lists(dice: np.random.Generator, rows: int) -> Cells:
    wanted = dice.choice(6, rows, p=RANKS)
    others = [f"o{place}" for place in range(5)]
    return ["w"] * rows, [" ".join([*others[:place], "w", *others[place:]][:5]) for place in wanted.tolist()]


RARE, FEW = cells_of([0.60, 0.35, 0.05], [0.85, 0.80, 0.60]), cells_of([0.90, 0.10], [0.97, 0.60])
ODD = cells_of([0.95, 0.05], [0.97, 0.60])
SURE, EVEN = cells_of([0.60, 0.35, 0.05], [0.98, 0.98, 0.90]), ratings([0.10, 0.25, 0.35, 0.20, 0.10])
QUADRATIC = {"weights": "quadratic"}
RARE_WORDS, FEW_WORDS = "three labels, one in 5 % of the rows", "two labels, one in 10 % of the rows"
ODD_WORDS = "two labels, one in 5 % of the rows"
SURE_WORDS = "the same three, nearly all right"
KINDS = [
    Kind("accuracy", RARE_WORDS, drawn_from(RARE), accuracy_of(RARE)),
    Kind("accuracy", SURE_WORDS, drawn_from(SURE), accuracy_of(SURE)),
    Kind("f1", RARE_WORDS, drawn_from(RARE), f1_of(RARE)),
    Kind("f1", FEW_WORDS, drawn_from(FEW), f1_of(FEW)),
    Kind("f1", SURE_WORDS, drawn_from(SURE), f1_of(SURE)),
    Kind("balanced_accuracy", RARE_WORDS, drawn_from(RARE), recall_of(RARE)),
    Kind("balanced_accuracy", FEW_WORDS, drawn_from(FEW), recall_of(FEW)),
    Kind("balanced_accuracy", SURE_WORDS, drawn_from(SURE), recall_of(SURE)),
    Kind("balanced_accuracy", ODD_WORDS, drawn_from(ODD), recall_of(ODD), is_promised=False),
    Kind("f1", ODD_WORDS, drawn_from(ODD), f1_of(ODD)),
    Kind("cohen_kappa", "five ratings, quadratic", drawn_from(EVEN), kappa_of(EVEN), QUADRATIC),
    Kind("roc_auc", "20 % are 1, AUC 0.86", scores(0.20, 1.5), 0.5 * (1 + math.erf(0.75))),
    Kind("roc_auc", "10 % are 1, AUC 0.76", scores(0.10, 1.0), 0.5 * (1 + math.erf(0.5))),
    Kind("map_at_k", "one wanted label among five", lists, float(RANKS[:5] @ (1 / np.arange(1, 6)))),
    Kind("rmse", "normal errors", errors(lambda dice, rows: dice.normal(size=rows)), 1.0),
    Kind("rmse", "errors of Laplace", errors(lambda dice, rows: dice.laplace(size=rows)), math.sqrt(2)),
    Kind(
        "rmse", "Student's errors, 5 degrees of freedom", errors(lambda dice, rows: dice.standard_t(5, rows)),
        math.sqrt(5 / 3), is_promised=False,
    ),
    Kind(
        "rmse", "Student's errors, 3 degrees of freedom", errors(lambda dice, rows: dice.standard_t(3, rows)),
        math.sqrt(3), is_promised=False,
    ),
]  # fmt: skip


def _csv(rows: Iterable[object]) -> bytes:
    return ("id,y\n" + "".join([f"{number},{cell}\n" for number, cell in enumerate(rows)])).encode()


def uncertainties(kind: Kind, rows: int, sets: int) -> Iterable[metrics.Uncertainty]:
    """What is said of one file on each of so many data sets, the same ones each time."""
    dice = np.random.default_rng([rows, sets])
    for _ in range(sets):
        truth, sent = (_csv(np.asarray(column).tolist()) for column in kind.draw(dice, rows))
        prepared = metrics.prepare(kind.metric, truth, kind.params)
        yield prepared.evaluate(sent, uncertainty=True).uncertainty["overall"]


def coverage(kind: Kind, rows: int, sets: int) -> float:
    """The share of the intervals that hold the true value."""
    return float(np.mean([one.low <= kind.value <= one.high for one in uncertainties(kind, rows, sets)]))


def main(sets: int, *wanted: str) -> None:
    for kind in KINDS:
        if wanted and kind.metric not in wanted:
            continue
        for rows in SIZES:
            found = coverage(kind, rows, sets)
            goal = f"goal {LEAST:.0%} to {MOST:.0%}" if kind.is_promised else "not promised"
            missed = " MISSED" if kind.is_promised and not LEAST <= found <= MOST else ""
            print(f"{kind.metric + ', ' + kind.words:<58}{rows:>6} rows {found:>8.1%}   {goal}{missed}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, *sys.argv[2:])
