"""A metric whose file came from outside: what the catalogue knows of it, and how a submission is scored by it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import Answers
from ..core.contract import Example, Metric, Role, Rules, SubmissionFormat, WholeColumn
from ..core.errors import MetricFailed, MetricTooSlow, Problem, SubmissionError
from ..core.evaluate import OVERALL, Result
from ..core.messages import Message
from ..core.parameters import Parameter
from ..reading.columns import Kind
from ..reading.layout import USAGE
from ..reading.tables import pick
from .any_columns import AnyColumns, cycled, stand_in_cells
from .metric_files import OutsideFile, in_words, kept_file, list_outside_files
from .processes import ProcessStopped, TooSlow, memory_mb
from .runner import run_outside

if TYPE_CHECKING:
    from ..core.truth import Truth
    from ..reading.tables import Table

GROUP = Message("Added to this site")
MOST_WORDS = 500
STAND_IN = "stand_in"
"""The part in which a metric judges a submission beside answers that tell nothing."""

_SAMPLED = 100
_UNTOLD = Message("The metric refuses this file, and what it says about it cannot be shown here.")
_NO_EXAMPLE = Example("", "", 0.0)


@dataclass(frozen=True)
class OutsideMetric(Metric):
    """Declared by a file's inspection instead of by a module: nothing of the file is loaded here."""

    file: OutsideFile = field(kw_only=True)

    @property
    def key(self) -> str:
        return self.file.key

    @property
    def is_outside(self) -> bool:
        return True

    def score_elsewhere(self, truth: Truth, table: Table, places: np.ndarray) -> Result:
        return _score(truth, table, places)

    def refuse_elsewhere(self, truth: Truth, table: Table) -> None:
        if self.file.facts["format"] == "kaggle":
            _refuse(truth, table)

    @cached_property
    def _documentation(self) -> tuple[str, str]:
        head, _, rest = str(self.file.facts["doc"]).strip().partition("\n")
        head = head.strip() or Message("A metric that was added to this site as {file}.", file=f"{self.key}.py")
        if len(head) <= 100:
            return head, rest.strip()
        return head[:99].rstrip() + "…", f"{head}\n{rest}"

    @property
    def columns(self) -> Message:
        if self.file.facts["format"] == "ours":
            return super().columns
        return Message("columns as its file asks for")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(**{**parameter, "choices": tuple(parameter["choices"])})
            for parameter in self.file.facts["parameters"]
        )

    @property
    def source_path(self) -> Path:
        return self.file.path

    @cached_property
    def version(self) -> str:
        return self.file.version


def metric_of(file: OutsideFile) -> OutsideMetric:
    """The metric that a file declares; the file must have no error."""
    facts = file.facts
    direction = file.direction[0]
    endless = math.inf if direction == "maximize" else -math.inf
    declared = {**facts["said"], **file.settings}
    columns = tuple(file.settings.get("submission_columns") or facts["submission_columns"])
    if facts["format"] == "ours":
        truth, submission = _kind(facts["truth"]), _kind(facts["submission"])
        roles = {name: Role(_kind(role["kind"]), role["help"]) for name, role in facts["roles"].items()}
    else:
        truth, submission = AnyColumns(), AnyColumns(columns)
        named = [parameter for parameter in facts["parameters"] if parameter["kind"] == "column"]
        roles = {parameter["name"]: Role(AnyColumns(), parameter["help"]) for parameter in named}
    return OutsideMetric(
        title=str(declared.get("title") or file.key.replace("_", " ").replace("-", " ").capitalize()),
        group=str(declared["group"]) if declared.get("group") else GROUP,
        direction="maximize" if direction == "maximize" else "minimize",
        best=_number(declared.get("best"), endless),
        worst=_number(declared.get("worst"), None),
        truth=truth,
        submission=submission,
        example=Example(**facts["example"]) if facts.get("example") else _NO_EXAMPLE,
        roles=roles,
        computation=WholeColumn(parts=tuple(facts.get("parts", ()))),
        format=SubmissionFormat(columns, tuple(facts.get("aliases", ())), bool(facts.get("may_miss_ids"))),
        rules=Rules(
            perfect=_perfect_of(columns) if columns and facts["format"] == "kaggle" else None,
            confirm={name: dict(pairs) for name, pairs in facts.get("confirm", {}).items()},
        ),
        file=file,
    )


