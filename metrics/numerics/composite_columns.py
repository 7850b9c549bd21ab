"""The columns of a composite metric: each part's metric reads those that the part names."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.arrays import Answers
from ..core.contract import Rules, SubmissionFormat, answer_columns
from ..core.errors import Problem, shown
from ..core.messages import Message
from ..core.parameters import chosen
from ..reading.column_kinds import Binary, Label
from ..reading.columns import Cells, Kind
from ..reading.tables import pick
from ..reading.text import LONGEST_MASK_LINE
from .composite import CompositePart, PartArrays, spread_out, unscorable


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
    """Why the file lacks what a part reads."""
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
    """Drop complaints that several parts have about the same cells."""
    for cells in columns:
        cells.problems[:] = list(dict.fromkeys(cells.problems))


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

    def fill(self, places: Any, values: PartArrays) -> PartArrays:
        pairs = zip(values.parts, values.arrays, strict=True)
        arrays = tuple(part.metric.submission.fill(places, array) for part, array in pairs)
        return PartArrays(values.parts, arrays, len(places))

    def sample(self, truth: Any) -> list[str]:
        return _by_column(truth, lambda kind, width, answers: _as_list(kind.sample(answers), width))

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        return _by_column(truth, lambda kind, width, answers: kind.random(dice, width, answers))


def _as_list(cells: str | list[str], width: int) -> list[str]:
    return [cells] * width if isinstance(cells, str) else cells


def _by_column(truth: PartArrays, cells_of: Any) -> list[str]:
    """The cells of one row. Where several parts read a column, that of the kind that allows fewest answers."""
    found: dict[str, str] = {}
    pairs = list(zip(truth.parts, truth.arrays, strict=True))
    for is_narrow in (True, False):
        for part, answers in pairs:
            kind, names = part.metric.submission, names_of(part, answers)
            if isinstance(kind, Binary | Label) == is_narrow:
                made = cells_of(kind, len(names), _target(answers))
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
    texts: list[str] = (array if cells.rows is None else pick(array, cells.rows)).to_pylist()
    return texts


def columns_of_parts(parts: tuple[CompositePart, ...]) -> dict[str, Any]:
    """What a metric declares that reads the columns of these parts."""
    return {
        "truth": TruthOfParts(parts),
        "submission": SubmissionOfParts(),
        "format": SubmissionFormat(submission_names),
        "rules": Rules(unscorable=unscorable, perfect=perfect),
    }
