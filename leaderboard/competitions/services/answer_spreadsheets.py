"""Answer files as spreadsheets save them: what could be read from them, and the reading."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import metrics
from leaderboard.common.storage import path_of
from leaderboard.scorer import jobs_for_pages
from metrics.reading.containers import read_container

from ..models import TruthDraft

log = logging.getLogger(__name__)

CONVERTIBLE_PROBLEMS = frozenset({"separator", "column_unnamed", "usage_name", "encoding", "row_width", "quote"})
"""Findings that a file gets which a spreadsheet saved in its own way."""


def converted_spreadsheet(chunks: Iterable[bytes]) -> list[bytes]:
    """An unstored upload with its spreadsheet conversion applied; unchanged where no conversion helps."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "truth", Path(folder) / "as_meant.csv"
        source.write_bytes(b"".join(plain_csv(chunks)))
        jobs_for_pages.run_page_job("as_meant", truth=str(source), target=str(target))
        return [target.read_bytes() or source.read_bytes()]


def spreadsheet_changes(draft: TruthDraft, target: Path | None = None) -> list[dict[str, Any]]:
    """What reading the file as a spreadsheet's would change; the CSV goes to `target`."""
    with tempfile.TemporaryDirectory() as folder:
        place = target or Path(folder) / "as_meant.csv"
        try:
            answer = jobs_for_pages.run_page_job("as_meant", truth=str(path_of(draft.file_key)), target=str(place))
        except jobs_for_pages.JobFailed:
            log.exception("%s could not be read as a spreadsheet's", draft.file_key)
            return []
    changes: list[dict[str, Any]] = answer["changes"]
    return changes


def plain_csv(chunks: Iterable[bytes]) -> Iterable[bytes]:
    """The CSV of a plain, gzipped or zipped upload; a container that cannot be read is stored, so that the check can
    name the problem."""
    data = b"".join(chunks)
    try:
        return [read_container(data, 1 << 30)]
    except metrics.MetricError:
        return [data]