def usable() -> list[OutsideMetric]:
    """The metrics of ``METRICS_DIR`` that can be offered."""
    made = (_made(file) for file in list_outside_files() if not file.error)
    return [metric for metric in made if metric is not None]


def find(key: str, version: str = "") -> OutsideMetric | None:
    """The metric of this name, as its file is now or, where a version is asked for, as it was then."""
    now = next((file for file in list_outside_files() if file.key == key), None)
    if version and (now is None or now.version != version):
        now = kept_file(key, version)
    return _made(now) if now is not None and not now.error else None


_metrics: dict[tuple[str, str, str], OutsideMetric] = {}


def _made(file: OutsideFile) -> OutsideMetric | None:
    """The metric, made once for each version of its file and of what the operator says about it; ``None`` where what
    was kept about the file was spoiled, which must not take the other metrics along."""
    mark = (file.key, file.version, json.dumps(file.settings, sort_keys=True))
    if mark not in _metrics:
        try:
            made = metric_of(file)
            list(made.parameters)  # read here, so that no page stumbles over them
            _metrics[mark] = made
        except (AttributeError, ImportError, KeyError, TypeError, ValueError):
            return None
    return _metrics[mark]


def _number(value: Any, otherwise: Any) -> Any:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _kind(facts: Mapping[str, Any]) -> Kind:
    """A kind of column of this library, as the metric's file made it."""
    home, name = str(facts["module"]), str(facts["class"])
    library = __package__.partition(".")[0]
    kind = getattr(import_module(f"{library}.{home}"), name) if "." in home else None
    if not (isinstance(kind, type) and issubclass(kind, Kind)):
        raise TypeError(f"{home}.{name} is no kind of column")
    made: Kind = object.__new__(kind)
    vars(made).update(facts["state"])
    return made


def _perfect_of(columns: Sequence[str]) -> Callable[..., list[list[str]]]:
    """The answers under the names that the submission's columns have."""

    def perfect(truth: Any) -> list[list[str]]:
        answers = truth.answer if isinstance(truth, Answers) else truth
        return [array.to_pylist() for array in answers.beside(columns)]

    return perfect


def _score(truth: Truth, table: Table, places: np.ndarray) -> Result:
    """Score aligned rows in the metric's own process.

    Raises ``SubmissionError`` with what the metric wants the participant to read, and ``MetricFailed``.
    """
    metric = truth.metric
    assert isinstance(metric, OutsideMetric), "others are scored here"
    parts = {**truth.parts, OVERALL: np.arange(len(truth.scored))}

    def write(folder: Path) -> None:
        _write_solution(truth, folder / "solution.csv")
        _write_submission(truth, table, places, folder / "submission.csv")
        for name, rows in parts.items():
            rows.astype(np.int64).tofile(folder / f"{name}.rows")
        if not _is_ours(truth):
            _write_stand_in(truth, table, folder)

    answer = _asked(truth, list(parts), write)
    values = {name: _value(metric, answer, name) for name in parts}
    return Result(
        metric=metric.key,
        version=metric.version,
        params=truth.params,
        overall=values[OVERALL],
        public=values.get("public"),
        private=values.get("private"),
        rows=len(truth.scored),
        parts=answer.get("parts", {}),
    )


def _refuse(truth: Truth, table: Table) -> None:
    """Ask the metric about a submission with answers that tell nothing. Raises as ``_score`` does."""
    _asked(truth, [], lambda folder: _write_stand_in(truth, table, folder))


def _asked(truth: Truth, parts: list[str], write: Callable[[Path], None]) -> dict[str, Any]:
    """What the metric's own process answers about some parts."""
    metric = truth.metric
    assert isinstance(metric, OutsideMetric), "others are scored here"
    request = {
        "id_column": truth.id_column,
        "ids_are_text": not truth.ids.are_integers,
        "params": truth.params,
        "parts": parts,
    }
    try:
        answer = run_outside("ours" if _is_ours(truth) else "kaggle", metric, request, write)
    except ProcessStopped as stopped:
        failed = MetricTooSlow if isinstance(stopped, TooSlow) else MetricFailed
        raise failed(metric.key, str(stopped), stopped.output) from None
    _complain(metric, answer)
    return answer


