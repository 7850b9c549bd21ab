"""The report about a truth file before it is published. Only the host reads it, so its messages may quote the
answers."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.errors import (
    MetricError,
    MetricFailed,
    ParameterError,
    Problem,
    Refused,
    SubmissionError,
    error_message,
    shown,
)
from ..core.layout import id_column_of
from ..core.messages import EXAMPLES, Message, Plural, joined, listed
from ..core.parameters import complete
from ..core.prepare import truth_of_table
from ..core.registry import get
from ..core.secondary import Asked, SecondaryMetric, role_columns
from ..core.truth import Truth
from ..reading.column_names import matched_names
from ..reading.headers import ANY_HEADER, TRUTH_HEADER
from ..reading.list_cells import Wanted
from ..reading.sources import Source, read_source
from ..reading.split_words import SPLITS, USAGE
from ..reading.tables import Table, blank_rows, plain
from ..reading.text import LONGEST_MASK_LINE
from .baselines import Baselines, ReferenceScore, apart_of, baselines_of
from .custom_self_test import not_best, self_test_of_custom
from .findings import Finding, warning
from .lists import list_findings
from .splits import refuse_group
from .suggest import with_fitting_metrics
from .suspicions import AnswerShare, answer_shares, find_suspicions


@dataclass(frozen=True)
class SecondaryReport:
    """One secondary metric: its ``params`` with all defaults, the scores of a perfect file, and per split the
    difference that two good files need to be distinguishable (empty if unknown)."""

    key: str
    title: str
    params: dict[str, Any]
    self_test: dict[str, Any]
    apart: dict[str, float]


@dataclass(frozen=True)
class TruthReport:
    """The result of ``check_truth``. Row counts are 0 and names empty if the file could not be read that far.

    ``baselines`` are files made without a model and the perfect one, scored on ``measured_rows`` rows; ``apart`` is per
    split the least meaningful difference of two files, ``balance`` the frequency of each of few classes. ``seconds`` is
    the time for scoring the perfect file.
    """

    findings: list[Finding] = field(default_factory=list)
    rows: int = 0
    public_rows: int = 0
    private_rows: int = 0
    ignored_rows: int = 0
    id_column: str = ""
    target_columns: tuple[str, ...] = ()
    submission_columns: tuple[str, ...] = ()
    self_test: dict[str, Any] = field(default_factory=dict)
    baselines: list[ReferenceScore] = field(default_factory=list)
    measured_rows: int = 0
    apart: dict[str, float] = field(default_factory=dict)
    balance: list[AnswerShare] = field(default_factory=list)
    secondary: list[SecondaryReport] = field(default_factory=list)
    seconds: float | None = field(default=None, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the file may be published."""
        return not any(finding.blocking for finding in self.findings)


_FACTS_OF_TRUTH = (
    "rows", "public_rows", "private_rows", "ignored_rows", "id_column", "target_columns", "submission_columns",
)  # fmt: skip


