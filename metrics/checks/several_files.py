"""Comparison of several submissions: the rows on which they lose most, and pairs that are suspiciously alike.

**Hard rows** are rows where the problem is hard, or the answer file wrong. The cost of a row is the first-order effect
on the score of answering it perfectly: the gradient of ``total`` at the sums of the whole file, times the difference of
the row's contributions to those in a perfect file. It is exact if the score is a mean of rows.

**Outliers** are rows with a numeric answer that all files miss on the same side by far more than usual. The usual
spread is the median absolute deviation of a file's residuals, or that of rows with similar predictions if it is larger:
large values are often harder to predict. If residuals have a long tail, an outlier must be well beyond it.

**Similar files** share wrong answers more often than independent files would. Shared right answers mean nothing. For
two files, the rows with the same wrong answer are counted and compared with the number expected by chance: each file
errs with its own frequency, more often on rows where all others err, too, and its wrong answers are distributed like
those of the others. The difficulty of a row is estimated without the two files.

For numeric predictions, which hardly ever coincide, the correlation of the errors counts. Some of it is common to all
files: the noise of the answers is in all errors, weak files lean towards the mean, and a hard row is hard for all. So
the part of the errors that follows from the answer and from the mean error of all other files is removed before two
files are correlated. A pair is named if its correlation is high and far above that of other pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from ..core.errors import SubmissionError
from ..core.evaluate import contributions_of
from ..core.messages import Message
from ..core.parameters import chosen
from ..core.truth import Truth, prepare
from ..reading.column_kinds import Number, RankedScore
from ..reading.headers import SPLITS
from ..reading.tables import Source, pick

# --- hard rows --------------------------------------------------------------------------------------------------

CANDIDATES = 2000
"""The most rows whose cells are compared, a limit for memory."""
MOST_ANSWERS = 6
NEAR = 0.25
"""Numbers agree with the median of all if their distance to it is at most this share of its distance to the truth."""
LONGEST = 200


@dataclass(frozen=True)
class HardRow:
    """A row of the truth that costs the files much.

    ``truth`` are its answers; ``answers`` are the files' answers with the number of files, most frequent first.
    ``lost`` is the loss of score by this row, averaged over the files. ``other`` is the answer that the files would put
    in the truth's place (the most frequent other answer, or the median of numbers; ``""`` if their answers are of
    another kind), and ``agree`` the number of files with it. Numbers agree if they are much nearer to each other than
    to the truth: those of files without a good model are on both sides of it.
    """

    id: str
    split: str
    truth: tuple[str, ...]
    answers: tuple[tuple[str, int], ...]
    lost: float
    other: str
    agree: int
    off: float = 0.0
    """For outliers: the least distance of the files from the answer, in usual spreads."""
    around: float = 0.0
    """For outliers: the spread of the files' predictions."""


@dataclass(frozen=True)
class Residuals:
    """Predictions minus answers: ``points`` are (answer, median residual) of some rows, ``spread`` is the usual spread,
    and ``outliers`` are sorted from the farthest."""

    points: tuple[tuple[float, float], ...]
    spread: float
    outliers: tuple[HardRow, ...]


@dataclass(frozen=True)
class HardRows:
    """The hardest rows, hardest first. ``reason`` says why there are none, if the score has no parts by row.
    ``residuals`` are set if answers and predictions are single numbers. ``scored`` is the number of all scored rows."""

    targets: tuple[str, ...] = ()
    files: int = 0
    rows: tuple[HardRow, ...] = ()
    reason: str = ""
    residuals: Residuals | None = None
    scored: int = 0


def find_hardest_rows(
    key: str,
    truth: Source,
    submissions: Sequence[Source],
    params: Mapping[str, Any] | None = None,
    id_column: str | None = None,
    *,
    most: int = 100,
) -> HardRows:
    """The rows on which these files lose most. Files that cannot be read are left out.

    Holds one file in memory at a time and reads each a few times. Raises ``GroundTruthError``.
    """
    prepared = prepare(key, truth, params, id_column)
    residuals, scored = _residuals(prepared, submissions), len(prepared.scored)
    if reason := _why_not(prepared):
        return HardRows(prepared.target_columns, len(submissions), (), reason, residuals, scored)
    lost, files = _losses(prepared, submissions)
    order = np.argsort(-lost, kind="stable")[:CANDIDATES]
    order = order[lost[order] > 0]
    said = [cells_of(prepared, file, order) for file in files]
    rows = _rows(prepared, order, lost[order], said)
    rows.sort(key=lambda row: (-row.lost, -row.agree))
    return HardRows(prepared.target_columns, len(files), tuple(rows[:most]), "", residuals, scored)


