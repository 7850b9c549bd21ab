"""A metric whose file came from outside: what the catalogue knows of it, and how a submission is scored by it.

The columns of a Kaggle metric: any number of them, of any sort. The metric's file judges what they say; here is
only refused what would be missing or no finite number, so that students read it with line and id.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import Answers, take
from ..core.contract import Example, Metric, Role, Rules, SubmissionFormat, WholeColumn
from ..core.errors import MetricFailed, MetricTooSlow, Problem, SubmissionError
from ..core.evaluate import OVERALL, Result
from ..core.lazy import cached_property
from ..core.messages import Message, Plural
from ..core.parameters import Parameter
from ..reading.column_kinds import LARGEST, TOO_LARGE
from ..reading.columns import NOT_FINITE, Cells, Kind, to_decimal
from ..reading.headers import USAGE
from ..reading.tables import pick
from ..reading.text import LONGEST_MASK_LINE
from .metric_files import OutsideFile, in_words, list_outside_files, stored_file
from .processes import ProcessStopped, TooSlow, memory_mb
from .runner import run_outside

if TYPE_CHECKING:
    from ..core.truth import Truth
    from ..reading.tables import Table

_NO_NUMBERS = {"nan", "na", "n/a", "#n/a", "null", "none", "<na>", "inf", "+inf", "-inf", "infinity", "-infinity"}
_NO_FINITE_NUMBER = Plural(
    "{count} value of {column} is no finite number: {examples}.",
    "{count} values of {column} are no finite number: {examples}.",
)


class Columns:
    """Columns of texts, as Arrow string arrays by name."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = dict(arrays)
        self._dull: dict[tuple[str, ...], list[str]] = {}

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values()), ()))

    def matching_answers(self, names: Sequence[str]) -> list[Any]:
        """The answers that stand beside a submission's columns: those of the same name, for the others the rest in its
        order. Without names, all."""
        rest = [name for name in self.arrays if name not in names] or list(self.arrays)
        places = enumerate(names or self.arrays)
        return [self.arrays[name if name in self.arrays else rest[place % len(rest)]] for place, name in places]

    def dull_cells(self, names: tuple[str, ...]) -> list[str]:
        """What the sample submission has in each of its columns; looked for once."""
        if names not in self._dull:
            matching_answers = self.matching_answers(names)
            self._dull[names] = [_dull(array, len(matching_answers)) for array in matching_answers]
        return list(self._dull[names])

    def take(self, rows: np.ndarray) -> Columns:
        """The given rows."""
        return Columns({name: pick(array, rows) for name, array in self.arrays.items()})


class AnyColumns(Kind):
    """All columns as texts. A column is one of numbers where each cell that is not empty is a number. ``names`` are a
    submission's columns, where they are not called as the truth's."""

    words = Message("columns as the metric's file asks for")
    many = True
    longest_line = LONGEST_MASK_LINE  # nobody knows what a column holds

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = tuple(names)

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Columns:
        dull = [] if truth is None else truth.dull_cells(self.names)
        for place, cells in enumerate(columns):
            if truth is None:
                _check_truth(cells)
            else:
                _check(cells, dull[place])
        return Columns({cells.column: cells.array for cells in columns})

    def fill(self, places: np.ndarray, values: Any) -> Any:
        return take(values, places)

    def sample(self, truth: Any) -> str | list[str]:
        found: list[str] = truth.dull_cells(self.names)
        return found

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        if truth is None:
            return [str(dice.randint(0, 1)) for _ in range(width)]
        return [array[dice.randrange(len(truth))].as_py() for array in truth.matching_answers(self.names)]


def _check_truth(cells: Cells) -> None:
    numbers = _numbers(cells.array)
    if numbers is None:
        return
    cells.refuse_blank()
    if len(places := np.flatnonzero(~np.isfinite(numbers))):
        cells.refuse("not_finite", NOT_FINITE, places)


def _check(cells: Cells, dull: str) -> None:
    """A submission's column, beside what the sample submission has in it: what the truth has there is secret."""
    if dull:
        cells.refuse_blank()
    numbers = _numbers(cells.array)
    if numbers is not None:
        places = np.flatnonzero(~np.isfinite(numbers))
        if len(large := np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) > LARGEST))):
            cells.refuse("too_large_values", TOO_LARGE, large, {"bound": f"{LARGEST:g}"})
    elif to_decimal(dull) is not None:
        coded = cells.coded()
        bad = [code for code, text in enumerate(coded.values) if text.lower() in _NO_NUMBERS]
        places = np.flatnonzero(np.isin(coded.codes, bad))
    else:
        return
    if len(places):
        cells.refuse("not_finite", _NO_FINITE_NUMBER, places)


def stand_in_cells(names: Sequence[str], roles: Collection[str], dull: Mapping[str, str]) -> list[list[str]]:
    """Answers that tell nothing for the columns of a truth, each as cells to be repeated: they follow from the ``dull``
    cells of the sample submission. Numbers take turns, because many metrics need two different answers."""
    targets = [name for name in names if name not in roles]
    found = []
    for name in names:
        if name in roles:
            found.append(["1"])
            continue
        place = targets.index(name)
        cell = dull.get(name, list(dull.values())[place % len(dull)])
        number = to_decimal(cell)
        if number is None:
            found.append([cell])
        elif number == int(number):
            found.append([str(int(number)), str(int(number) + 1)])
        else:  # probabilities: one answer of all in each row
            found.append(["1" if turn == place else "0" for turn in range(max(2, len(targets)))])
    return found


def cycled(cells: Sequence[str], rows: int) -> Any:
    """So many rows in which these cells take turns, as an Arrow array."""
    import pyarrow as pa

    return pick(pa.array(cells, pa.string()), np.arange(rows) % len(cells))


def _numbers(array: Any) -> np.ndarray | None:
    """The numbers of a column, 0 for an empty cell; ``None`` where some cell is anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.if_else(pc.equal(array, ""), "0", array).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.frombuffer(numbers.buffers()[1], np.float64)[numbers.offset : numbers.offset + len(numbers)]


def _dull(array: Any, width: int) -> str:
    """The same answer for every row: the first text in order or the least whole number, which may be a class; equal
    parts of 1 where the answers look like probabilities."""
    numbers = _numbers(array)
    texts: list[str] = array.unique().to_pylist()
    if numbers is None:
        return min(texts)
    is_whole = not (numbers % 1).any()
    if len(numbers) and numbers.min() >= 0 and numbers.max() <= 1 and (width > 1 or not is_whole):
        return repr(round(1 / max(2, width), 6))
    return min(texts, key=float) if texts and is_whole else "0"


GROUP = Message("Added to this site")
MOST_WORDS = 500
STAND_IN = "stand_in"
"""The part in which a metric judges a submission beside answers that tell nothing."""

_SAMPLED = 100
_REFUSED_WITHOUT_WORDS = Message("The metric refuses this file, and what it says about it cannot be shown here.")
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
        now = stored_file(key, version)
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
        return [array.to_pylist() for array in answers.matching_answers(columns)]

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
        host_details = "" if part == STAND_IN else f"Of {where} the metric says: {_words(error) or 'nothing'}"
        shown = _words(error if part == STAND_IN else answer.get("stand_in"))[:MOST_WORDS]
        raise SubmissionError([Problem("metric", shown or _REFUSED_WITHOUT_WORDS)], host_details)
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