def check_truth(
    key: str,
    truth: Source,
    params: Mapping[str, Any] | None = None,
    id_column: str | None = None,
    *,
    group: str | None = None,
    sample: Source | None = None,
    tests: Mapping[str, Source] | None = None,
    secondary: Sequence[Asked] = (),
    is_quick: bool = False,
) -> TruthReport:
    """Check a truth file with a metric; bad files and bad parameters become findings, never exceptions.

    A perfect submission is scored by the code that will score the students: it must get the best value on both splits.
    ``group`` is a column whose groups should not be in both splits; unless it has a role in the metric it is read only
    for this, and ``remove_columns`` must remove it before the truth is used. ``sample`` is the sample submission and
    ``tests`` are further files for students by name: their ids are compared with the truth's. ``secondary`` metrics
    must pass the same test on the same rows. ``is_quick`` leaves out the baselines. Raises only ``UnknownMetric``.
    """
    metric = get(key)
    try:
        full = complete(metric.parameters, params or {})
    except ParameterError as error:
        return TruthReport([Finding("parameter", sentence) for sentence in error.sentences])
    try:
        wanted = Wanted(id_column, lists=metric.truth.list_format(full))
        table = read_source(truth, TRUTH_HEADER, longest_line=metric.longest_line, wanted=wanted)
    except Refused as refused:
        return TruthReport([_blocking_finding(problem) for problem in refused.problems])
    notes = [replace(_blocking_finding(note), blocking=False) for note in table.notes]
    roles = [*(full[name] for name in metric.roles), *role_columns(secondary)]
    named = group or (full["group"] if "group" in metric.roles else None)
    table, findings = _without_group(table, id_column, named, roles)
    prepared, problems = truth_of_table(metric, table, full, id_column, secondary)
    blocking = [_blocking_finding(problem) for problem in problems]
    findings = with_fitting_metrics(blocking, problems, metric, table, id_column, full) + findings + notes
    if prepared is None:
        return TruthReport(findings)
    self_test: dict[str, Any] = {}
    seconds: float | None = None
    shares: list[AnswerShare] = []
    reports: list[SecondaryReport] = []
    measured = Baselines([], 0, {})
    findings += list_findings(prepared) if not problems else []
    if not any(finding.blocking for finding in findings):
        began = time.perf_counter()
        self_test, failed = _self_test(prepared)
        seconds = time.perf_counter() - began
        reports, doubtful = _secondary_reports(prepared, is_quick=is_quick)
        # A custom metric that could not score a perfect file would use up its time limit for each further file.
        is_hopeless = metric.is_custom and any(finding.blocking for finding in failed)
        measured, shares = measured if is_quick or is_hopeless else baselines_of(prepared), answer_shares(prepared)
        findings = failed + doubtful + _file_findings(prepared, sample, tests or {}) + findings
        findings += _best_for_nothing(prepared, measured) + find_suspicions(prepared)
    else:
        shares, further = _faults_elsewhere(prepared, sample, tests or {}, problems)
        findings += further
    return TruthReport(
        findings=findings,
        **{name: getattr(prepared, name) for name in _FACTS_OF_TRUTH},
        self_test=self_test,
        baselines=measured.files,
        measured_rows=measured.rows,
        apart=measured.apart,
        balance=shares,
        secondary=reports,
        seconds=seconds,
    )


def _faults_elsewhere(
    truth: Truth, sample: Source | None, tests: Mapping[str, Source], problems: Sequence[Problem]
) -> tuple[list[AnswerShare], list[Finding]]:
    """Further findings about a truth that has problems, so that these do not hide others: on its sound rows, and on
    other files if all ids are sound."""
    answers = {*truth.target_columns, *truth.role_columns.values(), USAGE}
    are_ids_sound = all(problem.column in answers for problem in problems)
    found = _file_findings(truth, sample, tests) if are_ids_sound else []
    is_sound = np.ones(truth.rows, bool)
    codes = plain(truth.ids.array.dictionary_encode().indices, np.int32)
    again = np.setdiff1d(np.arange(truth.rows), np.unique(codes, return_index=True)[1])
    for rows in (blank_rows(truth.ids.array), again, *truth.refused):
        is_sound[rows] = False
    rest = truth.some(np.flatnonzero(is_sound))
    if rest.problems or not len(rest.scored) or not all(len(rows) for rows in rest.parts.values()):
        return [], found
    return answer_shares(rest), found + find_suspicions(rest)


_WHY = {
    "repeated_ids": Message(
        "Each id needs exactly one answer. Without ids, add a column (1, 2, 3 …) to the answers and the test data."
    ),
    "no_target": Message("Answers need ids: add a column (1, 2, 3 …) to the answers and the test data."),
    "blank_id": Message("No submission could refer to this row."),
    "missing_value": Message("There is no answer to compare with."),
    "unknown_usage": Message("The row would count for neither leaderboard."),
    "usage_name": Message("It would be read as answers, and the rows would be split again."),
    "empty_split": Message("One of the two leaderboards would be empty."),
    "unscorable": Message("Every submission would fail on this part, whatever it predicts."),
    "target_columns": Message("It would be unclear which column is the answer."),
    "row_width": Message("We would have to guess which value belongs to which column."),
    "line_break": Message("The rows after the quote would be lost."),
    "header_missing": Message("The first row would be lost."),
}