def _complain(metric: OutsideMetric, answer: Mapping[str, Any]) -> None:
    """Sort an error by who may read it. The participant reads what the metric says beside answers that tell nothing;
    what it says of the true ones could tell about them, so only the host reads it."""
    error = answer.get("error") or ({"kind": "host", "class": "", "words": ""} if answer.get("problems") else None)
    if error is None:
        return
    if error["kind"] == "participant":
        part = error.get("part") or OVERALL
        where = "all rows together" if part == OVERALL else f"the {part} part"
        told = "" if part == STAND_IN else f"Of {where} the metric says: {_words(error) or 'nothing'}"
        shown = _words(error if part == STAND_IN else answer.get("stand_in"))[:MOST_WORDS]
        raise SubmissionError([Problem("metric", shown or _UNTOLD)], told)
    where = f" in line {error['line']}" if error.get("line") else ""
    raised = f"raised {error['class'] or 'an error'}{where}"
    said = {"unfit": "returned no finite number", "memory": f"needed more than {memory_mb()} MB of memory{where}"}
    reason = said.get(error["kind"], raised)
    raise MetricFailed(metric.key, reason, in_words(error))


def _words(error: Mapping[str, Any] | None) -> str:
    return " ".join(str(error["words"]).split()) if error else ""


def _value(metric: OutsideMetric, answer: Mapping[str, Any], name: str) -> float:
    try:
        value = float(answer["values"][name])
    except (KeyError, TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise MetricFailed(metric.key, "gave an answer that cannot be read")
    return value


def _write_solution(truth: Truth, path: Path) -> None:
    """The scored rows of the truth without its split, id first."""
    names = [name for name in truth.table.names if name not in (truth.id_column, USAGE if truth.has_split else "")]
    rows = truth.scored
    arrays = [pick(truth.table.column(name), rows) for name in (truth.id_column, *names)]
    if truth.has_split and truth.metric.is_outside and _is_ours(truth):
        names, arrays = [*names, USAGE], [*arrays, pick(truth.table.column(USAGE), rows)]
    _write_csv(path, [truth.id_column, *names], arrays)


def _write_submission(truth: Truth, table: Table, places: np.ndarray, path: Path) -> None:
    """The submission in the order of the scored rows, under the truth's ids; rows it may miss are left out."""
    there = places >= 0
    ids = pick(truth.table.column(truth.id_column), truth.scored[there])
    wanted = truth.submission_columns[1:]
    sent = [name if name in table.names else table.names[-1] for name in wanted]
    arrays = [pick(table.column(name), places[there]) for name in sent]
    _write_csv(path, [truth.id_column, *wanted], [ids, *arrays])


def _write_stand_in(truth: Truth, table: Table, folder: Path) -> None:
    """All rows of the submission as they came, answers that follow from the sample submission alone, and the sample's
    first rows: a metric that refuses these as well only dislikes the answers."""
    wanted = truth.submission_columns[1:]
    ids = table.column(truth.id_column)
    arrays = [table.column(truth.name_in(table, name)) for name in wanted]
    _write_csv(folder / "whole.csv", [truth.id_column, *wanted], [ids, *arrays])
    few = ids[:_SAMPLED]
    dull = [cycled([cell], len(few)) for cell in truth.dull_cells]
    _write_csv(folder / "sample.csv", [truth.id_column, *wanted], [few, *dull])
    names = [name for name in truth.table.names if name not in (truth.id_column, USAGE if truth.has_split else "")]
    cells = stand_in_cells(names, set(truth.role_columns.values()), dict(zip(wanted, truth.dull_cells, strict=True)))
    _write_csv(folder / f"{STAND_IN}.csv", [truth.id_column, *names], [ids, *(cycled(one, len(ids)) for one in cells)])


def _is_ours(truth: Truth) -> bool:
    return isinstance(truth.metric, OutsideMetric) and truth.metric.file.facts["format"] == "ours"


def _write_csv(path: Path, names: list[str], arrays: list[Any]) -> None:
    import pyarrow as pa
    from pyarrow import csv

    csv.write_csv(pa.Table.from_arrays(arrays, names=names), path)
