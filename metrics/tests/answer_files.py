"""Answer files made row by row, with ids that tell nothing; and files of one column, and what they score."""

import csv
import io
import random
from collections.abc import Callable, Sequence

import metrics

ROWS = 300


def table(header: str, row: Callable[[int, random.Random], str], rows: int = ROWS, seed: int = 1) -> bytes:
    """A file of the given rows: their number, and dice."""
    dice = random.Random(seed)
    ids = dice.sample(range(10 * rows), rows)
    lines = [header, *(f"{name},{row(number, dice)}" for number, name in enumerate(ids))]
    return ("\n".join(lines) + "\n").encode()


def split_table(header: str, row: Callable[[int, random.Random], str], rows: int = ROWS) -> bytes:
    """The same, a third of it public."""
    return table(f"{header},Usage", lambda i, dice: f"{row(i, dice)},{'Public' if i % 3 == 0 else 'Private'}", rows)


def column(cells: Sequence[object]) -> bytes:
    """A file of one column."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("id", "y"), *enumerate(cells)])
    return out.getvalue().encode()


def score(key: str, truth: Sequence[object], prediction: Sequence[object], **params: object) -> float:
    """Of files of one column."""
    return metrics.evaluate(key, column(truth), column(prediction), params).overall
