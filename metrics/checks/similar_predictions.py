"""Pairs of submissions that are suspiciously alike.

**Similar files** share wrong answers more often than independent files would. Shared right answers mean nothing. For
two files, the rows with the same wrong answer are counted and compared with the number expected by chance: each file
errs with its own frequency, more often on rows where all others err, too, and its wrong answers are distributed like
those of the others. The difficulty of a row is estimated without the two files.

For numeric predictions, which hardly ever coincide, the correlation of the errors counts. Some of it is common to all
files: the noise of the answers is in all errors, weak files lean towards the mean, and a hard row is hard for all. So
the part of the errors that follows from the answer and from the mean error of all other files is removed before two
files are correlated. A pair is named if its correlation is high and far above that of other pairs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..core.errors import SubmissionError
from ..core.prepare import prepare
from ..reading.sources import Source
from .hardest_rows import cells_of

ROWS = 2000
"""The most rows compared, drawn at random if there are more: a limit for memory."""
RARE = 0.01
"""A pair is named if fewer such pairs than this are expected by chance among all pairs compared."""
FEWEST = 5
"""The least number of shared wrong answers; fewer mean nothing."""
MOST_NAMED = 50

LEAST_DISTINCT = 30
"""The least number of different predictions; files with fewer predict labels, or almost nothing."""
FEWEST_FILES = 5
"""With fewer files the usual correlation is unknown."""
LEAST_CORRELATION = 0.9
LEAST_DISTANCE = 5.0
"""The least distance of a pair above the median pair, in spreads of all pairs."""
LEAST_SPREAD = 0.05
STRAY = 10.0
"""Errors are clipped at this many times the median error."""


@dataclass(frozen=True)
class CorrelatedPair:
    """Two files, by their index in the list, whose errors correlate; `usual` is the correlation of the median pair."""

    first: int
    second: int
    correlation: float
    usual: float


@dataclass(frozen=True)
class SimilarPair:
    """Two files by their index in the given list. `wrong` are their numbers of wrong answers."""

    first: int
    second: int
    wrong: tuple[int, int]
    same_wrong: int
    expected: float
    by_chance: float
    """The number of such pairs expected by chance among all pairs compared."""


@dataclass(frozen=True)
class SimilarPredictions:
    """Pairs above chance, least likely first, with the number of rows and of readable files compared.

    `correlated_pairs` have unusually correlated errors of numbers, closest first.
    """

    rows: int
    files: int
    pairs: tuple[SimilarPair, ...]
    correlated_pairs: tuple[CorrelatedPair, ...] = ()


def find_similar_predictions(
    key: str,
    truth: Source,
    submissions: Sequence[Source],
    params: Mapping[str, Any] | None = None,
    id_column: str | None = None,
) -> SimilarPredictions:
    """Compare all files with each other. Files that cannot be read are left out. Raises ``GroundTruthError``."""
    prepared = prepare(key, truth, params, id_column)
    rows = np.arange(len(prepared.scored))
    if len(rows) > ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, ROWS, replace=False))
    perfect = [tuple(map(_number, cells)) for cells in cells_of(prepared, prepared.perfect_submission(), rows)]
    places, predictions = [], []
    for place, submission in enumerate(submissions):
        try:
            cells = cells_of(prepared, submission, rows)
        except SubmissionError:
            continue
        places.append(place)
        predictions.append([tuple(map(_number, one)) for one in cells])
    pairs = _above_chance([perfect, *predictions]) if len(predictions) > 1 else []
    named = [replace(one, first=places[one.first], second=places[one.second]) for one in pairs[:MOST_NAMED]]
    close = _correlated_pairs(perfect, predictions)[:MOST_NAMED]
    correlated = [replace(one, first=places[one.first], second=places[one.second]) for one in close]
    return SimilarPredictions(len(rows), len(predictions), tuple(named), tuple(correlated))


def _number(cell: str) -> object:
    """The cell as a number if it is one, so that 1, 1.0 and 1e0 are the same answer."""
    try:
        return float(cell)
    except ValueError:
        return cell.strip()


def _above_chance(answers: Sequence[Sequence[tuple[object, ...]]]) -> list[SimilarPair]:
    """Pairs that share more wrong answers than expected by chance; the first of ``answers`` is the truth."""
    numbers: dict[tuple[object, ...], int] = {}
    codes = np.array([[numbers.setdefault(cells, len(numbers)) for cells in file] for file in answers])
    given, wrong = codes[1:], codes[1:] != codes[0]
    errors, often = wrong.sum(axis=0), wrong.mean(axis=1)
    shared = np.array([((given == mine) & wrong).sum(axis=0) for mine in given])
    usual = _usual_agreement(shared, wrong, errors)
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
            _chances_by_row(wrong[a], often[b], hard, (shared[a] - 1 - both + usual) / (others + 1))
            for a, b in ((first, second), (second, first))
        ]
        # The direction with the higher expectation, in favour of the two files.
        chance = max(chances, key=lambda one: float(one.sum()))
        expected = float(chance.sum())
        if same <= expected:
            continue
        # The variance of a sum of independent rare events is at most that of a Poisson distribution.
        by_chance = poisson_tail(same, expected) * compared
        if by_chance < RARE:
            counts = (int(wrong[first].sum()), int(wrong[second].sum()))
            found.append(SimilarPair(first, second, counts, same, expected, by_chance))
    return sorted(found, key=lambda pair: (pair.by_chance, pair.expected - pair.same_wrong))


def poisson_tail(number: int, expected: float) -> float:
    """The probability of at least ``number`` events of a Poisson distribution; exact for tiny probabilities."""
    if not expected:
        return 0.0
    term, total = math.exp(number * math.log(expected) - expected - math.lgamma(number + 1)), 0.0
    while total + term > total:
        total += term
        number += 1
        term *= expected / number
    return total


def _usual_agreement(shared: np.ndarray, wrong: np.ndarray, errors: np.ndarray) -> float:
    """How often two files that are wrong on a row have the same wrong answer there: always if there are two classes."""
    pairs = float((errors * (errors - 1.0)).sum())
    return float(((shared - 1) * wrong).sum()) / pairs if pairs else 1.0


def _chances_by_row(wrong: np.ndarray, often: float, hard: np.ndarray, same: np.ndarray) -> np.ndarray:
    """For each row the probability that the other file has this file's wrong answer."""
    return np.where(wrong, np.clip(often * hard, 0, 1) * np.clip(same, 0, 1), 0.0)


