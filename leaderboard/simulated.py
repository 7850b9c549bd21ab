"""Submissions as a class might make them, out of the right answers."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence


def files(perfect: bytes, skills: Sequence[float | None], seed: int) -> list[str]:
    """One file per skill; the same seed makes the same ones.

    A row is right with the probability `skill`, and otherwise has the answer of another row: whatever the metric, that
    is a form that it reads. Without a skill the file has another header, and nobody can read it.
    """
    header, *rows = csv.reader(io.StringIO(perfect.decode(), newline=""))
    made = []
    for number, skill in enumerate(skills):
        chance = random.Random(f"{seed} {number}")  # noqa: S311 - nothing depends on it
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header if skill is not None else [f"wrong_{name}" for name in header])
        for row in rows:
            is_right = skill is not None and chance.random() < skill
            writer.writerow(row if is_right else [row[0], *chance.choice(rows)[1:]])
        made.append(text.getvalue())
    return made
