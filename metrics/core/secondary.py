"""Secondary metrics: further metrics of the same truth, for which a submission is read once. They are shown beside the
score and never ranked.

An error in one of them is only reported in its ``problem``; the score itself never fails because of it.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..reading.tables import Table
from .errors import (
    MetricError,
    MetricFailed,
    NotFinite,
    ParameterError,
    Problem,
    Refused,
    SubmissionError,
    error_message,
)
from .evaluate import score_prediction
from .layout import layout_of
from .messages import Message, joined
from .parameters import complete
from .registry import get
from .result import Result, SecondaryValue
from .types import PreparedTruth

log = logging.getLogger(__name__)

Asked = tuple[str, Mapping[str, Any]]
"""A metric's key and its parameters."""

_OUR_FAULT = Message("This metric could not be computed, through no fault of your file.")


@dataclass
class SecondaryMetric:
    """A prepared secondary metric: its ``truth`` shares ids and split with the main one, and is ``None`` if it could
    not be prepared, for the reason in ``problem``, which may quote the truth."""

    key: str
    params: Mapping[str, Any]
    truth: PreparedTruth | None = None
    problem: str = ""

    def value(self, result: Result) -> SecondaryValue:
        return SecondaryValue(self.key, self.params, result.overall, result.public, result.private)

    def nothing(self, problem: str) -> SecondaryValue:
        return SecondaryValue(self.key, self.params, None, None, None, problem)


def role_columns(asked: Sequence[Asked]) -> list[str]:
    """The columns that have a role in any of these metrics, if their parameters are valid."""
    found = []
    for key, params in asked:
        try:
            metric = get(key)
            full = complete(metric.parameters, params)
            metric = metric.adapt(full)
        except MetricError:
            continue
        columns = [full.get(role, role) for role in metric.roles]
        found += [str(column) for column in columns if column is not None]
    return found


def table_for(asked: Asked, every: Sequence[Asked], table: Table) -> Table:
    """The truth's table for one of several metrics: without the columns that have a role only in others."""
    own = role_columns([asked])
    for name in set(role_columns(every)) - set(own):
        if name in table.names:
            table = table.without(name)
    return table


def prepare_secondary(main: PreparedTruth, asked: Asked, table: Table) -> SecondaryMetric:
    """Prepare a secondary metric of a valid truth; ``table`` is the result of ``table_for``. Raises nothing."""
    key, params = asked
    name = key.partition("@")[0]
    try:
        metric = get(key)
        full = complete(metric.parameters, params)
        metric = metric.adapt(full, main.id_column)
        layout = layout_of(metric, table, main.id_column, full)
    except ParameterError as error:
        return SecondaryMetric(name, params, problem=joined(error.sentences))
    except (MetricError, Refused) as error:
        return SecondaryMetric(name, params, problem=error_message(error))
    truth = main.with_metric(metric, full, table, layout)
    problem: str = joined([problem.message for problem in truth.problems])
    if not problem and (foreign := [one for one in truth.submission_columns if one not in main.submission_columns]):
        problem = Message(
            "It reads {read}, and a submission has {columns}.",
            read=", ".join(foreign),
            columns=", ".join(main.submission_columns),
        )
    return SecondaryMetric(name, full, None if problem else truth, problem)


def read_secondary(main: PreparedTruth, table: Table, places: np.ndarray) -> list[Any]:
    """The inputs of the secondary metrics for a submission, so that its cells can be freed before metrics are computed:
    for each metric the prediction in the order of the scored rows, or already its value. ``places`` are the places of
    the scored rows."""
    cache: dict[object, tuple[Any, list[Problem]]] = {}
    return [_read(main, one, table, places, cache) for one in main.secondary]


def _read(
    main: PreparedTruth,
    secondary_metric: SecondaryMetric,
    table: Table,
    places: np.ndarray,
    cache: dict[object, tuple[Any, list[Problem]]],
) -> Any:
    if (truth := secondary_metric.truth) is None:
        return secondary_metric.nothing(_OUR_FAULT)  # the reason may quote the truth
    # The number is that of all rows, because the scored ones are secret. An accepted file repeats no id.
    if not truth.metric.format.may_miss_ids and (missing := main.rows - table.rows):
        return secondary_metric.nothing(
            Message.counted(
                missing,
                "This metric needs every row: {count} id missing.",
                "This metric needs every row: {count} ids missing.",
            )
        )
    try:
        if truth.metric.is_custom:
            from .custom_metrics import score_custom

            return secondary_metric.value(score_custom(truth, table, places))
        if truth.reading not in cache:  # metrics that read the same columns share the result
            cache[truth.reading] = truth.read_prediction(table, main, judges=True)
        prediction, problems = cache[truth.reading]
    except Exception as error:
        return _failed_value(secondary_metric, error)
    if problems:
        return secondary_metric.nothing(joined([problem.message for problem in problems]))
    return truth.metric.submission.fill(places, prediction)


def secondary_values(main: PreparedTruth, read: list[Any]) -> tuple[SecondaryValue, ...]:
    """The values of the secondary metrics from the result of ``read_secondary``, which is emptied to free memory."""
    values = []
    for secondary_metric in main.secondary:
        found = read.pop(0)
        if not isinstance(found, SecondaryValue):
            assert secondary_metric.truth is not None, "without a truth nothing was read"
            try:
                found = secondary_metric.value(score_prediction(secondary_metric.truth, found))
            except Exception as error:
                found = _failed_value(secondary_metric, error)
        values.append(found)
    return tuple(values)


def _failed_value(secondary_metric: SecondaryMetric, error: Exception) -> SecondaryValue:
    """The value of a metric that raised an error: a secondary metric must never cost a student the score."""
    if isinstance(error, SubmissionError):
        return secondary_metric.nothing(error_message(error))
    if not isinstance(error, MetricFailed | NotFinite):
        log.error("the secondary metric %s stumbled: %s", secondary_metric.key, type(error).__name__)
    return secondary_metric.nothing(_OUR_FAULT)
