"""Custom metric files are loaded by a sealed process; what they say about themselves is kept for all others."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from metrics.core import custom

from .client import JobFailed, JobLimits, JobTimedOut, run_job

INSPECT_SECONDS = 30
INSPECT_MEMORY_MB = 2048
"""What loading a file with its doctests may take."""


def inspect_sealed(key: str, data: bytes) -> dict[str, Any]:
    """What a file says about itself, or the `error` in words: also where loading it takes too long, fills the memory or
    ends the process."""
    with tempfile.TemporaryDirectory(prefix="metric-") as folder:
        copy = Path(folder) / f"{key}.py"
        copy.write_bytes(data)
        try:
            return _run("inspect_metric_file", {"metric": key, "truth": str(copy)})
        except JobTimedOut:
            return {"error": f"Loading it took longer than {INSPECT_SECONDS} s."}
        except JobFailed as error:
            return {"error": f"Loading it ended its process, perhaps for want of memory ({error})."}


def try_seal(secret: Path, port: int) -> dict[str, Any]:
    """What a sealed process of this machine reaches outside; see `probes`. Raises `JobFailed`."""
    return _run("try_seal", {"secret": str(secret), "port": port})


def find_uninspected() -> list[custom.CustomFile]:
    """The files of `METRICS_DIR` that no worker has loaded yet."""
    return [file for file in custom.list_custom_files() if file.error == custom.NOT_INSPECTED]


def custom_metrics_status() -> dict[str, Any]:
    """What an operator should know about custom metrics, for a page: the folder, and its files with their errors."""
    files = custom.list_custom_files()
    return {
        "folder": os.environ.get("METRICS_DIR", ""),
        "offered": [file for file in files if not file.error],
        "unfit": [file for file in files if file.error],
    }


def _run(job: str, arguments: dict[str, Any]) -> dict[str, Any]:
    limits = JobLimits(processor_seconds=INSPECT_SECONDS, seconds=INSPECT_SECONDS)
    return run_job(job, arguments, limits, INSPECT_MEMORY_MB)