# Translators: all rows together, beside the public and the private part
_PARTS = {"overall": Message("overall"), "public": Message("public"), "private": Message("private")}
_MISSING_FROM_FILE = Plural(
    "{count} id with an answer is missing from {file}: {ids}.",
    "{count} ids with an answer are missing from {file}: {ids}.",
)
_MISSING_FROM_TRUTH = Plural(
    "{count} id of {file} has no answer: {ids}.", "{count} ids of {file} have no answer: {ids}."
)


def _blocking_finding(problem: Problem) -> Finding:
    why = _WHY.get(problem.code, "")
    return Finding(**problem.as_dict() | {"message": problem.message}, blocking=True, why=why)


def _without_group(
    table: Table, id_column: str | None, group: str | None, roles: Sequence[str]
) -> tuple[Table, list[Finding]]:
    """The table as the metric reads it, and a warning if groups are in both splits."""
    if group is None or (group in roles and group not in table.names):
        return table, []
    try:
        refuse_group(table, id_column_of(table, id_column), group)
    except Refused as refused:
        # Problems of the id column are reported once, when the whole table is read.
        return table, [_blocking_finding(one) for one in refused.problems if group not in roles and one.column == group]
    found = []
    if USAGE in table.names:
        found = _split_groups(table.column(group).to_pylist(), table.column(USAGE).to_pylist(), group)
    return (table if group in roles else table.without(group)), found


def _split_groups(groups: Sequence[str], parts: Sequence[str], column: str) -> list[Finding]:
    """A warning about groups with rows in both splits; ``parts`` are the cells of ``Usage``."""
    seen: dict[str, set[str]] = {}
    for group, part in zip(groups, parts, strict=True):
        if part.casefold() in SPLITS[:2]:
            seen.setdefault(group, set()).add(part.casefold())
    both = sorted(group for group, where in seen.items() if len(where) > 1)
    if not both:
        return []
    message = Message.counted(
        len(both),
        "{count} group of {column} (of {total}) in both parts: {groups}.",
        "{count} groups of {column} (of {total}) in both parts: {groups}.",
        column=shown(column),
        total=len(seen),
        groups=listed([shown(group) for group in both[:EXAMPLES]], len(both)),
    )
    why = Message("What the public score tells about a group helps on its private rows. Split by group.")
    return [warning("group_in_both_parts", message, why, column)]


def _self_test(truth: Truth) -> tuple[dict[str, Any], list[Finding]]:
    """The scores of a perfect submission, and findings if they are wrong."""
    if truth.metric.is_custom:
        return self_test_of_custom(truth)
    best = truth.metric.best_with(truth.params)
    try:
        result = truth.evaluate(truth.perfect_submission())
    except (SubmissionError, MetricFailed) as error:
        message = Message("A perfect submission is refused: {reasons}", reasons=error_message(error))
        return {"best": best, "passed": False}, [Finding("self_test", message)]
    values = {"overall": result.overall, "public": result.public, "private": result.private}
    wrong = {name: value for name, value in values.items() if value is not None and value != best}
    findings = [not_best(name, value, best) for name, value in wrong.items()]
    for secondary_metric, found in zip(truth.secondary, result.secondary, strict=True):
        if found.problem and secondary_metric.truth is not None:
            refused = Message("a perfect submission is refused: {reasons}", reasons=found.problem)
            findings.append(_about_secondary(secondary_metric, refused, _WHY_SECONDARY))
    return {**values, "best": best, "passed": not wrong}, findings


# --- secondary metrics ------------------------------------------------------------------------------------------

_WHY_SECONDARY = Message(
    "It is to be shown beside the score, so it must be able to score this truth. Choose another one, or none."
)


