"""Our reading of a file against the plain one: both refuse it, or both find the same cells and the same scores."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.utils.functional import cached_property

import metrics
from metrics.core.arrays import Coded
from tests.inputs import plain_reader
from tests.inputs.mutations import mutated, submission
from tests.inputs.plain_reader import Unreadable, rows_of

SPLITS = ("Public", "Private", "Private", "Ignored", "Public", "Private")
CANARY = "47110815"
"""Every true answer that could be quoted holds it, and no submission does."""

WHOLE = [str(number) for number in (*range(1, 12), -3, 0)]
TEXTS = ["NA", "null", "007", "7", "7.0", "café", "cafe\u0301", "a,b", 'say "x"', "two words", "True", "1e3", "="]
LABELS = ("cat", "dog", "Cat", "NA", "a b", "1", "é", "no, never", 'the "one"')
SENTENCES = ("", "one two", "Two one", "a,b", 'say "so"', "first line\nsecond line", "a\n\nb", "é ß", "one  one")

Mean = Callable[[Iterable[tuple[Any, Any]]], float]
NORMAL: dict[plain_reader.Reader, Callable[[str], str]] = {
    plain_reader.words: plain_reader.composed,
    plain_reader.label: plain_reader.label,
}
"""How a cell is compared, by the reader; other cells as the same text."""


class Disagreement(AssertionError):
    """The two readings differ, or a rule about messages is broken."""


@dataclass
class World:
    """A truth, the files that are valid for it, and what its metric computes, written down once more.

    ``cell`` invents a valid cell, ``read`` is the plain reader's for one, ``answer`` makes a true one, ``mean`` the
    score of pairs of cells as read.
    """

    key: str
    ids: Sequence[str]
    cell: Callable[[random.Random], str]
    read: plain_reader.Reader
    answer: Callable[[int], str]
    mean: Mean
    columns: tuple[str, ...] = ("y",)
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def header(self) -> tuple[str, ...]:
        return ("id", *self.columns)

    @cached_property
    def answers(self) -> dict[str, list[str]]:
        """Id → true cells."""
        width = len(self.columns)
        return {one: [self.answer(n * width + place) for place in range(width)] for n, one in enumerate(self.ids)}

    def usage(self, number: int) -> str:
        return SPLITS[number % len(SPLITS)]

    @cached_property
    def truth(self) -> metrics.Truth:
        rows = [[one, *cells, self.usage(n)] for n, (one, cells) in enumerate(self.answers.items())]
        return metrics.prepare(self.key, written([*self.header, "Usage"], rows), self.params)

    def submission(self, dice: random.Random) -> bytes:
        return submission(dice, self.header, self.ids, lambda: self.cell(dice))

    def scores(self, read: Mapping[str, Sequence[Any]]) -> dict[str, float]:
        """Both splits and all of it, from cells as the plain reader has them. Raises `Unreadable` where the values are
        too large for a score."""
        true = {one: [self.read(cell) for cell in cells] for one, cells in self.answers.items()}
        found = {}
        for name, splits in (("public", ("Public",)), ("private", ("Private",)), ("overall", SPLITS[:2])):
            mine = [one for n, one in enumerate(self.ids) if self.usage(n) in splits]
            try:
                columns = [self.mean((true[one][at], read[one][at]) for one in mine) for at in range(len(self.columns))]
                found[name] = math.fsum(columns) / len(columns)
            except OverflowError as error:
                raise Unreadable("too large") from error
            if not math.isfinite(found[name]):
                raise Unreadable("too large")
        return found


def written(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The dullest way to write a table: every cell in quotes, `\\n` line ends."""
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [header, *rows]]
    return ("\n".join(lines) + "\n").encode()


# --- what the metrics compute -----------------------------------------------------------------------------------


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found)


def rmse(pairs: Iterable[tuple[float, float]]) -> float:
    return math.sqrt(_mean((true - output) ** 2 for true, output in pairs))


def log_loss(pairs: Iterable[tuple[float, float]]) -> float:
    return _mean(-math.log(max(output if true else 1 - output, 1e-15)) for true, output in pairs)


def accuracy(pairs: Iterable[tuple[object, object]]) -> float:
    return _mean(float(true == output) for true, output in pairs)


