"""Random classes: truth and submission files that fit any metric, made from the kinds of column it names."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import metrics
from metrics import _inputs as kinds

Maker = Callable[[random.Random], str]

WORDS = ("scab", "rust", "healthy", "Straße", "ΟΔΟΣ", "x-1", "007", "complex")


def _label(dice: random.Random) -> str:
    return dice.choice(WORDS)


def _labels(dice: random.Random) -> str:
    return " ".join(dice.sample(WORDS, dice.randint(0, 3)))


def _phrases(dice: random.Random) -> str:
    return "|".join(" ".join(dice.sample(WORDS[:5], dice.randint(1, 3))) for _ in range(dice.randint(0, 3)))


def _number(dice: random.Random) -> str:
    return repr(round(dice.gauss(0, 100), 4))


def _probability(dice: random.Random) -> str:
    return repr(round(dice.random(), 2))


def _binary(dice: random.Random) -> str:
    return dice.choice("01")


MAKERS: dict[type[kinds.Kind], Maker] = {
    kinds.Label: _label,
    kinds.LabelSet: _labels,
    kinds.Words: _phrases,
    kinds.LabelOrNone: lambda dice: dice.choice(("", *WORDS)),
    kinds.RankedLabel: lambda dice: dice.choice(("", f"{_label(dice)} {dice.randint(0, 9) / 10}")),
    kinds.Number: _number,
    kinds.Probability: _probability,
    kinds.Score: _probability,
    kinds.Binary: _binary,
}


def cells(kind: kinds.Kind, width: int, dice: random.Random) -> list[str]:
    """One row of cells that this kind reads."""
    if isinstance(kind, kinds.TimeAndEvent):
        return [str(dice.randint(0, 9)), _binary(dice)]
    return [MAKERS[type(kind)](dice) for _ in range(width)]


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


def world(metric: metrics.Metric, seed: int, rows: int = 40, *, split: bool = True) -> World:
    """A random truth that the metric can score on both splits, and a random submission for it."""
    dice = random.Random(seed)
    names = {1: ("y",), 2: ("time", "event"), 3: ("a", "b", "c")}
    width = 3 if metric.truth.many else metric.truth.columns
    ids = [f"id{number}" for number in dice.sample(range(1000), rows)]
    usage = [["Public", "Private", "Private", "Ignored"][number % 4] for number in range(rows)]
    while True:
        truth = [
            [name, *cells(metric.truth, width, dice), *([used] if split else [])]
            for name, used in zip(ids, usage, strict=True)
        ]
        header = ("id", *names[width], *(["Usage"] if split else []))
        found = World(header, truth, (), [])
        if metrics.check_truth(metric.key, found.truth_csv()).ok:
            break
    sent = metric.submission_names or names[width]
    answers = [[name, *cells(metric.submission, len(sent), dice)] for name in ids]
    return World(header, truth, ("id", *sent), answers)


def _csv(header: tuple[str, ...], rows: list[list[str]], dice: random.Random | None) -> bytes:
    shuffled = dice.sample(rows, len(rows)) if dice else rows
    return "".join(",".join(row) + "\n" for row in [list(header), *shuffled]).encode()