FEWEST_ROWS = 20
"""With fewer rows the usual spread cannot be estimated."""
BLOCK = 100
"""The number of rows with similar predictions whose spread is estimated together."""
OUTLYING = 6.0
"""The least distance of an outlier from all files, in usual spreads."""
TAIL, APART = 0.98, 3.0
"""An outlier's distance is at least ``APART`` times the quantile ``TAIL`` of all rows' distances."""
MOST_OUTLIERS, MOST_POINTS = 10, 500
NORMAL = 1.4826
"""The standard deviation of normal values divided by their median absolute deviation."""


def _residuals(truth: Truth, submissions: Sequence[Source]) -> Residuals | None:
    """The residuals; None if answers or predictions are not single numbers, or if there are too few files or rows."""
    is_number = isinstance(truth.metric.submission, Number) and isinstance(truth.metric.truth, Number)
    if not is_number or len(truth.target_columns) != 1 or len(truth.scored_columns) != 1:
        return None
    answers = np.asarray(truth.target, np.float64).ravel()
    drawn = np.sort(np.random.default_rng(0).permutation(len(answers))[:MOST_POINTS])
    lowest, highest = np.full(len(answers), np.inf), np.full(len(answers), -np.inf)
    files, shown, spreads = [], [], []
    for submission in submissions:
        try:
            prediction = np.asarray(truth.read_submission(submission)[0], np.float64).ravel()
        except SubmissionError:
            continue
        found = prediction - answers
        spread = _usual_spread(found)
        distances = (found - np.median(found)) / _local_spread(prediction, found, spread)
        lowest, highest = np.minimum(lowest, distances), np.maximum(highest, distances)
        files.append(submission)
        shown.append(found[drawn])
        spreads.append(spread)
    if len(files) < 2 or len(answers) < FEWEST_ROWS:
        return None
    off = np.maximum(lowest, -highest)
    least = max(OUTLYING, APART * float(np.quantile(off, TAIL, method="lower")))
    far = np.argsort(-off, kind="stable")[:MOST_OUTLIERS]
    far = far[off[far] >= least]
    middles = np.median(np.array(shown), axis=0)
    points = zip(answers[drawn].tolist(), middles.tolist(), strict=True)
    outliers = _outliers(truth, far, off[far], files) if len(far) else ()
    return Residuals(tuple(points), float(np.median(spreads)), outliers)


def _usual_spread(residuals: np.ndarray) -> float:
    """The median absolute deviation scaled to a standard deviation; the mean one for files that are mostly exact."""
    distances = np.abs(residuals - np.median(residuals))
    return float(NORMAL * np.median(distances) or distances.mean()) or 1.0


