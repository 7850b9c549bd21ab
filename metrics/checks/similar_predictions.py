"""Which files are wrong in the same way more often than files by different hands would be.

Being right together says nothing. For two files the rows count on which both give the same wrong answer, against how
many there would be by chance: each file errs as often as it does, more often where all others err too, and its wrong
answers are spread as theirs are. The two files themselves take no part in saying how hard a row is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..core.errors import SubmissionError
from ..core.prepare import prepare
from ..reading.tables import Source
from .correlated_errors import Together, together
from .hard_rows import _said

ROWS = 2000
"""Rows that are compared, drawn at random where there are more: enough to see, and few enough for any memory."""
RARE = 0.01
"""A pair is named where chance would show fewer than so many such pairs among all that were compared."""
FEWEST = 5


@dataclass(frozen=True)
class SimilarPair:
    """Two files by their places in the list that was given. `wrong` is how often each differs from the truth."""

    first: int
    second: int
    wrong: tuple[int, int]
    same_wrong: int
    expected: float
    by_chance: float
    """How many pairs that agree so often chance would show among all that were compared."""


@dataclass(frozen=True)
class SimilarPredictions:
    """Pairs above chance, the least likely first, on so many rows of so many files that could be read. `together` are
    those whose errors in numbers are correlated beyond the usual, the closest first."""

    rows: int
    files: int
    pairs: tuple[SimilarPair, ...]
    together: tuple[Together, ...] = ()


def find_similar_predictions(
    key: str,
    truth: Source,
    submissions: Sequence[Source],
    params: Mapping[str, Any] | None = None,
    id_column: str | None = None,
    *,
    most: int = 50,
    seed: int = 0,
) -> SimilarPredictions:
    """Compare all files with each other. Files that cannot be read are left out. Raises ``GroundTruthError``."""
    prepared = prepare(key, truth, params, id_column)
    rows = np.arange(len(prepared.scored))
    if len(rows) > ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, ROWS, replace=False))
    perfect = [_plain(cells) for cells in _said(prepared, prepared.perfect_submission(), rows)]
    places, said = [], []
    for place, submission in enumerate(submissions):
        try:
            cells = _said(prepared, submission, rows)
        except SubmissionError:
            continue
        places.append(place)
        said.append([_plain(one) for one in cells])
    pairs = _above_chance(_coded([perfect, *said])) if len(said) > 1 else []
    named = [SimilarPair(places[one.first], places[one.second], *_rest(one)) for one in pairs[:most]]
    close = together(perfect, said)[:most]
    correlated = [replace(one, first=places[one.first], second=places[one.second]) for one in close]
    return SimilarPredictions(len(rows), len(said), tuple(named), tuple(correlated))


def _rest(pair: SimilarPair) -> tuple[tuple[int, int], int, float, float]:
    return pair.wrong, pair.same_wrong, pair.expected, pair.by_chance


def _plain(cells: tuple[str, ...]) -> tuple[object, ...]:
    """Cells so that 1, 1.0 and 1e0 are the same answer."""
    return tuple(_number(cell) for cell in cells)


def _number(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell.strip()


def _coded(answers: Sequence[Sequence[tuple[object, ...]]]) -> np.ndarray:
    """A number for each answer, the same for the same one; files × rows."""
    codes: dict[tuple[object, ...], int] = {}
    return np.array([[codes.setdefault(cells, len(codes)) for cells in file] for file in answers])


def _above_chance(codes: np.ndarray) -> list[SimilarPair]:
    """Pairs of the files after the first, which is the truth."""
    from scipy.special import pdtrc  # here, because reading the catalogue needs numpy alone

    given, wrong = codes[1:], codes[1:] != codes[0]
    errors, often = wrong.sum(axis=0), wrong.mean(axis=1)
    shared = np.array([((given == mine) & wrong).sum(axis=0) for mine in given])
    usual = _usual(shared, wrong, errors)
    found, compared = [], len(given) * (len(given) - 1) / 2
    for first, second in combinations(range(len(given)), 2):
        both = wrong[first] & wrong[second] & (given[first] == given[second])
        same = int(both.sum())
        if same < FEWEST:
            continue
        others = errors - wrong[first] - wrong[second]
        hard = (others + 0.5) / (len(given) - 1)
        hard /= hard.mean()
        chances = [
            _chances(wrong[a], often[b], hard, (shared[a] - 1 - both + usual) / (others + 1))
            for a, b in ((first, second), (second, first))
        ]
        # The kinder of both directions.
        chance = max(chances, key=lambda one: float(one.sum()))
        expected = float(chance.sum())
        # A sum of rare events that do not know of each other is no more spread than Poisson's.
        by_chance = float(pdtrc(same - 1, expected)) * compared
        if by_chance < RARE:
            counts = (int(wrong[first].sum()), int(wrong[second].sum()))
            found.append(SimilarPair(first, second, counts, same, expected, by_chance))
    return sorted(found, key=lambda pair: (pair.by_chance, pair.expected - pair.same_wrong))


def _usual(shared: np.ndarray, wrong: np.ndarray, errors: np.ndarray) -> float:
    """How often two files that err on a row give the same wrong answer there: 1 where there are two classes."""
    pairs = float((errors * (errors - 1.0)).sum())
    return float(((shared - 1) * wrong).sum()) / pairs if pairs else 1.0


def _chances(wrong: np.ndarray, often: float, hard: np.ndarray, same: np.ndarray) -> np.ndarray:
    """For each row, how likely the other file gives this file's wrong answer."""
    chances: np.ndarray = np.where(wrong, np.clip(often * hard, 0, 1) * np.clip(same, 0, 1), 0.0)
    return chances
