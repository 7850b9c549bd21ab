"""Who starts the process of a metric from outside: this one, or for a process that may start none somebody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .processes import run

if TYPE_CHECKING:
    from ..core.contract import Metric
    from .outside_metric import OutsideMetric

OutsideRunner = Callable[[str, str, Mapping[str, Any], Callable[[Path], None]], dict[str, Any]]
"""Job, key of the metric, request, and what writes the tables into a folder → the answer; raises ``Stopped``."""

_others: list[OutsideRunner] = []


def set_outside_runner(runner: OutsideRunner) -> None:
    """From now on this process starts no metric's process; ``runner`` has it done elsewhere."""
    _others[:] = [runner]


def run_outside(job: str, metric: Metric, request: Mapping[str, Any], write: Callable[[Path], None]) -> dict[str, Any]:
    """The answer of a metric's own process to one job. Raises ``Stopped``."""
    if _others:
        return _others[0](job, metric.key, request, write)
    return run(job, metric.key, cast("OutsideMetric", metric).file.data, request, write)
