"""The rows on which several submissions lose most.

**Hard rows** are rows where the problem is hard, or the answer file wrong. The cost of a row is the first-order effect
on the score of answering it perfectly: the gradient of ``total`` at the sums of the whole file, times the difference of
the row's contributions to those in a perfect file. It is exact if the score is a mean of rows.

**Outliers** are rows with a numeric answer that all files miss on the same side by far more than usual. The usual
spread is the median absolute deviation of a file's residuals, or that of rows with similar predictions if it is larger:
large values are often harder to predict. If residuals have a long tail, an outlier must be well beyond it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from ..core.contract import chosen
from ..core.errors import SubmissionError
from ..core.evaluate import contributions_of
from ..core.messages import Message
from ..core.prepare import prepare
from ..core.truth import Truth
from ..numerics.other_metrics import slopes_of
from ..reading.number_kinds import Number, RankedScore
from ..reading.sources import Source
from ..reading.split_words import SPLITS
from ..reading.tables import pick

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
    lost, files = _losses_by_row(prepared, submissions)
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
    for submission, read in _readable(truth, submissions):
        prediction = np.asarray(read, np.float64).ravel()
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
    outliers = _outlying_rows(truth, far, off[far], files) if len(far) else ()
    return Residuals(tuple(points), float(np.median(spreads)), outliers)


def _readable(truth: Truth, submissions: Sequence[Source]) -> Iterator[tuple[Source, Any]]:
    """The files that can be read, each with its prediction."""
    for submission in submissions:
        with suppress(SubmissionError):
            yield submission, truth.read_submission(submission)[0]


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


def _outlying_rows(truth: Truth, rows: np.ndarray, off: np.ndarray, files: Sequence[Source]) -> tuple[HardRow, ...]:
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
    total = metric.computation.total
    if total is None or total(np.ones(columns.shape[1]), **chosen(total, truth.params)) is None:
        return Message(
            "{metric} is an average over labels under these parameters: no row has a part of its own.",
            metric=metric.title,
        )
    return ""


def _losses_by_row(truth: Truth, submissions: Sequence[Source]) -> tuple[np.ndarray, list[Source]]:
    """The average loss of score by each scored row, and the files that could be read."""
    best = contributions_of(truth, truth.read_submission(truth.perfect_submission())[0])
    lost, files = np.zeros(len(truth.scored)), []
    for submission, prediction in _readable(truth, submissions):
        found = contributions_of(truth, prediction)
        effect = (best - found) @ slopes_of(truth.metric, truth.params, found.sum(axis=0))
        lost += effect if truth.metric.direction == "maximize" else -effect
        files.append(submission)
    # Rows that all files have right may have a loss by rounding, which is set to 0.
    lost[lost < 1e-12 * max(1.0, float(np.abs(lost).max(initial=0.0)))] = 0.0
    return lost / max(1, len(files)), files


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
        other, agree = _most_given_answer(truth, answer, theirs)
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


def _most_given_answer(truth: Truth, answer: tuple[str, ...], theirs: list[tuple[str, ...]]) -> tuple[str, int]:
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
