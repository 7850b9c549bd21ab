"""One thing that a host should know about a truth file."""

from __future__ import annotations

from dataclasses import dataclass


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
