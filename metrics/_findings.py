"""One thing that a host should know about a truth file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from metrics._sentences import forms_of


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

    def as_kept(self) -> dict[str, Any]:
        """Its JSON-safe form, with the forms of both texts, to say them in other languages later."""
        return {**asdict(self), "message": str(self.message), "why": str(self.why)} | forms_of(
            message=self.message, why=self.why
        )
