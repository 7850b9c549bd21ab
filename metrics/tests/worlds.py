"""Random classes: truth and submission files that fit any metric, made from the kinds of column it names."""

import csv
import io
import random
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

import metrics


@dataclass(frozen=True)
class World:
    """A truth and a submission as rows, to be shuffled and printed."""

    header: tuple[str, ...]
    truth: list[list[str]]
    submission_header: tuple[str, ...]
    submission: list[list[str]]

    def truth_csv(self, dice: random.Random | None = None) -> bytes:
        return _csv(self.header, self.truth, dice)

    def submission_csv(self, dice: random.Random | None = None) -> bytes:
        return _csv(self.submission_header, self.submission, dice)


_made: dict[tuple[str, int, int, bool], tuple[metrics.Metric, World]] = {}


def world(metric: metrics.Metric, seed: int, rows: int = 40, *, split: bool = True) -> World:
    """A random truth that the metric can score on both splits, and a random submission for it.

    Many laws ask for the same one: it is made once, and each gets a copy.
    """
    asked = metric.key, seed, rows, split
    made_for, made = _made.get(asked, (None, None))
    if made is None or made_for is not metric:
        made = _world(metric, seed, rows, split)
        _made[asked] = metric, made
    return replace(made, truth=[[*row] for row in made.truth], submission=[[*row] for row in made.submission])


def _world(metric: metrics.Metric, seed: int, rows: int, split: bool) -> World:
    dice = random.Random(seed)
    names = _target_names(metric)
    header = ("id", *names, *metric.roles, *(["Usage"] if split else []))
    ids = [f"id{number}" for number in dice.sample(range(10 * rows), rows)]
    usage = [["Public", "Private", "Private", "Ignored"][number % 4] for number in range(rows)]
    while True:
        truth = [
            [name, *_truth_cells(metric, len(names), dice), *([used] if split else [])]
            for name, used in zip(ids, usage, strict=True)
        ]
        found = World(header, truth, (), [])
        if metrics.check_truth(metric.key, found.truth_csv(), is_quick=True).ok:
            break
    prepared = metrics.prepare(metric.key, found.truth_csv())
    sent = prepared.submission_columns
    # Half of the files know nothing of the truth and so say things that it does not hold.
    like = prepared.target if seed % 2 or callable(metric.format.names) else None
    while True:
        answers = [[name, *metric.submission.random(dice, len(sent) - 1, like)] for name in ids]
        with suppress(metrics.SubmissionError):  # no label may be written like the sample's
            found = World(header, truth, sent, answers)
            prepared.check(found.submission_csv())
            return found


def _target_names(metric: metrics.Metric) -> tuple[str, ...]:
    if metric.truth.many:
        return ("a", "b", "c")
    return {1: ("y",), 2: ("time", "event")}.get(metric.truth.columns) or tuple("abcdefgh"[: metric.truth.columns])


def _truth_cells(metric: metrics.Metric, width: int, dice: random.Random) -> list[str]:
    cells = metric.truth.random(dice, width)
    return [*cells, *(cell for role in metric.roles.values() for cell in role.kind.random(dice, 1))]


def _csv(header: tuple[str, ...], rows: Iterable[list[str]], dice: random.Random | None) -> bytes:
    rows = list(rows)
    shuffled = dice.sample(rows, len(rows)) if dice else rows
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *shuffled])
    return out.getvalue().encode()
