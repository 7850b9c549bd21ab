"""Everything a host should know about a truth file before it becomes a ruler. Only the host reads this, so the
messages may quote the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from metrics._cells import Cells
from metrics._errors import EXAMPLES, ParameterError, Problem, SubmissionError, counted, listed, shown
from metrics._parameters import complete
from metrics._registry import get
from metrics._tables import Source
from metrics._truth import Truth, read_truth

_ENOUGH_ROWS = 10
_LINKED = 0.3
"""Share of the answer's variance that ids may explain before it is worth a warning."""


@dataclass(frozen=True)
class Finding:
    """One thing found; ``blocking`` ones forbid publication, and ``why`` says what would go wrong."""

    code: str
    message: str
    column: str | None = None
    line: int | None = None
    id: str | None = None
    count: int = 1
    blocking: bool = True
    why: str = ""


@dataclass(frozen=True)
class TruthReport:
    """What ``check_truth`` found. Row counts are 0 and names empty where the file could not be read that far."""

    findings: list[Finding] = field(default_factory=list)
    rows: int = 0
    public_rows: int = 0
    private_rows: int = 0
    ignored_rows: int = 0
    id_column: str = ""
    target_columns: tuple[str, ...] = ()
    submission_columns: tuple[str, ...] = ()
    self_test: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the file may be published."""
        return not any(finding.blocking for finding in self.findings)


def check_truth(
    key: str, truth: Source, params: Mapping[str, Any] | None = None, id_column: str | None = None
) -> TruthReport:
    """Check a truth file with a metric; bad files and bad parameters become findings, never exceptions.

    A perfect submission is scored by the very code that will score the students: it must get the best value on both
    splits. Raises ``UnknownMetric`` only.
    """
    metric = get(key)
    try:
        full = complete(metric.parameters, params or {})
    except ParameterError as error:
        return TruthReport([Finding("parameter", f"{name}: {text}") for name, text in error.errors.items()])
    prepared, problems = read_truth(metric, truth, full, id_column)
    findings = [_blocking(problem) for problem in problems]
    if prepared is None:
        return TruthReport(findings)
    self_test: dict[str, Any] = {}
    if not findings:
        self_test, findings = _self_test(prepared)
        findings += _warnings(prepared)
    return TruthReport(
        findings=findings,
        rows=prepared.rows,
        public_rows=prepared.public_rows,
        private_rows=prepared.private_rows,
        ignored_rows=prepared.ignored_rows,
        id_column=prepared.id_column,
        target_columns=prepared.target_columns,
        submission_columns=prepared.submission_columns,
        self_test=self_test,
    )


_WHY = {
    "repeated_ids": "A row could not be told from its twin.",
    "blank_id": "Nobody could name the row in a submission.",
    "missing_value": "There is no answer to compare with.",
    "unknown_usage": "The row would belong to no split.",
    "empty_split": "One of the two boards would be empty.",
    "unscorable": "Every submission would fail on this part, through no fault of its author.",
    "target_columns": "It would be unclear which column is the answer.",
}


def _blocking(problem: Problem) -> Finding:
    return Finding(**problem.as_dict(), blocking=True, why=_WHY.get(problem.code, ""))


def _self_test(truth: Truth) -> tuple[dict[str, Any], list[Finding]]:
    best = truth.metric.best_with(truth.params)
    try:
        result = truth.evaluate(truth.perfect_submission())
    except SubmissionError as error:
        message = f"A perfect submission is refused: {error}"
        return {"best": best, "passed": False}, [Finding("self_test", message)]
    values = {"overall": result.overall, "public": result.public, "private": result.private}
    wrong = [name for name, value in values.items() if value is not None and value != best]
    findings = [
        Finding("self_test", f"A perfect submission scores {values[name]} ({name}) instead of {best}.", blocking=True)
        for name in wrong
    ]
    return {**values, "best": best, "passed": not wrong}, findings


def _warnings(truth: Truth) -> list[Finding]:
    found = _leading_zeros(truth)
    for name in truth.target_columns:
        codes, labels = _codes(truth, name)
        found += _missing_classes(truth, name, codes, labels)
        found += _sorted_by_answer(truth, name, codes, labels)
        found += _told_by_id(truth, name, codes, labels)
    return found


def _codes(truth: Truth, column: str) -> tuple[np.ndarray, list[str] | None]:
    """The answers as numbers, and the labels these are the places of; ``None`` where they are quantities."""
    cells = Cells(truth.table, column, truth.id_column, truth.scored)
    if isinstance(truth.target, np.ndarray):
        values = truth.target if truth.target.ndim == 1 else truth.target[:, truth.target_columns.index(column)]
        distinct = np.unique(values)
        return values, [f"{value:g}" for value in distinct] if np.array_equal(distinct, [0, 1]) else None
    coded = cells.coded()
    labels = sorted(coded.values)
    place = {label: number for number, label in enumerate(labels)}
    return np.array([place[text] for text in coded.values])[coded.codes], labels


def _leading_zeros(truth: Truth) -> list[Finding]:
    padded = [row for row, text in enumerate(truth.ids.texts) if text[:1] == "0" and text[1:].isdigit()]
    if not padded:
        return []
    example = truth.ids.texts[padded[0]]
    message = f"{counted(len(padded), 'id')} with leading zeros, such as {shown(example)}."
    why = "Spreadsheets and pandas drop the zeros; students must read the id column as text."
    return [Finding("leading_zeros", message, truth.id_column, None, example, len(padded), False, why)]


def _missing_classes(truth: Truth, column: str, codes: np.ndarray, labels: list[str] | None) -> list[Finding]:
    if labels is None or len(labels) > max(2, len(codes) // 2):
        return []
    found = []
    for name, rows in truth.parts.items():
        gone = sorted(set(range(len(labels))) - set(codes[rows].astype(int).tolist()))
        if gone:
            names = listed([shown(labels[code]) for code in gone[:EXAMPLES]], len(gone))
            message = f"{counted(len(gone), 'answer')} of {shown(column)} missing from the {name} part: {names}."
            why = "The two boards then measure different things."
            found.append(Finding("missing_class", message, column, None, None, len(gone), False, why))
    return found


def _sorted_by_answer(truth: Truth, column: str, codes: np.ndarray, labels: list[str] | None) -> list[Finding]:
    distinct = len(np.unique(codes))
    if len(codes) < _ENOUGH_ROWS or distinct < 2:
        return []
    steps = np.diff(codes)
    runs = int((steps != 0).sum()) + 1
    is_sorted = bool((steps >= 0).all() or (steps <= 0).all()) or (labels is not None and runs == distinct < len(codes))
    if not is_sorted:
        return []
    message = f"The rows are sorted by the answer {shown(column)}."
    why = "If the test data come in the same order, the row number gives the answer away. Shuffle both."
    return [Finding("sorted_by_answer", message, column, blocking=False, why=why)]


def _told_by_id(truth: Truth, column: str, codes: np.ndarray, labels: list[str] | None) -> list[Finding]:
    """The share of the answer's variance that the order of the ids explains (correlation of ranks, or between-class
    share for labels)."""
    ids = [truth.ids.texts[row] for row in truth.scored]
    if len(codes) < 3 * _ENOUGH_ROWS:
        return []
    keys: list[Any] = list(map(int, ids)) if truth.ids.are_integers else ids
    rank = np.empty(len(ids))
    rank[sorted(range(len(ids)), key=keys.__getitem__)] = np.arange(len(ids))
    share = _between(rank, codes) if labels is not None else _rank_correlation(rank, codes) ** 2
    if share < _LINKED:
        return []
    message = f"The ids tell much about {shown(column)}: their order explains {share:.0%} of it."
    why = "A student could predict from the id alone. Give the rows new, random ids."
    return [Finding("id_tells_answer", message, column, blocking=False, why=why)]


def _between(rank: np.ndarray, codes: np.ndarray) -> float:
    _, places = np.unique(codes, return_inverse=True)
    counts = np.bincount(places)
    if len(counts) < 2 or len(counts) > len(codes) / 5:
        return 0.0
    means = np.bincount(places, rank) / counts
    return float((counts * (means - rank.mean()) ** 2).sum() / ((rank - rank.mean()) ** 2).sum())


def _rank_correlation(rank: np.ndarray, values: np.ndarray) -> float:
    distinct, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) < 2:
        return 0.0
    middle = np.cumsum(counts) - (counts - 1) / 2
    return float(np.corrcoef(rank, middle[places])[0, 1])