def _local_spread(prediction: np.ndarray, residuals: np.ndarray, spread: float) -> np.ndarray:
    """For each row the usual spread, or that of rows with similar predictions if it is larger."""
    found = np.full(len(residuals), spread)
    for rows in np.array_split(np.argsort(prediction, kind="stable"), max(1, len(residuals) // BLOCK)):
        middle = np.median(residuals[rows])
        found[rows] = max(spread, float(NORMAL * np.median(np.abs(residuals[rows] - middle))))
    return found


def _outliers(truth: Truth, rows: np.ndarray, off: np.ndarray, files: Sequence[Source]) -> tuple[HardRow, ...]:
    said = [cells_of(truth, file, rows) for file in files]
    found = []
    for place, row in enumerate(_rows(truth, rows, np.zeros(len(rows)), said)):
        values = np.array([float(file[place][0]) for file in said])
        around = float(NORMAL * np.median(np.abs(values - np.median(values))))
        found.append(replace(row, off=float(off[place]), around=around))
    return tuple(found)


def _why_not(truth: Truth) -> str:
    metric = truth.metric
    if metric.is_custom:
        return Message(
            "{metric} was added by the operator as a whole; nobody knows what a row contributes to it.",
            metric=metric.title,
        )
    if metric.computation.is_whole:
        return Message(
            "{metric} is computed on whole columns: no row has a part of its own in the score.", metric=metric.title
        )
    columns = contributions_of(truth, truth.read_submission(truth.perfect_submission())[0])
    if _total_of(truth, np.ones(columns.shape[1])) is None:
        return Message(
            "{metric} is an average over labels under these parameters: no row has a part of its own.",
            metric=metric.title,
        )
    return ""


def _losses(truth: Truth, submissions: Sequence[Source]) -> tuple[np.ndarray, list[Source]]:
    """The average loss of score by each scored row, and the files that could be read."""
    best = contributions_of(truth, truth.read_submission(truth.perfect_submission())[0])
    lost, files = np.zeros(len(truth.scored)), []
    for submission in submissions:
        try:
            prediction, _, _ = truth.read_submission(submission)
        except SubmissionError:
            continue
        found = contributions_of(truth, prediction)
        effect = (best - found) @ _gradient(truth, found.sum(axis=0))
        lost += effect if truth.metric.direction == "maximize" else -effect
        files.append(submission)
    # Rows that all files have right may have a loss by rounding, which is set to 0.
    lost[lost < 1e-12 * max(1.0, float(np.abs(lost).max(initial=0.0)))] = 0.0
    return lost / max(1, len(files)), files


def _gradient(truth: Truth, sums: np.ndarray) -> np.ndarray:
    """The derivative of the score by each sum; 0 where it is undefined."""
    found = np.zeros(len(sums))
    with np.errstate(all="ignore"):
        for place, value in enumerate(sums):
            step = np.zeros(len(sums))
            step[place] = 1e-6 * max(1.0, abs(float(value)))
            up, down = _total_of(truth, sums + step), _total_of(truth, sums - step)
            if up is not None and down is not None and np.isfinite(up - down):
                found[place] = (up - down) / (2 * step[place])
    return found


def _total_of(truth: Truth, sums: np.ndarray) -> float | None:
    total = truth.metric.computation.total
    assert total is not None
    return total(sums, **chosen(total, truth.params))


def cells_of(truth: Truth, submission: Source, rows: np.ndarray) -> list[tuple[str, ...]]:
    """The cells of a file in some scored rows."""
    _, table, places = truth.read_submission(submission)
    columns = []
    for name in truth.scored_columns:
        # Ids that the file may leave out have the place -1.
        cells = pick(table.column(truth.name_in(table, name)), np.maximum(places[rows], 0)).to_pylist()
        columns.append([cell if at >= 0 else "" for cell, at in zip(cells, places[rows], strict=True)])
    return list(zip(*columns, strict=True))


def _rows(truth: Truth, rows: np.ndarray, lost: np.ndarray, said: list[list[tuple[str, ...]]]) -> list[HardRow]:
    lines = truth.scored[rows]
    ids = pick(truth.table.column(truth.id_column), lines).to_pylist()
    answers = zip(*(pick(truth.table.column(name), lines).to_pylist() for name in truth.target_columns), strict=True)
    found = []
    for place, (name, answer) in enumerate(zip(ids, answers, strict=True)):
        theirs = [file[place] for file in said]
        other, agree = _other(truth, answer, theirs)
        counts = Counter(", ".join(cells)[:LONGEST] for cells in theirs)
        found.append(
            HardRow(
                id=name,
                split=SPLITS[truth.usage[lines[place]]] if truth.has_split else "",
                truth=tuple(text[:LONGEST] for text in answer),
                answers=tuple(counts.most_common(MOST_ANSWERS)),
                lost=float(lost[place]),
                other=other[:LONGEST],
                agree=agree,
            )
        )
    return found


def _other(truth: Truth, answer: tuple[str, ...], theirs: list[tuple[str, ...]]) -> tuple[str, int]:
    """The answer that the files would put in the truth's place, and the number of files with it."""
    if len(answer) != 1 or len(truth.scored_columns) != 1:
        return "", 0
    if isinstance(truth.metric.submission, (Number, RankedScore)):
        true, values = float(answer[0]), [float(cell) for (cell,) in theirs]
        middle = median(values)
        agree = sum(abs(value - middle) <= NEAR * abs(middle - true) for value in values) if middle != true else 0
        return f"{middle:.6g}", agree
    if type(truth.metric.submission) is not type(truth.metric.truth):
        return "", 0
    others = Counter(cell for (cell,) in theirs if cell != answer[0])
    return others.most_common(1)[0] if others else ("", 0)


# --- similar files ----------------------------------------------------------------------------------------------

ROWS = 2000
"""The most rows compared, drawn at random if there are more: a limit for memory."""
RARE = 0.01
"""A pair is named if fewer such pairs than this are expected by chance among all pairs compared."""
FEWEST = 5
"""The least number of shared wrong answers; fewer mean nothing."""
MOST_NAMED = 50

MANY = 30
"""The least number of different predictions; files with fewer predict labels, or almost nothing."""
FEWEST_FILES = 5
"""With fewer files the usual correlation is unknown."""
HIGH = 0.9
FAR = 5.0
"""The least distance of a pair above the median pair, in spreads of all pairs."""
LEAST_SPREAD = 0.05
STRAY = 10.0
"""Errors are clipped at this many times the median error."""


@dataclass(frozen=True)
class Together:
    """Two files by their index in the given list; `usual` is the correlation of the median pair."""

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
    """Pairs above chance, least likely first, with the number of rows and of readable files compared. `together` are
    pairs with unusually correlated errors of numbers, closest first."""

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
) -> SimilarPredictions:
    """Compare all files with each other. Files that cannot be read are left out. Raises ``GroundTruthError``."""
    prepared = prepare(key, truth, params, id_column)
    rows = np.arange(len(prepared.scored))
    if len(rows) > ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, ROWS, replace=False))
    perfect = [_plain(cells) for cells in cells_of(prepared, prepared.perfect_submission(), rows)]
    places, said = [], []
    for place, submission in enumerate(submissions):
        try:
            cells = cells_of(prepared, submission, rows)
        except SubmissionError:
            continue
        places.append(place)
        said.append([_plain(one) for one in cells])
    pairs = _above_chance([perfect, *said]) if len(said) > 1 else []
    named = [replace(one, first=places[one.first], second=places[one.second]) for one in pairs[:MOST_NAMED]]
    close = _together(perfect, said)[:MOST_NAMED]
    correlated = [replace(one, first=places[one.first], second=places[one.second]) for one in close]
    return SimilarPredictions(len(rows), len(said), tuple(named), tuple(correlated))


