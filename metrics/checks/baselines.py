"""Scores of files made without a model: the sample, the same answer in each row, random answers; and the perfect file.

The candidates are derived from the answers alone: the most frequent cell, mean and median if cells are numbers, an
empty cell. Those that the metric refuses are left out.
"""

import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any

import numpy as np

from ..core.custom_metrics import is_perfect_known
from ..core.errors import MetricError, NotFinite, Problem, shown
from ..core.evaluate import score_prediction
from ..core.messages import Message, joined
from ..core.result import Result
from ..core.truth import Truth, unscorable_parts
from ..core.uncertainty import NORMAL
from ..reading.columns import to_decimal
from ..reading.headers import ANY_HEADER
from ..reading.numbers import fast_numbers
from ..reading.tables import columns_csv, csv_bytes, pick, read_table, text_array

MOST_ROWS = 100_000
"""The most rows on which the files are scored; of a larger truth, those with the lowest hashes."""

MOST_CELLS = 1_000_000
RANDOM_ROWS = 1000
SECONDS = 20.0
"""The time after which the uncertainty of further files is not computed."""

_SEED = 7
_RIGHT = 0.75
_OWN = 1 / 3
"""Share of the rows on which two good files err independently: rows that are hard for one are hard for others, too."""

_NOISE = 1e-12
_TOKENS = 5
_MOST_CLASSES = 30
_OFTEN = 0.05
"""The most frequent number is tried if its share of the rows is larger than this."""


@dataclass(frozen=True)
class ReferenceScore:
    """The score of one file. ``says`` describes its cells, ``values`` has per split the ``value``, its
    ``standard_error`` and the ends ``low`` and ``high`` of its interval, which may be ``None``."""

    name: str
    says: str
    values: dict[str, dict[str, float | None]]
    is_constant: bool = False


@dataclass(frozen=True)
class Baselines:
    """All files, the number of ``rows`` on which they were scored, and per split the difference that two good files
    need to be distinguishable in 95 of 100 cases (``apart``); empty if unknown."""

    files: list[ReferenceScore]
    rows: int
    apart: dict[str, float]


def baselines_of(truth: Truth) -> Baselines:
    """Score the files, in seconds whatever the size of the truth."""
    small = _truth_of_few_rows(truth)
    if small.metric.is_custom:
        small = small.some(small.scored)
    if small.problems or unscorable_parts(small):
        return Baselines([], 0, {})
    measured = _Measured(small)
    perfect = small.perfect_columns()
    constants = [measured.constant(name, cells) for name, cells in _constant_answers(small, perfect)]
    files = _all_the_same([one for one in constants if one is not None])
    wild = _random_columns(small)
    rows = len(perfect[0])
    places = _draw_numbers(rows, 1) % max(len(wild[0]), 1)
    said_at_random = Message("any answer of this kind, at random")
    random_file = measured.file(Message("Random answers"), said_at_random, wild, places.astype(np.int64))
    perfect_file = None
    if not small.metric.is_custom or is_perfect_known(small):
        perfect_file = measured.file(Message("Perfect file"), Message("the answers"), perfect, np.arange(rows))
    files += [one for one in (random_file, perfect_file) if one is not None]
    return Baselines(files, rows, _meaningful_differences(truth, measured, perfect, wild))


def apart_of(truth: Truth) -> dict[str, float]:
    """Per split, the difference that two good files need to be distinguishable, without scoring baselines."""
    small = _truth_of_few_rows(truth)
    if truth.metric.is_custom or small.problems or unscorable_parts(small):
        return {}
    return _meaningful_differences(truth, _Measured(small), small.perfect_columns(), _random_columns(small))


def _all_the_same(constants: list[ReferenceScore]) -> list[ReferenceScore]:
    """The constant files, or a single entry in their place if they all have the same score."""
    values = {tuple(found["value"] for found in one.values.values()) for one in constants}
    if len(constants) < 2 or len(values) > 1:
        return constants
    says = Message("the same answer in each row")
    return [ReferenceScore(Message("Any constant"), says, constants[0].values, is_constant=True)]


