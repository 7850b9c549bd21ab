"""Jobs on whole tables that pages ask for: the web server never loads pyarrow or a metric's libraries."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings

from . import OF_HOSTS, JobFailed, JobTimedOut, run_job
from .job_slots import KINDS, JobSlot
from .page_jobs import JOBS

__all__ = ["JOBS", "KINDS", "OF_HOSTS", "JobFailed", "JobTimedOut", "csv_of", "run_page_job"]


def run_page_job(job: str, **arguments: Any) -> dict[str, Any]:
    """Do a job in a process of its own, as soon as there is a place for one."""
    kind = KINDS.get(job, OF_HOSTS)
    with JobSlot(job, kind) as place:
        return run_job(job, arguments, kind, place, settings.SCORING_MEMORY_MB)


def csv_of(data: bytes) -> bytes:
    """An Excel or Parquet file as CSV, read in a process of its own; empty where it cannot be read."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "table", Path(folder) / "table.csv"
        source.write_bytes(data)
        run_page_job("to_csv", truth=str(source), target=str(target))
        return target.read_bytes() if target.exists() else b""
