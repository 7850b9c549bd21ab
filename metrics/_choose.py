"""Which metrics can score a truth file, the most plausible first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics._baselines import reading_of
from metrics._cells import Cells
from metrics._contract import Metric, answer_columns
from metrics._errors import GroundTruthError, MetricError, Problem, Refused, TooLarge
from metrics._evaluate import measure
from metrics._headers import check_header
from metrics._layout import USAGE, check_truth_header, id_column_of, layout_of
from metrics._natures import MOST_CELLS, Nature, nature_of
from metrics._registry import catalogue
from metrics._tables import Source, Table, pick, read_bytes, read_table
from metrics._truth import Truth, unscorable_parts

MOST_ROWS = 20_000
"""Rows of a truth that are judged, drawn from all over the file."""

_SEED = 11

_TRIED_ROWS = 1000


@dataclass(frozen=True)
class Fit:
    """Whether a metric can score a truth with the parameters ``params`` (its defaults, and columns for its roles).

    ``reason`` says why or why not, in sentences for the host; ``is_usual`` whether answers like these are usually
    scored by metrics of its group.
    """

    key: str
    fits: bool
    is_usual: bool
    reason: str
    params: dict[str, Any]


def suggest(
    truth: Source, sample: Source | None = None, id_column: str | None = None, *, group: str | None = None
) -> list[Fit]:
    """All metrics of the catalogue: those that fit first, the most plausible at the top.

    A metric fits if it reads every answer, can score both parts, and gives a perfect file its best value. With a
    ``sample`` submission it must also take the sample's columns and cells. Faults of ids and of the split are no
    matter here. The whole file is read once, 20,000 of its rows are judged. ``group`` is a column that is no
    answer. Raises ``GroundTruthError`` for a file that is no table.
    """
    try:
        table = read_table(read_bytes(truth), check_truth_header)
        table = _spaced(table if group is None or group not in table.names else table.without(group), MOST_ROWS)
        name = id_column_of(table, id_column)
        offered = None if sample is None else read_table(read_bytes(sample), lambda names, line: [])
    except Refused as refused:
        raise GroundTruthError(refused.problems) from None
    if not table.rows:
        raise GroundTruthError(table.problems)
    file = _File(table, name, offered and _spaced(offered, _TRIED_ROWS))
    fits = [(file.rank(metric, fit), fit) for metric in catalogue() for fit in [file.fit(metric)]]
    return [fit for _, fit in sorted(fits, key=lambda pair: pair[0])]


def _spaced(table: Table, most: int) -> Table:
    """At most so many rows, drawn from all over the file: what is sorted or alternates must not look like one class."""
    if table.rows <= most:
        return table
    return table.some(np.unique(np.random.PCG64(_SEED).random_raw(most) % np.uint64(table.rows)).astype(np.int64))


class _File:
    """A truth, or some of its rows, before anybody has said by what it is scored."""

    def __init__(self, table: Table, id_column: str, sample: Table | None) -> None:
        self.table, self.id_column, self.sample = table, id_column, sample
        self.free = [name for name in table.names if name not in (id_column, USAGE)]
        self._natures: dict[tuple[str, ...], Nature] = {}

    def fit(self, metric: Metric) -> Fit:
        """Whether one metric fits."""
        params = self._mapped(metric)
        if asked := [parameter.name for parameter in metric.parameters if parameter.required]:
            return Fit(
                metric.key, False, False, f"It must be told {', '.join(asked)}, for which it has no default.", params
            )
        try:
            truth = Truth(metric, params, self.table, layout_of(metric, self.table, self.id_column, params))
        except Refused as refused:
            return Fit(metric.key, False, False, _brief(refused.problems[0]), params)
        nature = self._nature(metric, params)
        is_usual = metric.group in nature.groups and _is_meant(metric, truth.target_columns)
        problems = [one for one in truth.problems if one.column != USAGE]
        if not problems and all(len(rows) for rows in truth.parts.values()) and len(truth.scored):
            problems = unscorable_parts(truth) or _tried(truth)
        problems = problems or _against(truth, self.sample)
        if problems:
            return Fit(metric.key, False, is_usual, _brief(problems[0]), params)
        seen = "The answers are" if is_usual else "It can read the answers, though they are"
        roles = "".join(f", {name} from “{params[name]}”" for name in metric.roles if params[name] is not None)
        reason = f"{seen} {nature.words}{roles}; a submission has: {metric.submission.words}."
        return Fit(metric.key, True, is_usual, reason, params)

    def rank(self, metric: Metric, fit: Fit) -> tuple[Any, ...]:
        """Fitting ones first, usual ones before others: those made for columns of these names, then by the wishes of
        the answers' nature."""
        targets = self._targets(metric, fit.params)
        nature = self._nature(metric, fit.params)
        group = nature.groups.index(metric.group) if metric.group in nature.groups else len(nature.groups)
        wish = nature.keys.index(metric.key) if metric.key in nature.keys else len(nature.keys)
        is_made_for_it = metric.truth.columns > 1 and _is_meant(metric, targets)
        is_made_for_it |= bool(metric.roles) and all(fit.params[name] in self.free for name in metric.roles)
        is_other_width = metric.truth.many != (len(targets) > 1) and wish == len(nature.keys)
        return (not fit.fits, not fit.is_usual, not is_made_for_it, is_other_width, wish, group, metric.title)

    def _mapped(self, metric: Metric) -> dict[str, Any]:
        """The defaults, and for each role the column whose name is the role's or holds it."""
        params = {parameter.name: parameter.default for parameter in metric.parameters}
        for role in metric.roles:
            same = [name for name in self.free if name.casefold() == role]
            same += [name for name in self.free if role in name.casefold()]
            params[role] = same[0] if same else params[role]
        return params

    def _targets(self, metric: Metric, params: Mapping[str, Any]) -> tuple[str, ...]:
        roles = [params[name] for name in metric.roles]
        return tuple(name for name in self.free if name not in roles)

    def _nature(self, metric: Metric, params: Mapping[str, Any]) -> Nature:
        targets = self._targets(metric, params)
        if targets not in self._natures:
            count = min(self.table.rows, max(200, MOST_CELLS // max(len(targets), 1)))
            rows = np.arange(count) * self.table.rows // max(count, 1)
            cells = [pick(self.table.column(name), rows).to_pylist() for name in targets]
            self._natures[targets] = nature_of(cells, targets)
        return self._natures[targets]


def _brief(problem: Problem) -> str:
    """A complaint with one example."""
    first, more, _ = problem.message.partition(", line ")
    return f"{first}." if more else first


def _is_meant(metric: Metric, targets: Sequence[str]) -> bool:
    """Whether columns that a metric tells apart by their meaning are called like that."""
    if metric.truth.many or metric.truth.columns == 1:
        return True
    return all(len(name) > 2 and name.casefold() in metric.truth.words.casefold() for name in targets)


def _tried(truth: Truth) -> list[Problem]:
    """Why a perfect file does not get the best value; on a thousand rows, and not where a metric runs elsewhere."""
    if truth.metric.is_outside:
        return []
    small = truth.some(truth.scored[np.sort(truth.buckets("").order[:_TRIED_ROWS])])
    if unscorable_parts(small):
        return []
    try:
        perfect = [list(cells) for cells in zip(*small.perfect_columns(), strict=True)]
        prediction, problems = reading_of(small, perfect)
        if problems:
            return problems
        value = measure(small, small.metric.submission.fill(np.arange(len(perfect)), prediction)).overall
    except (MetricError, TooLarge) as error:
        return [Problem("self_test", f"A perfect file cannot be scored: {error}")]
    best = small.metric.best_with(small.params)
    return [] if value == best else [Problem("self_test", f"A perfect file scores {value:g} instead of {best:g}.")]


def _against(truth: Truth, sample: Table | None) -> list[Problem]:
    """Why a submission made from this sample would be refused, ids apart."""
    if sample is None:
        return []
    expected = (truth.id_column, *answer_columns(truth.metric, truth.target, truth.target_columns))
    if problems := check_header(sample.names, expected):
        return problems
    columns = [Cells(sample, name, truth.id_column) for name in expected[1:]]
    truth.metric.submission.read(columns, truth.target)
    return [problem for cells in columns for problem in cells.problems]
