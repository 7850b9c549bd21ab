"""A consistency check and its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

EXAMPLES = 5
# For a site with damage everywhere not every piece is counted.
COUNTED = 10_000


@dataclass
class CheckRun:
    """What a check writes down: how much it looked at, and what it left out."""

    seed: int | None = None
    looked_at: int = 0
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CheckResult:
    """Whether a check passed, with the first examples where it did not."""

    number: int
    promise: str
    broken: int
    examples: tuple[str, ...]
    looked_at: int
    seconds: float
    not_seen: str

    @property
    def holds(self) -> bool:
        return self.broken == 0

    @property
    def line(self) -> str:
        """The line of this check."""
        state = "holds" if self.holds else f"BROKEN ({self.broken}{'+' if self.broken == COUNTED else ''})"
        return f"{self.number:>2} {state}: {self.promise} [{self.looked_at} looked at, {self.seconds:.1f} s]"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "examples": list(self.examples), "holds": self.holds}


@dataclass(frozen=True)
class ConsistencyCheck:
    """`check` gives a sentence per violation; `not_seen` is what no check of data can show."""

    number: int
    text: str
    check: Callable[[CheckRun], Iterator[str]]
    not_seen: str = ""

    def run_check(self, seed: int | None = None) -> CheckResult:
        """Look; a check that stumbles does not hold, whatever the reason."""
        findings, began = CheckRun(seed), time.monotonic()
        broken: list[str] = []
        try:
            broken += islice(self.check(findings), COUNTED)
        except Exception as error:  # the other checks run all the same
            broken.append(f"it could not be checked: {type(error).__name__}: {error}")
        not_seen = "; ".join(filter(None, [*findings.left_out, self.not_seen]))
        return CheckResult(
            number=self.number,
            promise=self.text,
            broken=len(broken),
            examples=tuple(broken[:EXAMPLES]),
            looked_at=findings.looked_at,
            seconds=round(time.monotonic() - began, 2),
            not_seen=not_seen,
        )
