"""Further metrics of the same truth, for which a submission is read once: shown beside the score and never ranked.

Whatever goes wrong with one of them is told in its ``problem``; the score itself never fails because of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reading.columns import Cells
from ..reading.layout import layout_of
from .errors import MetricError, MetricFailed, NotFinite, ParameterError, Refused, SubmissionError, error_message
from .evaluate import Result, SecondaryValue, measure
from .messages import Message, joined
from .parameters import chosen, complete
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


class Readings:
    """What metrics make of the same rows of a submission; those that read alike share it."""

    def __init__(self, main: Truth, table: Table) -> None:
        self.main, self.table = main, table
        self._cache: dict[object, tuple[Sequence[Cells], Any]] = {}

    def of(self, truth: Truth) -> tuple[Sequence[Cells], Any]:
        """The columns with all complaints about them, and the prediction in the order of the file."""
        if truth.reading not in self._cache:
            names = [self.main.name_in(self.table, name) for name in truth.scored_columns]
            columns = [Cells(self.table, name, truth.id_column) for name in names]
            prediction = truth.metric.submission.read(columns, truth.target)
            if truth.metric.rules.verify is not None:
                truth.metric.rules.verify(columns, prediction, **chosen(truth.metric.rules.verify, truth.params))
            self._cache[truth.reading] = columns, prediction
        return self._cache[truth.reading]


class SecondaryScorer:
    """The secondary metrics of one submission, in two steps, so that its cells need not be kept while metrics work."""

    def __init__(self, secondary_metrics: Sequence[SecondaryMetric], readings: Readings, places: np.ndarray) -> None:
        """``places`` are where the scored rows are in the submission."""
        self._metrics = secondary_metrics
        self._read = [self._reading(secondary_metric, readings, places) for secondary_metric in secondary_metrics]

    def values(self) -> tuple[SecondaryValue, ...]:
        """What each of them says."""
        return tuple(self._values())

    def _reading(self, secondary_metric: SecondaryMetric, readings: Readings, places: np.ndarray) -> Any:
        """The prediction in the order of the scored rows, the whole value of one from outside, or a problem."""
        if (truth := secondary_metric.truth) is None:
            return secondary_metric.nothing(_OUR_FAULT)  # the reason may quote the truth
        # Of all rows, not of the scored ones: which these are is secret. A file that was accepted repeats no id.
        if not truth.metric.format.may_miss_ids and (missing := readings.main.rows - readings.table.rows):
            return secondary_metric.nothing(
                Message.counted(
                    missing,
                    "This metric needs every row: {count} id missing.",
                    "This metric needs every row: {count} ids missing.",
                )
            )
        if truth.metric.is_outside:
            return value_of(secondary_metric, lambda: truth.metric.score_elsewhere(truth, readings.table, places))
        try:
            columns, prediction = readings.of(truth)
        except Exception as error:
            return _failed(secondary_metric, error)
        if problems := [problem.message for cells in columns for problem in cells.problems]:
            return secondary_metric.nothing(joined(problems))
        return truth.metric.submission.fill(places, prediction)

    def _values(self) -> Iterator[SecondaryValue]:
        for place, secondary_metric in enumerate(self._metrics):
            read, self._read[place] = self._read[place], None
            yield read if isinstance(read, SecondaryValue) else measured(secondary_metric, read)


def measured(secondary_metric: SecondaryMetric, prediction: Any, contributions: Any = None) -> SecondaryValue:
    """The value of a prediction in the order of the scored rows, or of what these contribute."""
    truth = secondary_metric.truth
    assert truth is not None, "an aside without a truth has no prediction"
    return value_of(secondary_metric, lambda: measure(truth, prediction, contributions))


def value_of(secondary_metric: SecondaryMetric, score: Any) -> SecondaryValue:
    """The value, or why there is none."""
    try:
        found: Result = score()
    except Exception as error:
        return _failed(secondary_metric, error)
    return secondary_metric.value(found)


def _failed(secondary_metric: SecondaryMetric, error: Exception) -> SecondaryValue:
    """A metric that is shown beside the score must not cost anybody the score, whatever happens in it."""
    if isinstance(error, SubmissionError):
        return secondary_metric.nothing(error_message(error))
    if not isinstance(error, MetricFailed | NotFinite):
        log.error("the secondary metric %s stumbled: %s", secondary_metric.key, type(error).__name__)
    return secondary_metric.nothing(_OUR_FAULT)
