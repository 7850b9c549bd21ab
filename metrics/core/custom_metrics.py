"""The metrics that custom files declare, made from the inspection of a file, and scoring by them."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..reading.columns import Kind
from ..reading.tables import Table
from .contract import Example, Metric, Role, Rules, SubmissionFormat, WholeColumn
from .custom import CustomFile, find_custom_file, list_custom_files
from .custom_columns import AnyColumns, all_columns
from .custom_parameters import COLUMNS_PARAMETER, SUBMISSION_COLUMNS, arguments_of, columns_of_submission
from .custom_scoring import KaggleRun, load_module, score_kaggle, score_library_form
from .lazy import cached_property
from .messages import Message
from .parameters import Parameter
from .result import Result
from .types import PreparedTruth

GROUP = Message("Added to this site")


@dataclass(frozen=True)
class CustomMetric(Metric):
    """A metric made from the inspection of a file instead of a module: the file is not loaded until it scores."""

    file: CustomFile = field(kw_only=True)

    is_custom = True

    @property
    def key(self) -> str:
        return self.file.key

    def load(self) -> ModuleType:
        return load_module(self.key, self.file.data, self.file.path)

    @cached_property
    def _documentation(self) -> tuple[str, str]:
        head, _, rest = str(self.file.facts["doc"]).strip().partition("\n")
        head = head.strip() or Message("A metric that was added to this site as {file}.", file=f"{self.key}.py")
        if len(head) <= 100:
            return head, rest.strip()
        return head[:99].rstrip() + "…", f"{head}\n{rest}"

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        found = (Parameter(**{**one, "choices": tuple(one["choices"])}) for one in self.file.parameters)
        return (*found, *self._further_parameters)

    @property
    def _further_parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the site that the file does not declare."""
        return ()

    @property
    def source_path(self) -> Path:
        return self.file.path

    @cached_property
    def version(self) -> str:
        return self.file.version


class KaggleMetric(CustomMetric):
    """A metric in Kaggle's format: its function ``score`` gets whole tables."""

    columns = Message("columns as its file asks for")

    @property
    def _further_parameters(self) -> tuple[Parameter, ...]:
        names = {parameter["name"] for parameter in self.file.parameters}
        return () if SUBMISSION_COLUMNS in names else (COLUMNS_PARAMETER,)

    def adapt(self, params: Mapping[str, Any], id_column: str = "") -> "KaggleMetric":
        """The metric with the columns of a submission that the host names."""
        names, cells = columns_of_submission(params.get(SUBMISSION_COLUMNS) if self._further_parameters else None)
        pairs = [(name, cell) for name, cell in zip_longest(names, cells) if name != id_column]
        if not pairs:
            return self
        return _with_columns(self, [name for name, _ in pairs], [cell for _, cell in pairs] if cells else [])

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the file's function after the first three."""
        return arguments_of(params, self.file.parameters, self.file.facts["forms"])


def score_custom(truth: PreparedTruth, table: Table, places: np.ndarray) -> Result:
    """Score the rows ``places`` of a submission's ``table``, one for each scored row, with the file of the truth's
    metric."""
    metric = truth.metric
    if isinstance(metric, KaggleMetric):
        return score_kaggle(truth, table, places, metric.load, metric.arguments(truth.params))
    assert isinstance(metric, CustomMetric)
    return score_library_form(truth, table, places, metric.load)


def refuse_custom(truth: PreparedTruth, table: Table) -> None:
    """Raise the ``SubmissionError`` of the metric's file for this table, if it would raise it whatever the answers."""
    if isinstance(truth.metric, KaggleMetric):
        KaggleRun(truth, table, truth.metric.load, truth.metric.arguments(truth.params)).judge()


def is_perfect_known(truth: PreparedTruth) -> bool:
    """Whether the answers say what a perfect submission is, because it is clear which answer belongs in which of its
    columns."""
    if not isinstance(truth.metric, KaggleMetric):
        return True
    return all_columns(truth.answers).has_answers_for(truth.submission_columns[1:])


