"""Answer files made row by row, with ids that tell nothing."""

from __future__ import annotations

import random
from collections.abc import Callable

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