def _secondary_reports(truth: Truth, *, is_quick: bool) -> tuple[list[SecondaryReport], list[Finding]]:
    """One report for each secondary metric, and all findings, which name the metric."""
    reports, findings = [], []
    seen: list[tuple[str, Any]] = [(truth.metric.key, truth.params)]
    for secondary_metric in truth.secondary:
        if (secondary_metric.key, secondary_metric.params) in seen:
            twice = Message("it is already there with the same parameters.")
            findings.append(_about_secondary(secondary_metric, twice, Message("It would only take room.")))
        seen.append((secondary_metric.key, secondary_metric.params))
    for secondary_metric in truth.secondary:
        tested: dict[str, Any] = {}
        found = [Finding("secondary", secondary_metric.problem, why=_WHY_SECONDARY)]
        apart: dict[str, float] = {}
        if isinstance(secondary_metric.truth, Truth):
            tested, found = _self_test(secondary_metric.truth)
            apart = {} if is_quick or any(finding.blocking for finding in found) else apart_of(secondary_metric.truth)
        title = _title(secondary_metric)
        findings += [replace(finding, message=_named(title, finding.message)) for finding in found]
        reports.append(SecondaryReport(secondary_metric.key, title, dict(secondary_metric.params), tested, apart))
    return reports, findings


def _about_secondary(secondary_metric: SecondaryMetric, sentence: str, why: str) -> Finding:
    return Finding("secondary", _named(_title(secondary_metric), sentence), why=why)


def _named(title: str, sentence: str) -> Message:
    return Message("Secondary metric {metric}: {sentence}", metric=title, sentence=sentence)


def _title(secondary_metric: SecondaryMetric) -> str:
    try:
        return get(secondary_metric.key).title
    except MetricError:
        return secondary_metric.key


# --- what knows nothing, and the files that students get --------------------------------------------------------


def _best_for_nothing(truth: Truth, measured: Baselines) -> list[Finding]:
    """A warning if the same answer in each row gets the best value."""
    best = truth.metric.best_with(truth.params)
    for one in measured.files:
        if one.is_constant and (splits := [name for name, found in one.values.items() if found["value"] == best]):
            message = Message(
                "The same answer in each row ({answer}) scores the best value: {parts}.",
                answer=one.says,
                parts=joined([_PARTS[name] for name in splits], ", "),
            )
            why = Message("Everybody can be first without a model. Are all the answers there the same?")
            return [warning("constant_is_best", message, why)]
    return []


def _file_findings(truth: Truth, sample: Source | None, tests: Mapping[str, Source]) -> list[Finding]:
    """Findings about the sample and the test files that students get."""
    found = []
    try:
        if sample is not None:
            truth.read_submission(sample)
    except SubmissionError as error:
        first = error.problems[0]
        problems = joined([one.message for one in error.problems[:3]])
        message = Message("The sample submission does not fit this truth: {problems}", problems=problems)
        why = Message("Every file made from the sample would be refused. Replace the sample or correct the truth.")
        # A sample may show another label than the truth's first one, of which every file of students is told.
        blocks = any(one.code != "foreign_labels" for one in error.problems)
        found.append(Finding("sample_differs", message, first.column, first.line, first.id, first.count, blocks, why))
    for name, source in tests.items():
        found += _test_file_warnings(truth, name, source)
    return found


def _test_file_warnings(truth: Truth, name: str, source: Source) -> list[Finding]:
    """Warnings if a file with some of the truth's ids lacks others or has more; a file with few of them is ignored."""
    try:
        table = read_source(source, ANY_HEADER, longest_line=LONGEST_MASK_LINE)
    except Refused:
        return []
    table = table.named(matched_names(table.names, [truth.id_column]))
    if truth.id_column not in table.names or table.problems:
        return []
    ids = table.column(truth.id_column)
    found = np.arange(len(ids)) if ids.equals(truth.ids.array) else truth.ids.find(ids)
    is_there = np.zeros(truth.rows, bool)
    is_there[found[found >= 0]] = True
    if is_there.sum() * 2 < min(truth.rows, len(ids)):
        return []
    why = Message(
        "Students predict every row of the test file, and such a submission would be refused. Correct one of the two."
    )
    pairs = (
        (truth.ids.array, np.flatnonzero(~is_there), _MISSING_FROM_FILE),
        (ids, np.flatnonzero(found < 0), _MISSING_FROM_TRUTH),
    )
    findings = []
    for array, places, words in pairs:
        if len(places):
            names = [array[int(place)].as_py() for place in places[:EXAMPLES]]
            names_text = listed(list(map(shown, names)), len(places))
            message = Message.counted(len(places), *words, file=shown(name), ids=names_text)
            findings.append(warning("ids_differ", message, why, truth.id_column, (None, names[0])))
    return findings
