"""One thing that a host should know about a truth file."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.messages import Message


@dataclass(frozen=True)
class Finding:
    """One thing found; ``blocking`` ones forbid publication, and ``why`` says what would go wrong."""

    code: str
    message: str
    column: str | None = None
    line: int | None = None
    id: str | None = None
    count: int = 1
    blocking: bool = True
    why: str = ""


_NOT_BEST = {
    "overall": Message("A perfect submission scores {value} (overall) instead of {best}."),
    "public": Message("A perfect submission scores {value} (public) instead of {best}."),
    "private": Message("A perfect submission scores {value} (private) instead of {best}."),
}


def not_best(part: str, value: float, best: float) -> Message:
    """What a perfect submission got in place of the best value."""
    return Message(_NOT_BEST[part], value=f"{value}", best=f"{best}")
