"""On which rows several submissions lose most: where a problem is hard, or the answer file wrong.

What a row costs is the first-order effect on the score of answering it perfectly: the gradient of ``total`` at the sums
of the whole file, times what the row contributes less than in a perfect file. It is exact where the score is a mean of
rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

CANDIDATES = 2000
"""Rows whose cells are compared: enough for ties, and few enough for any memory."""
MOST_ANSWERS = 6
NEAR = 0.25
"""How far a number may be from the median of all, as a part of the median's way to the truth, to say the same."""
LONGEST = 200


@dataclass(frozen=True)
class HardRow:
    """A row of the truth that costs the files much.

    ``truth`` are its answers and ``answers`` what the files say, with how many say so, most first. ``lost`` is how much
    the score would be better on average over the files. ``other`` is what the files would put in the truth's place
    (the commonest other answer, of numbers their median; ``""`` where theirs is no answer of the truth's kind),
    and ``agree`` how many of them. Numbers agree where they are much nearer to each other than to the truth: files
    that know nothing are as often on one side of it as on the other, and that is no answer.
    """

    id: str
    split: str
    truth: tuple[str, ...]
    answers: tuple[tuple[str, int], ...]
    lost: float
    other: str
    agree: int


@dataclass(frozen=True)
class HardRows:
    """The hardest rows, hardest first. ``reason`` says why there are none where rows cannot be told apart."""

    targets: tuple[str, ...] = ()
    files: int = 0
    rows: tuple[HardRow, ...] = ()
    reason: str = ""


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

    Holds one file at a time and reads each twice. Raises ``GroundTruthError``.
    """
    prepared = prepare(key, truth, params, id_column)
    if reason := _why_not(prepared):
        return HardRows(reason=reason)
    lost, files = _losses(prepared, submissions)
    order = np.argsort(-lost, kind="stable")[:CANDIDATES]
    order = order[lost[order] > 0]
    said = [cells_of(prepared, file, order) for file in files]
    rows = _rows(prepared, order, lost[order], said)
    rows.sort(key=lambda row: (-row.lost, -row.agree))
    return HardRows(prepared.target_columns, len(files), tuple(rows[:most]))


def _why_not(truth: Truth) -> str:
    metric = truth.metric
    if metric.is_outside:
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
    """What each scored row costs on average, and the files that could be read."""
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
    # What rounding leaves of a row that all have right is nothing.
    lost[lost < 1e-12 * max(1.0, float(np.abs(lost).max(initial=0.0)))] = 0.0
    return lost / max(1, len(files)), files


def _gradient(truth: Truth, sums: np.ndarray) -> np.ndarray:
    """How the score moves with each sum; 0 where it does not follow."""
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
    """The cells of a file on some scored rows."""
    _, table, places = truth.read_submission(submission)
    columns = []
    for name in truth.scored_columns:
        # An id that a file may leave out has no place in it.
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
    """What the files would rather have in the truth's place, and how many of them."""
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
