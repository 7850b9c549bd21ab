"""Inspection of custom metric files: each is loaded by a sealed process, and the result is cached for all others."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from metrics.core import custom

from .client import JobFailed, JobTimedOut
from .jobs import JobLimits, run_job

INSPECT_SECONDS = 30
INSPECT_MEMORY_MB = 2048
"""Limits for loading a file and running its doctests."""


def inspect_sealed(key: str, data: bytes) -> dict[str, Any]:
    """The facts about a metric file, or its `error` in words, also if loading it takes too long, needs too much memory
    or kills the process."""
    with tempfile.TemporaryDirectory(prefix="metric-") as folder:
        copy = Path(folder) / f"{key}.py"
        copy.write_bytes(data)
        try:
            return _run_job("inspect_metric_file", {"metric": key, "truth": str(copy)})
        except JobTimedOut:
            return {"error": f"Loading it took longer than {INSPECT_SECONDS} s."}
        except JobFailed as error:
            return {"error": f"Loading it ended its process, perhaps for want of memory ({error})."}


def try_seal(secret: Path, port: int) -> dict[str, Any]:
    """The outcome of three ways out of a sealed process on this machine; see `probes`. Raises `JobFailed`."""
    return _run_job("try_seal", {"secret": str(secret), "port": port})


def find_uninspected() -> list[custom.CustomFile]:
    """The files of `METRICS_DIR` that no worker has inspected yet."""
    return [file for file in custom.list_custom_files() if file.error == custom.NOT_INSPECTED]


def custom_metrics_status() -> dict[str, Any]:
    """The folder of custom metrics and its files, with their errors, for the operator's page."""
    files = custom.list_custom_files()
    return {
        "folder": os.environ.get("METRICS_DIR", ""),
        "offered": [file for file in files if not file.error],
        "unfit": [file for file in files if file.error],
    }


def _run_job(job: str, arguments: dict[str, Any]) -> dict[str, Any]:
    limits = JobLimits(processor_seconds=INSPECT_SECONDS, seconds=INSPECT_SECONDS)
    return run_job(job, arguments, limits, INSPECT_MEMORY_MB)
