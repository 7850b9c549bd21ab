"""Composite metrics: the columns that their parts read from one table, and the combined value.

There are two composites, one per direction, because a metric has one direction, whatever its parameters.
"""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np

from ...core.arrays import Answers, take
from ...core.contract import ByParameters, Example, Metric, Rules, SubmissionFormat, WholeColumn, answer_columns, chosen
from ...core.errors import Problem, shown
from ...core.evaluate import value_of_arrays
from ...core.figures import Figure, Grid
from ...core.messages import Message, joined
from ...core.parameters import Longest
from ...numerics.averages import Unscored
from ...numerics.other_metrics import has_influence, influence_of_arrays
from ...reading.columns import Cells, Kind
from ...reading.label_kinds import Label
from ...reading.number_kinds import Binary
from ...reading.tables import pick
from ...reading.text import LONGEST_MASK_LINE
from .composite_parts import CompositePart, parts_of, spread_out

Combine = Annotated[
    Literal["mean", "sum"],
    "mean: the weighted values are added and divided by the sum of the weights (without their signs); "
    "sum: they are only added.",
]


@dataclass(frozen=True)
class PartArrays:
    """The arrays that the metrics of all parts read from the same ``rows`` rows: ``arrays[i]`` belongs to ``parts[i]``.

    ``cells`` are the texts of a truth, by column.
    """

    parts: tuple[CompositePart, ...]
    arrays: tuple[Any, ...]
    rows: int
    cells: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.rows

    def take(self, rows: np.ndarray) -> Self:
        return replace(self, arrays=tuple(take(array, rows) for array in self.arrays), rows=len(rows), cells={})


def weighted(values: Sequence[float], weights: Sequence[float], combine: str) -> float:
    total = math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
    return total if combine == "sum" else total / math.fsum(map(abs, weights))


def combined(parts: Sequence[CompositePart], values: Sequence[float], combine: str) -> float:
    """The value of the composite: parts of one line are averaged, then the lines are weighted."""
    lines: dict[int, list[float]] = {}
    for part, value in zip(parts, values, strict=True):
        lines.setdefault(part.line, []).append(value)
    weights = {part.line: part.weight for part in parts}
    return weighted([_mean(found) for found in lines.values()], [weights[line] for line in lines], combine)


def _mean(values: Sequence[float]) -> float:
    """The mean; of equal values it is that value to the last bit."""
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)


def _values_of(truth: PartArrays, prediction: PartArrays) -> list[float]:
    parts = zip(truth.parts, truth.arrays, prediction.arrays, strict=True)
    return [value_of_arrays(part.metric, part.params, *arrays) for part, *arrays in parts]


def ready(prediction: PartArrays) -> PartArrays:
    """Each part's prediction after its metric's ``ready`` step."""
    steps = [part.metric.computation.ready for part in prediction.parts]
    arrays = [step(array) if step else array for step, array in zip(steps, prediction.arrays, strict=True)]
    return replace(prediction, arrays=tuple(arrays))


def _share_of_each(parts: Sequence[CompositePart], combine: str) -> list[float]:
    """The factor of each part's value in the combined value."""
    lines = Counter(part.line for part in parts)
    under = 1.0 if combine == "sum" else math.fsum(map(abs, {part.line: part.weight for part in parts}.values()))
    return [part.weight / lines[part.line] / under for part in parts]


def influence(truth: PartArrays, prediction: PartArrays, *, combine: Combine) -> np.ndarray:
    """The influence of each row on the combined value: the weighted influences on the parts, shape (n,)."""
    found = np.zeros(len(truth))
    shares = _share_of_each(truth.parts, combine)
    for share, part, *arrays in zip(shares, truth.parts, truth.arrays, prediction.arrays, strict=True):
        found += share * influence_of_arrays(part.metric, part.params, *arrays)
    return found


def unscorable(truth: PartArrays) -> str:
    """The reasons why parts cannot be scored, or ``""``."""
    found = []
    for part, answers in zip(truth.parts, truth.arrays, strict=True):
        check = part.metric.rules.unscorable
        if check is not None and (reason := check(answers, **chosen(check, part.params))):
            found.append(Message("in the part {part}, {reason}", part=shown(part.name), reason=reason))
    return joined(found)


