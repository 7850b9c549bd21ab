"""The inputs of a scorer: its ground truth, and its limits."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import metrics
from metrics.core.lazy import cached_property


@dataclass(frozen=True)
class TruthSpec:
    """The arguments of `metrics.prepare` for a ground truth; `mark` identifies its file, wherever that is stored."""

    mark: str
    metric: str
    truth: str
    params: Mapping[str, Any]
    id_column: str | None = None
    secondary: Sequence[tuple[str, Mapping[str, Any]]] = ()

    @cached_property
    def key(self) -> str:
        """A text that is equal for specs with the same scores."""
        fields = asdict(self)
        del fields["truth"]
        return json.dumps(fields, sort_keys=True)

    def prepared(self) -> metrics.Truth:
        """The truth, read and checked."""
        secondary = [(key, params) for key, params in self.secondary]  # in JSON these are lists
        return metrics.prepare(self.metric, Path(self.truth), self.params, self.id_column, secondary=secondary)


@dataclass(frozen=True)
class ScoringLimits:
    """Limits for reading a truth and scoring one file: wall-clock seconds, megabytes of data. `file_seconds` is for the
    file alone, once the truth is read."""

    seconds: float
    memory_mb: int
    file_seconds: float = math.inf