def _correlated_pairs(
    perfect: Sequence[tuple[object, ...]], predictions: Sequence[Sequence[tuple[object, ...]]]
) -> list[CorrelatedPair]:
    """Pairs with unusually correlated errors, closest first; none if answers are not numbers or files are few."""
    truth = _as_numbers(perfect)
    if truth is None:
        return []
    files = []
    for place, one in enumerate(predictions):
        numbers = _as_numbers(one)
        if numbers is not None and len(np.unique(numbers)) >= LEAST_DISTINCT:
            files.append((place, numbers))
    if len(files) < FEWEST_FILES:
        return []
    scale = truth.std(axis=0)
    scale[scale == 0] = 1.0
    errors = np.stack([((found - truth) / scale).ravel() for _, found in files])
    most = STRAY * float(np.median(np.abs(errors)))
    if most > 0:
        errors = np.clip(errors, -most, most)
    answers = (truth / scale).ravel()
    pairs = list(combinations(range(len(files)), 2))
    found = np.array([_left_over(errors, answers, first, second) for first, second in pairs])
    heights = np.arctanh(np.clip(found, -0.999999, 0.999999))
    middle = float(np.median(heights))
    spread = max(LEAST_SPREAD, 1.4826 * float(np.median(np.abs(heights - middle))))
    named = np.flatnonzero((found >= LEAST_CORRELATION) & (heights > middle + LEAST_DISTANCE * spread))
    usual = float(np.tanh(middle))
    chosen = [(float(found[at]), pairs[at]) for at in named]
    return [CorrelatedPair(files[a][0], files[b][0], value, usual) for value, (a, b) in sorted(chosen, reverse=True)]


def _as_numbers(cells: Sequence[tuple[object, ...]]) -> np.ndarray | None:
    """The cells as an array of rows × columns; None if a cell is not a finite number."""
    try:
        found = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    return found if found.ndim == 2 and found.size and np.isfinite(found).all() else None


def _left_over(errors: np.ndarray, answers: np.ndarray, first: int, second: int) -> float:
    """The correlation of two files' errors after removing the part that the answers and the other files explain; 0 if
    nothing is left."""
    others = (errors.sum(axis=0) - errors[first] - errors[second]) / (len(errors) - 2)
    known = np.column_stack([np.ones_like(answers), answers, others])
    pair = errors[[first, second]].T
    rest = pair - known @ np.linalg.lstsq(known, pair, rcond=None)[0]
    sizes = np.linalg.norm(rest, axis=0)
    if not (sizes > 1e-9 * np.linalg.norm(pair, axis=0)).all():
        return 0.0
    return float(rest[:, 0] @ rest[:, 1] / (sizes[0] * sizes[1]))