def _truth_of_few_rows(truth: Truth) -> Truth:
    """The truth itself, or as many of its rows as can be scored in time, the same number from each split."""
    most = min(MOST_ROWS, max(1000, MOST_CELLS // max(len(truth.scored_columns), 1)))
    if len(truth.scored) <= most:
        return truth
    parts = truth.parts or {"": np.arange(len(truth.scored))}
    share = most // len(parts)
    places = np.concatenate([rows[truth.buckets(name).order[:share]] for name, rows in parts.items()])
    return truth.some(truth.scored[np.sort(places)])


def _draw_numbers(size: int, stream: int) -> np.ndarray:
    # Raw bits do not change between versions of numpy.
    return np.random.PCG64([_SEED, stream]).random_raw(size) >> np.uint64(11)


def reading_of(truth: Truth, columns: Sequence[Sequence[str]]) -> tuple[Any, list[Problem]]:
    """The metric's prediction for these columns of a submission, without ids, and the problems found."""
    ids = list(map(str, range(len(columns[0]))))
    text = columns_csv((truth.id_column, *truth.scored_columns), list(map(text_array, (ids, *columns))))
    table = read_table(text, ANY_HEADER, longest_line=truth.metric.longest_line)
    prediction, problems = truth.read_prediction(table)
    return prediction, table.problems + problems


class _Measured:
    """Scores files made of few distinct rows; the uncertainty is left out when time is short."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.deadline = time.process_time() + SECONDS
        self.splits = tuple(truth.parts) or ("overall",)

    def read(self, columns: Sequence[Sequence[str]]) -> Any:
        """The metric's prediction for these columns; ``None`` if it refuses a row of them."""
        prediction, problems = reading_of(self.truth, columns)
        return None if problems else prediction

    def result(self, prediction: Any, places: np.ndarray) -> Result | None:
        """The result of a file whose row i is row ``places[i]`` of the prediction; ``None`` if the score is not
        finite."""
        filled = self.truth.metric.submission.fill(places, prediction)
        try:
            return score_prediction(self.truth, filled, uncertainty=time.process_time() < self.deadline)
        except NotFinite:
            return None

    def file(self, name: str, says: str, columns: Sequence[Sequence[str]], places: np.ndarray) -> ReferenceScore | None:
        """The score of one file, or ``None`` if the metric refuses it."""
        result = None
        if self.truth.metric.is_custom:
            # A custom metric runs in another process and reads whole files.
            ids = pick(self.truth.ids.array, self.truth.scored).to_pylist()
            rows = list(zip(*columns, strict=True))
            cells = ([one, *rows[place]] for one, place in zip(ids, places.tolist(), strict=True))
            with suppress(MetricError):
                result = self.truth.evaluate(csv_bytes(self.truth.submission_columns, cells))
        elif len(columns[0]) and (prediction := self.read(columns)) is not None:
            result = self.result(prediction, places)
        if result is None:
            return None
        return ReferenceScore(name, says, {split: _value(result, split) for split in self.splits})

    def constant(self, name: str, cells: Sequence[str]) -> ReferenceScore | None:
        """The score of a file with the same cells in each row."""
        says = ", ".join(map(shown, cells[:_TOKENS])) + (", …" if len(cells) > _TOKENS else "")
        says = Message("empty") if not any(cells) else says
        found = self.file(name, says, [[cell] for cell in cells], np.zeros(len(self.truth.scored), np.int64))
        return found and replace(found, is_constant=True)


def _value(result: Result, split: str) -> dict[str, float | None]:
    value = getattr(result, split)
    found: dict[str, float | None] = {"value": value}
    interval = result.uncertainty.get(split)
    if interval is not None and (interval.standard_error or 0) <= _NOISE * max(1, abs(value)):
        interval = None  # the same for any sample of rows, except for rounding
    for name in ("standard_error", "low", "high"):
        number = None if interval is None or interval.standard_error is None else getattr(interval, name)
        found[name] = number if number is not None and np.isfinite(number) else None
    return found


def _constant_answers(truth: Truth, columns: Sequence[Sequence[str]]) -> list[tuple[Message, list[str]]]:
    """Constant answers worth trying, with their names; equal ones are joined."""
    counts: Counter[tuple[str, ...]] = Counter(zip(*columns, strict=True))
    found = [(Message("Sample submission"), truth.constant_prediction)]
    commonest, times = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    numbers = [read for column in columns if (read := _numbers_in(column)) is not None]
    are_numbers = len(numbers) == len(columns) and _takes_quantities(truth, numbers)
    if not are_numbers or times > _OFTEN * len(columns[0]):
        found.append((Message("Most frequent answer"), list(commonest)))
    if are_numbers:
        found.append((Message("Mean"), [_text(fmean(column)) for column in numbers]))
        found.append((Message("Median"), [_text(median(column)) for column in numbers]))
    elif truth.metric.group != "Masks and boxes" and any(len(cell.split()) > 1 for cell in columns[0]):
        words = Counter(word for cell in columns[0] for word in set(cell.split()))
        top = sorted(words, key=lambda word: (-words[word], word))[:_TOKENS]
        found.append((Message("Most frequent words"), [" ".join(top)] * len(columns)))
    found.append((Message("Nothing"), [""] * len(columns)))
    names: dict[tuple[object, ...], list[Message]] = {}
    for name, cells in found:
        names.setdefault(tuple(to_decimal(cell) or cell for cell in cells), []).append(name)
    cells_of = dict(found)
    return [
        (joined([first, *(_AMONG_OTHERS[other] for other in others)], " = "), cells_of[first])
        for first, *others in names.values()
    ]


_AMONG_OTHERS = {
    "Most frequent answer": Message("most frequent answer"),
    "Mean": Message("mean"),
    "Median": Message("median"),
    "Most frequent words": Message("most frequent words"),
    "Nothing": Message("nothing"),
}


def _text(number: float) -> str:
    return repr(float(f"{number:.12g}")).removesuffix(".0")


def _numbers_in(column: Sequence[str]) -> list[float] | None:
    """The numbers in these cells; ``None`` if one is no number."""
    if (fast := fast_numbers(text_array(column))) is not None:
        return list(fast.tolist())
    found = [float(number) for cell in column if (number := to_decimal(cell)) is not None]
    return found if len(found) == len(column) else None


def _takes_quantities(truth: Truth, columns: Sequence[Sequence[float]]) -> bool:
    """Whether a submission consists of quantities, for which a mean makes sense, not of labels. Custom metrics do not
    declare this: few whole numbers may be class names, but 0 and 1 may also be probabilities."""
    if not truth.metric.is_custom:
        return isinstance(reading_of(truth, [[cell] for cell in truth.constant_prediction])[0], np.ndarray)
    answers = {number for column in columns for number in column}
    are_whole = all(number.is_integer() for number in answers)
    return not are_whole or len(answers) > _MOST_CLASSES or answers == {0.0, 1.0}


def _random_columns(truth: Truth) -> list[tuple[str, ...]]:
    """The columns of random rows, with answers like those of some rows of the truth."""
    rows = min(RANDOM_ROWS, len(truth.scored))
    order = truth.buckets("").order[:rows]
    like = truth.some(truth.scored[order]).target
    dice = random.Random(_SEED)  # noqa: S311
    width = len(truth.scored_columns)
    return list(zip(*(truth.metric.submission.random(dice, width, like) for _ in range(rows)), strict=True)) or [()]


def _meaningful_differences(
    truth: Truth, measured: _Measured, perfect: Sequence[Sequence[str]], wild: Sequence[Sequence[str]]
) -> dict[str, float]:
    """The smallest meaningful difference per split: 1.96 standard errors of the difference of two good files, row by
    row.

    Each file is right on three of four rows and random elsewhere. The two are measured with independent errors; files
    that err alike on two thirds of the rows differ by the root of a third of that.
    """
    if truth.metric.is_custom:
        return {}
    rows, more = len(perfect[0]), len(wild[0])
    prediction = measured.read([[*ours, *theirs] for ours, theirs in zip(perfect, wild, strict=True)])
    if prediction is None:
        return {}
    results = []
    for stream in (2, 4):
        is_right = _draw_numbers(rows, stream) / 2.0**53 < _RIGHT
        elsewhere = rows + (_draw_numbers(rows, stream + 1) % max(more, 1)).astype(np.int64)
        results.append(measured.result(prediction, np.where(is_right, np.arange(rows), elsewhere)))
    first, second = results
    if first is None or second is None:
        return {}
    found = {}
    for split in measured.splits:
        ours, theirs = first.uncertainty.get(split), second.uncertainty.get(split)
        if ours and theirs and ours.standard_error is not None:
            # The error of the smaller truth is larger by the root of the ratio of rows.
            here, there = (len(one.parts.get(split, one.scored)) for one in (measured.truth, truth))
            error = float((ours.replicates - theirs.replicates).std(ddof=1)) * float(np.sqrt(_OWN * here / there))
            if np.isfinite(error) and error > 0:
                found[split] = NORMAL * error
    return found