def usable_metrics() -> list[CustomMetric]:
    """The metrics of ``METRICS_DIR`` that can be offered."""
    made = (_make_metric(file) for file in list_custom_files())
    return [metric for metric in made if metric is not None]


def find(key: str, version: str = "") -> CustomMetric | None:
    """The metric of this name in its present version, or in the given ``version``; None if there is none."""
    file = find_custom_file(key, version)
    return _make_metric(file) if file is not None else None


def _make_metric(file: CustomFile) -> CustomMetric | None:
    """The metric that a file declares; ``None`` if it declares none, or if its cached inspection is damaged, which must
    not break the other metrics."""
    if file.error:
        return None
    with suppress(AttributeError, ImportError, KeyError, TypeError, ValueError):
        metric = metric_of(file)
        list(metric.parameters)  # read here, so that no page stumbles over them
        return metric
    return None


def metric_of(file: CustomFile) -> CustomMetric:
    """The metric that a file declares; the file must have no error."""
    facts, direction = file.facts, file.direction[0]
    declared = {**facts["declared"], **file.settings}
    columns = tuple(file.settings.get("submission_columns") or facts["submission_columns"])
    general: dict[str, Any] = {
        "title": str(declared.get("title") or file.key.replace("_", " ").replace("-", " ").capitalize()),
        "group": str(declared["group"]) if declared.get("group") else GROUP,
        "direction": "maximize" if direction == "maximize" else "minimize",
        "best": _number(declared.get("best"), math.inf if direction == "maximize" else -math.inf),
        "worst": _number(declared.get("worst"), None),
        "example": Example("", "", 0.0),
        "file": file,
    }
    helps = {one["name"]: one["help"] for one in facts["parameters"] if one["kind"] == "column"}
    defaults = {one["name"]: one["default"] or "" for one in facts["parameters"]}
    if library_form := facts.get("library"):
        return CustomMetric(
            **general,
            truth=_kind(library_form["truth"]),
            submission=_kind(library_form["submission"]),
            roles={name: Role(_kind(kind), helps[name]) for name, kind in library_form["roles"].items()},
            computation=WholeColumn(),
            format=SubmissionFormat(columns, tuple(library_form["aliases"]), library_form["may_miss_ids"]),
            rules=Rules(confirm={name: dict(pairs) for name, pairs in library_form["confirm"].items()}),
        )
    metric = KaggleMetric(
        **general,
        truth=AnyColumns(),
        submission=AnyColumns(),
        roles={name: Role(AnyColumns(), text, defaults[name]) for name, text in helps.items()},
        computation=WholeColumn(),
    )
    return _with_columns(metric, columns) if columns else metric


def _with_columns(metric: KaggleMetric, names: Sequence[str], sample: Sequence[str] = ()) -> KaggleMetric:
    """The metric for submissions with these columns, and with these cells in each row of the sample."""
    return replace(
        metric,
        submission=AnyColumns(names, sample),
        format=SubmissionFormat(tuple(names)),
        rules=Rules(perfect=_perfect_of(names)),
    )


def _kind(facts: Mapping[str, Any]) -> Kind:
    """A kind of column of this library, restored from the facts about it. Raises ``TypeError`` for another class."""
    kind = getattr(import_module(f"{__package__.partition('.')[0]}.{facts['module']}"), facts["class"])
    if not (isinstance(kind, type) and issubclass(kind, Kind)):
        raise TypeError(f"{facts['class']} is no kind of column")
    return kind(**facts["arguments"])


def _number(value: Any, otherwise: Any) -> Any:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _perfect_of(columns: Sequence[str]) -> Callable[..., list[list[str]]]:
    """A function that returns the answers under the names of the submission's columns."""

    def perfect(truth: Any) -> list[list[str]]:
        return [array.to_pylist() for array in all_columns(truth).matching_answers(columns)]

    return perfect