def f1_of_sets(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
    return _mean(2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0 for a, b in pairs)


def jaccard(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
    return _mean(len(a & b) / len(a | b) if a or b else 1.0 for a, b in pairs)


WORLDS = {
    "numbers": World(
        "rmse", WHOLE, lambda dice: f"{dice.gauss(0, 50):.3g}", plain_reader.number, lambda n: f"{n}.{CANARY}", rmse
    ),
    "columns of numbers": World(
        "columnwise_rmse",
        TEXTS,
        lambda dice: f"{dice.uniform(-1, 1):.6f}",
        plain_reader.number,
        lambda n: f"{n}.{CANARY}",
        rmse,
        ("a", "y", "b c"),
    ),
    "probabilities": World(
        "log_loss",
        TEXTS,
        lambda dice: dice.choice(("0", "1", "0.5", f"{dice.random():.6f}", f"{dice.random():e}")),
        plain_reader.probability,
        lambda n: "01"[n % 3 == 0],
        log_loss,
    ),
    "labels": World(
        "accuracy",
        WHOLE,
        lambda dice: dice.choice(LABELS),
        plain_reader.label,
        lambda n: LABELS[n] if n < 6 else CANARY,
        accuracy,
    ),
    "numeric labels": World(
        "accuracy",
        TEXTS,
        lambda dice: dice.choice(("0", "1", "2.0", "+2", "1e0", "-3", "x")),
        plain_reader.numeric_label,
        lambda n: ("0", "1", "2", "-3.50")[n % 4],
        accuracy,
    ),
    "label sets": World(
        "multilabel_f1",
        WHOLE,
        lambda dice: " ".join(dice.choices(("a", "b", "c", "é", '"d"', "e,f"), k=dice.randrange(4))),
        plain_reader.labels,
        lambda n: ("a", "b c", "", "a é b", f"{CANARY} a")[n % 5],
        f1_of_sets,
    ),
    "texts": World(
        "word_jaccard",
        TEXTS,
        lambda dice: dice.choice(SENTENCES),
        plain_reader.words,
        lambda n: ("one two", "", 'say "so"', "a b", f"{CANARY} one")[n % 5],
        jaccard,
    ),
}


# --- the comparison ---------------------------------------------------------------------------------------------


def one(seed: object) -> tuple[str, bytes]:
    """The world and the file of a seed."""
    dice = random.Random(str(seed))
    name = dice.choice(list(WORLDS))
    return name, mutated(dice, WORLDS[name].submission(dice))


def compare(world: World, data: bytes) -> str:
    """`"accepted"` or the code of the first refusal. Raises `Disagreement`, and whatever a crash raises."""
    try:
        mine = rows_of(data, world.header, world.ids)
        read = {one: [world.read(cells[name]) for name in world.columns] for one, cells in mine.items()}
        scores = world.scores(read)
    except Unreadable as error:
        return _refused(world, data, str(error))
    try:
        result = world.truth.evaluate(data)
        prediction = world.truth.read_submission(data)[0]
    except metrics.SubmissionError as error:
        raise Disagreement(f"a good file is refused: {error}") from None
    if sniffed := _sniffed(world, data):
        raise Disagreement(f"the first look accuses a good file: {sniffed}")
    _same_cells(world, prediction, mine, read)
    _same_scores(world, result, mine, scores)
    return "accepted"


def _refused(world: World, data: bytes, why: str) -> str:
    try:
        world.truth.evaluate(data)
    except metrics.SubmissionError as error:
        problems = error.problems
    else:
        raise Disagreement(f"accepted against the rules: {why}")
    for problem in problems:
        said_to_user = f"{problem.message} {problem.column} {problem.id}"
        if CANARY in said_to_user or any(word in problem.message for word in ("ublic", "rivate", "Ignored")):
            raise Disagreement(f"a message tells what is secret: {problem}")
        if not problem.message.isprintable() or len(problem.message) > 700 or problem.count < 1:
            raise Disagreement(f"a message cannot be shown: {problem}")
    codes = {problem.code for problem in problems}
    # In an archive the first look cannot see the end of the file, so it may name a later fault than the reader.
    is_packed = data.startswith((b"\x1f\x8b", b"PK"))
    if not is_packed and (unknown := set(_sniffed(world, data)) - codes):
        raise Disagreement(f"the first look says {unknown}, the reader {problems}")
    return problems[0].code


def _sniffed(world: World, data: bytes) -> list[str]:
    found = metrics.sniff(data, len(data), world.truth.submission_columns, expected_rows=world.truth.rows)
    return [problem.code for problem in found]


def _same_cells(world: World, prediction: Any, mine: Mapping[str, Mapping[str, str]], read: Mapping[str, Any]) -> None:
    """What the metric gets is what stands in the file, for each scored row in the truth's order."""
    scored = [one for n, one in enumerate(world.ids) if world.usage(n) != "Ignored"]
    if isinstance(prediction, Coded):
        found: Any = [str(prediction.values[code]) for code in prediction.codes]
        normal = NORMAL.get(world.read, plain_reader.same_text)
        wanted: Any = [normal(mine[one][world.columns[0]]) for one in scored]
        if world.read is plain_reader.numeric_label:
            found, wanted = ([plain_reader.numeric_label(text) for text in texts] for texts in (found, wanted))
    else:
        found = np.reshape(prediction, (len(scored), -1)).tolist()
        wanted = [read[one] for one in scored]
    if found != wanted:
        raise Disagreement(f"read as {found}, written as {wanted}")


def _same_scores(
    world: World, result: metrics.Result, mine: Mapping[str, Mapping[str, str]], scores: Mapping[str, float]
) -> None:
    """To the last digit those of the same cells in the dullest file, and as computed by hand."""
    dull = written(world.header, [[one, *(mine[one][name] for name in world.columns)] for one in world.ids])
    again = world.truth.evaluate(dull)
    for name, by_hand in scores.items():
        value = getattr(result, name)
        if value != getattr(again, name):
            raise Disagreement(f"{name}: {value!r}, in another file {getattr(again, name)!r}")
        if not math.isclose(value, by_hand, rel_tol=1e-9, abs_tol=1e-12):
            raise Disagreement(f"{name}: {value!r}, by hand {by_hand!r}")
