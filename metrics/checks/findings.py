"""Findings: the results of checks of a truth."""

from dataclasses import dataclass

from ..core.errors import Problem
from ..core.messages import Message
from ..core.truth import Truth


@dataclass(frozen=True)
class Finding(Problem):
    """One result of a check; ``blocking`` ones forbid publication, and ``why`` says what would go wrong."""

    blocking: bool = True
    why: str = ""


def warning(
    code: str,
    message: Message,
    why: Message,
    column: str | None = None,
    place: tuple[int | None, str | None] = (None, None),
) -> Finding:
    """A finding that does not block. Its count is that of the message; ``place`` is the first line and its id."""
    count = 1 if message.number is None else message.number
    return Finding(code, message, column, *place, count, blocking=False, why=why)


def place_of(truth: Truth, row: int) -> tuple[int, str]:
    """The line and the id of a row of the truth."""
    return int(truth.table.lines[row]), truth.ids.array[int(row)].as_py()