def table_of_parts(truth: PartArrays, prediction: PartArrays, *, combine: Combine) -> list[Figure]:
    """A table with the weight and the value of each part, and its part of the score."""
    values, parts = _values_of(truth, prediction), truth.parts
    lines = Counter(part.line for part in parts)
    weights = [part.weight / lines[part.line] for part in parts]
    under = 1.0 if combine == "sum" else math.fsum(map(abs, weights))
    cells: list[list[float | str]] = [
        [weight, value, weight * value / under] for weight, value in zip(weights, values, strict=True)
    ]
    cells.append([math.fsum(weights), "", combined(parts, values, combine)])
    note = "Each part adds its weight times its value; the score is their sum."
    if combine == "mean":
        note = "Each part adds its weight times its value, by the sum of the weights; the score is their sum."
    names = [*(part.name for part in parts), "all"]
    return [Grid("Each part", names, ["weight", "value", "adds"], cells, corner="part", note=note)]


class TruthOfParts(Kind):
    """The answers and further columns of all parts, as ``PartArrays``."""

    words = Message("the columns of all parts")
    many = True
    longest_line = LONGEST_MASK_LINE

    def __init__(self, parts: tuple[CompositePart, ...]) -> None:
        self.parts = parts

    def read(self, columns: Sequence[Cells], truth: Any = None) -> PartArrays:
        by_name = {cells.column: cells for cells in columns}
        found: list[tuple[CompositePart, Any]] = []
        for part in spread_out(self.parts, list(by_name)):
            if fault := _misfit(part, by_name):
                columns[0].problems.append(fault)
                continue
            found.append((part, _answers_of(part, by_name)))
        if not found and not columns[0].problems:
            columns[0].problems.append(Problem("no_target", Message("No target column is left for the parts.")))
        _say_once(columns)
        parts, arrays = tuple(part for part, _ in found), tuple(array for _, array in found)
        return PartArrays(parts, arrays, len(columns[0].array), by_name)

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        kind = self.parts[0].metric.truth
        return kind.random(dice, width) if kind.many else [kind.random(dice, 1)[0] for _ in range(width)]


def _misfit(part: CompositePart, by_name: Mapping[str, Cells]) -> Problem | None:
    """The problem if the file lacks a column that a part reads, or None."""
    names = ", ".join(map(shown, list(by_name)[:10]))
    for column in (*part.columns, *part.roles.values()):
        if column not in by_name:
            message = Message(
                "The part {part} reads the column {column}, and the file has {names}.",
                part=shown(part.name),
                column=shown(column),
                names=names,
            )
            return Problem("column_missing", message, column=column)
    metric = part.metric
    if not metric.truth.many and len(part.columns) != metric.truth.columns:
        message = Message.counted(
            metric.truth.columns,
            "The part {part} reads {count} target column, and the file has {names}. Name the column after the metric, "
            "or write * for the mean over all columns.",
            "The part {part} reads {count} target columns, and the file has {names}. Name them after the metric.",
            part=shown(part.key),
            names=names,
        )
        return Problem("target_columns", message, column=next(iter(by_name)), count=len(part.columns))
    return None


def _answers_of(part: CompositePart, by_name: Mapping[str, Cells]) -> Any:
    metric = part.metric
    answers = metric.truth.read([by_name[column] for column in part.columns])
    if not part.roles:
        return answers
    return Answers(answers, {role: metric.roles[role].kind.read([by_name[name]]) for role, name in part.roles.items()})


def _target(answers: Any) -> Any:
    return answers.answer if isinstance(answers, Answers) else answers


def _say_once(columns: Sequence[Cells]) -> None:
    """Drop duplicate problems and warnings: several parts may read the same cells."""
    for cells in columns:
        cells.problems[:] = list(dict.fromkeys(cells.problems))
        cells.warnings[:] = list(dict.fromkeys(cells.warnings))


def names_of(part: CompositePart, answers: Any) -> tuple[str, ...]:
    """The columns of a submission that a part reads."""
    return answer_columns(part.metric, _target(answers), part.columns)


def submission_names(truth: PartArrays, columns: tuple[str, ...]) -> list[str]:
    """The columns of a submission, each once, in the order of the parts."""
    pairs = zip(truth.parts, truth.arrays, strict=True)
    return list(dict.fromkeys(name for part, answers in pairs for name in names_of(part, answers)))