def _plain(cells: tuple[str, ...]) -> tuple[object, ...]:
    """The cells with numbers converted, so that 1, 1.0 and 1e0 are the same answer."""
    return tuple(_number(cell) for cell in cells)


def _number(cell: str) -> object:
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


def _usual(shared: np.ndarray, wrong: np.ndarray, errors: np.ndarray) -> float:
    """How often two files that are wrong on a row have the same wrong answer there: always if there are two classes."""
    pairs = float((errors * (errors - 1.0)).sum())
    return float(((shared - 1) * wrong).sum()) / pairs if pairs else 1.0


def _chances(wrong: np.ndarray, often: float, hard: np.ndarray, same: np.ndarray) -> np.ndarray:
    """For each row the probability that the other file has this file's wrong answer."""
    chances: np.ndarray = np.where(wrong, np.clip(often * hard, 0, 1) * np.clip(same, 0, 1), 0.0)
    return chances


def _together(perfect: Sequence[tuple[object, ...]], said: Sequence[Sequence[tuple[object, ...]]]) -> list[Together]:
    """Pairs with unusually correlated errors, closest first; none if answers are not numbers or files are few."""
    truth = _as_numbers(perfect)
    if truth is None:
        return []
    files = []
    for place, one in enumerate(said):
        numbers = _as_numbers(one)
        if numbers is not None and len(np.unique(numbers)) >= MANY:
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
    named = np.flatnonzero((found >= HIGH) & (heights > middle + FAR * spread))
    usual = float(np.tanh(middle))
    chosen = [(float(found[at]), pairs[at]) for at in named]
    return [Together(files[a][0], files[b][0], value, usual) for value, (a, b) in sorted(chosen, reverse=True)]


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
