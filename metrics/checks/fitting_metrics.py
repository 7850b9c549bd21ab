"""Advice about answers that the chosen metric refuses: the usual metrics that read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.contract import Metric
from ..core.errors import Problem, Refused
from ..core.layout import id_column_of, layout_of
from ..core.messages import Message, joined
from ..core.registry import USUAL, get
from ..core.truth import Truth
from ..reading.headers import USAGE
from ..reading.tables import Table, spread_rows
from .answer_kinds import nature_of
from .findings import Finding

_MOST_ROWS = 1000
_MOST_NAMED = 2
_BOUNDS = ("zero", "too_small", "too_large", "not_a_probability")
"""Codes of values that another metric reads, even if they are few."""

_ADVICE = Message("The answers are {answers}; {metric} reads them.")
_ADVICE_OF_AVERAGE = Message("With the parameter average at macro {metric} reads them, too.")
_ADVICE_OF_TWO = Message("The answers are {answers}; {metric} and {other} read them.")


def with_fitting_metrics(
    findings: Sequence[Finding],
    problems: Sequence[Problem],
    metric: Metric,
    table: Table,
    id_column: str | None,
    params: Mapping[str, Any],
) -> list[Finding]:
    """The findings; the first about answers of a kind that the metric does not read names metrics that do."""
    roles = [params.get(role) for role in metric.roles]
    try:
        name = id_column_of(table, id_column)
    except Refused:
        return list(findings)
    targets = [column for column in table.names if column not in (name, USAGE, *roles)]
    refused = next((problem for problem in problems if _is_of_kind(problem, targets, table.rows)), None)
    advice = _advice_for(metric, table, name, targets) if refused is not None else None
    if refused is None or advice is None:
        return list(findings)
    place = next(at for at, one in enumerate(findings) if (one.code, one.column) == (refused.code, refused.column))
    advised = replace(findings[place], why=joined([part for part in (findings[place].why, advice) if part]))
    return [*findings[:place], advised, *findings[place + 1 :]]


def _is_of_kind(problem: Problem, targets: Sequence[str], rows: int) -> bool:
    """Whether a metric does not read a column, rather than some cells that are written wrongly."""
    if problem.code == "target_columns" or (problem.column in targets and problem.code in _BOUNDS):
        return True
    return problem.column in targets and 2 * problem.count > rows and problem.code != "missing_value"


def _advice_for(metric: Metric, table: Table, id_column: str, targets: Sequence[str]) -> Message | None:
    """The sentence that names the usual metrics for these answers, and the metric itself if an average over classes
    reads them; None if no usual one reads them."""
    small = table.some(spread_rows(table.rows, _MOST_ROWS))
    nature = nature_of([small.column(name).to_pylist() for name in targets], targets)
    keys = [key for key in nature.keys if key in USUAL and key != metric.key and _can_read(get(key), small, id_column)]
    titles = [get(key).title for key in keys[:_MOST_NAMED]]
    if not titles:
        return None
    advice = Message(_ADVICE, answers=nature.words, metric=titles[0])
    if len(titles) > 1:
        advice = Message(_ADVICE_OF_TWO, answers=nature.words, metric=titles[0], other=titles[1])
    if _default_parameters(metric).get("average") == "binary" and _can_read(metric, small, id_column, average="macro"):
        advice = joined([advice, Message(_ADVICE_OF_AVERAGE, metric=metric.title)])
    return advice


def _default_parameters(metric: Metric) -> dict[str, Any]:
    return {parameter.name: parameter.default for parameter in metric.parameters}


def _can_read(metric: Metric, table: Table, id_column: str, **given: Any) -> bool:
    params = {**_default_parameters(metric), **given}
    metric = metric.adapt(params)
    try:
        layout = layout_of(metric, table, id_column, params)
    except Refused:
        return False
    return not [problem for problem in Truth(metric, params, table, layout).problems if problem.column != USAGE]