class SubmissionOfParts(Kind):
    """The predictions of all parts, as ``PartArrays``."""

    words = Message("the columns of all parts")
    many = True
    longest_line = LONGEST_MASK_LINE

    def read(self, columns: Sequence[Cells], truth: Any = None) -> PartArrays:
        by_name = dict(zip(submission_names(truth, ()), columns, strict=True))
        arrays = []
        for part, answers in zip(truth.parts, truth.arrays, strict=True):
            cells = [by_name[name] for name in names_of(part, answers)]
            arrays.append(part.metric.submission.read(cells, _target(answers)))
            if part.metric.rules.verify is not None:
                part.metric.rules.verify(cells, arrays[-1], **chosen(part.metric.rules.verify, part.params))
        _say_once(columns)
        return PartArrays(truth.parts, tuple(arrays), len(columns[0].array))

    def judge(self, columns: Sequence[Cells], values: PartArrays, truth: Any, params: Mapping[str, Any]) -> None:
        by_name = dict(zip(submission_names(truth, ()), columns, strict=True))
        for part, answers, array in zip(truth.parts, truth.arrays, values.arrays, strict=True):
            cells = [by_name[name] for name in names_of(part, answers)]
            part.metric.submission.judge(cells, array, _target(answers), part.params)
        _say_once(columns)

    def reader_of(self, column: str, truth: Any, params: Mapping[str, Any]) -> tuple[Kind, Any, Mapping[str, Any]]:
        part, answers = next(pair for pair in zip(truth.parts, truth.arrays, strict=True) if column in names_of(*pair))
        return part.metric.submission, _target(answers), part.params

    def fill(self, places: Any, values: PartArrays) -> PartArrays:
        pairs = zip(values.parts, values.arrays, strict=True)
        arrays = tuple(part.metric.submission.fill(places, array) for part, array in pairs)
        return PartArrays(values.parts, arrays, len(places))

    def sample(self, truth: Any) -> list[str]:
        def sampled(part: CompositePart, width: int, answers: Any) -> list[str]:
            cells = part.metric.submission.sample_with(answers, part.params)
            return [cells] * width if isinstance(cells, str) else cells

        return _by_column(truth, sampled)

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        return _by_column(truth, lambda part, width, answers: part.metric.submission.random(dice, width, answers))


def _by_column(truth: PartArrays, cells_of: Any) -> list[str]:
    """The cells of one row. If several parts read a column, the most restrictive kind determines its cell."""
    found: dict[str, str] = {}
    pairs = list(zip(truth.parts, truth.arrays, strict=True))
    for is_narrow in (True, False):
        for part, answers in pairs:
            kind, names = part.metric.submission, names_of(part, answers)
            if isinstance(kind, Binary | Label) == is_narrow:
                made = cells_of(part, len(names), _target(answers))
                found = dict(zip(names, made, strict=True)) | found
    return [found[name] for name in submission_names(truth, ())]


def perfect(truth: PartArrays) -> list[list[str]]:
    """The columns of a perfect submission: as a part's metric makes them, else the answers themselves."""
    made: dict[str, list[str]] = {}
    pairs = list(zip(truth.parts, truth.arrays, strict=True))
    for part, answers in pairs:
        if part.metric.rules.perfect is not None:
            columns = part.metric.rules.perfect(answers, **chosen(part.metric.rules.perfect, part.params))
            made = dict(zip(names_of(part, answers), columns, strict=True)) | made
    for part, answers in pairs:
        for name, column in zip(names_of(part, answers), part.columns, strict=False):
            if name not in made:
                made[name] = _texts(truth.cells[column])
    return [made[name] for name in submission_names(truth, ())]


def _texts(cells: Cells) -> list[str]:
    array = cells.table.column(cells.column)
    return list((array if cells.rows is None else pick(array, cells.rows)).to_pylist())


def composite(
    *, title: str, direction: Literal["maximize", "minimize"], default: str, help: str, example: Example
) -> Metric:
    """The composite metric of one direction, for the ``default`` parts, and adapted when a host writes others. ``help``
    is that of the parameter ``parts``."""

    def score(
        truth: PartArrays,
        prediction: PartArrays,
        *,
        parts: Annotated[str, Longest(3000), partial(parts_of, direction=direction), help] = default,
        combine: Combine = "mean",
        unscored: Unscored = None,
    ) -> float:
        """The weighted values of the parts, which are in the arrays. Raises ``NotFinite``."""
        return combined(truth.parts, _values_of(truth, prediction), combine)

    def best(*, parts: str = default, combine: str = "mean") -> float:
        found = parts_of(parts, direction)
        optima = [part.metric.best_with(part.params) for part in found]
        return weighted(optima, [part.weight for part in found], combine)

    def adapted(*, parts: str = default) -> Metric:
        found = parts_of(parts, direction)
        is_known = all(has_influence(part.metric) for part in found)
        return Metric(
            title=title,
            group="Composite",
            direction=direction,
            best=best(),
            truth=TruthOfParts(found),
            submission=SubmissionOfParts(),
            computation=WholeColumn(score=score, influence=influence if is_known else None, ready=ready),
            format=SubmissionFormat(submission_names),
            rules=Rules(unscorable=unscorable, perfect=perfect),
            by_parameters=ByParameters(best=best, metric=adapted),
            figures=table_of_parts,
            example=example,
        )

    return adapted()
