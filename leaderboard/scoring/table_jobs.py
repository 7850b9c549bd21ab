"""Jobs on whole tables, each in a sealed process. Only workers run them, so no request waits for a process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings

from .client import JobFailed, JobTimedOut
from .jobs import JobDied, JobLimits, run_job

__all__ = ["JobDied", "JobFailed", "JobTimedOut", "csv_of", "run_page_job"]

OF_HOSTS = JobLimits(processor_seconds=120, seconds=120)
LIMITS = {"convert_submission": JobLimits(processor_seconds=10, seconds=30)}
"""Limits of jobs that students request."""


def run_page_job(job: str, **arguments: Any) -> dict[str, Any]:
    """Do a job in a new sealed process, and return its answer. Raises `JobFailed`, `JobTimedOut`."""
    return run_job(job, arguments, LIMITS.get(job, OF_HOSTS), settings.SCORING_MEMORY_MB)


def csv_of(data: bytes) -> tuple[bytes, list[dict[str, Any]]]:
    """(an Excel or Parquet file as CSV, stored notes on how it was read), read in a new sealed process; (b"", []) if it
    cannot be read. Raises `JobDied` if two processes died of it, `JobFailed`, `JobTimedOut`."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "table", Path(folder) / "table.csv"
        source.write_bytes(data)
        try:
            answer = run_page_job("to_csv", truth=str(source), target=str(target))
        except JobDied:  # perhaps by a kill from outside
            answer = run_page_job("to_csv", truth=str(source), target=str(target))
        return target.read_bytes() if target.exists() else b"", answer.get("notes", [])
