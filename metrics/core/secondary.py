"""Further metrics of the same truth, for which a submission is read once: shown beside the score and never ranked.

Whatever goes wrong with one of them is told in its ``problem``; the score itself never fails because of it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reading.headers import layout_of
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
from .evaluate import Result, SecondaryValue, measure
from .messages import Message, joined
from .parameters import complete
from .registry import get

if TYPE_CHECKING:
    from ..reading.tables import Table
    from .truth import Truth

log = logging.getLogger(__name__)

Asked = tuple[str, Mapping[str, Any]]
"""A metric's key and its parameters."""

_OUR_FAULT = Message("This metric could not be computed, through no fault of your file.")


@dataclass
class SecondaryMetric:
    """A secondary metric made ready: its ``truth`` shares ids and split with the main one, and is ``None`` where it
    cannot be had, for the reason in ``problem``, which may quote the truth."""

    key: str
    params: Mapping[str, Any]
    truth: Truth | None = None
    problem: str = ""

    def value(self, result: Result) -> SecondaryValue:
        return SecondaryValue(self.key, self.params, result.overall, result.public, result.private)

    def nothing(self, problem: str) -> SecondaryValue:
        return SecondaryValue(self.key, self.params, None, None, None, problem)


def role_columns(asked: Sequence[Asked]) -> list[str]:
    """The columns that play a part beside the answers in any of these metrics, as far as their parameters tell."""
    found = []
    for key, params in asked:
        try:
            metric = get(key)
            full = complete(metric.parameters, params)
        except MetricError:
            continue
        found += [str(full[role]) for role in metric.roles if full[role] is not None]
    return found


def table_for(asked: Asked, every: Sequence[Asked], table: Table) -> Table:
    """The truth's table as one of several metrics reads it: without the columns that only others know as more than
    answers."""
    own = role_columns([asked])
    for name in set(role_columns(every)) - set(own):
        if name in table.names:
            table = table.without(name)
    return table


def prepare_secondary(main: Truth, asked: Asked, table: Table) -> SecondaryMetric:
    """A secondary metric of a truth that is known to be good; ``table`` is that of ``table_for``. Raises nothing."""
    key, params = asked
    name = key.partition("@")[0]
    try:
        metric = get(key)
        full = complete(metric.parameters, params)
        metric = metric.adapt(full)
        layout = layout_of(metric, table, main.id_column, full)
    except ParameterError as error:
        lines = [
            Message("{parameter}: {sentence}", parameter=parameter, sentence=sentence)
            for parameter, sentence in error.errors.items()
        ]
        return SecondaryMetric(name, params, problem=joined(lines))
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


def read_secondary(main: Truth, table: Table, places: np.ndarray) -> list[Any]:
    """What the secondary metrics make of a submission, so that its cells need not be kept while metrics work: for each
    the prediction in the order of the scored rows, or at once its value. ``places`` are where the scored rows are."""
    cache: dict[object, tuple[Any, list[Problem]]] = {}
    return [_read(main, one, table, places, cache) for one in main.secondary]


def _read(
    main: Truth,
    secondary_metric: SecondaryMetric,
    table: Table,
    places: np.ndarray,
    cache: dict[object, tuple[Any, list[Problem]]],
) -> Any:
    if (truth := secondary_metric.truth) is None:
        return secondary_metric.nothing(_OUR_FAULT)  # the reason may quote the truth
    # Of all rows, not of the scored ones: which these are is secret. A file that was accepted repeats no id.
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
            return secondary_metric.value(truth.metric.score_custom(truth, table, places))
        if truth.reading not in cache:  # metrics that read alike share what they read
            cache[truth.reading] = truth.read_prediction(table, main)
        prediction, problems = cache[truth.reading]
    except Exception as error:
        return _failed(secondary_metric, error)
    if problems:
        return secondary_metric.nothing(joined([problem.message for problem in problems]))
    return truth.metric.submission.fill(places, prediction)


def secondary_values(main: Truth, read: list[Any]) -> tuple[SecondaryValue, ...]:
    """The values of the secondary metrics, of what ``read_secondary`` gave. That is used up on the way."""
    values = []
    for secondary_metric in main.secondary:
        found = read.pop(0)
        if not isinstance(found, SecondaryValue):
            assert secondary_metric.truth is not None, "without a truth nothing was read"
            try:
                found = secondary_metric.value(measure(secondary_metric.truth, found))
            except Exception as error:
                found = _failed(secondary_metric, error)
        values.append(found)
    return tuple(values)


def _failed(secondary_metric: SecondaryMetric, error: Exception) -> SecondaryValue:
    """A metric that is shown beside the score must not cost anybody the score, whatever happens in it."""
    if isinstance(error, SubmissionError):
        return secondary_metric.nothing(error_message(error))
    if not isinstance(error, MetricFailed | NotFinite):
        log.error("the secondary metric %s stumbled: %s", secondary_metric.key, type(error).__name__)
    return secondary_metric.nothing(_OUR_FAULT)
