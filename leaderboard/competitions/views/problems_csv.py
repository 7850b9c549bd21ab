"""The problems of a file as a table to take along."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.common.csv_files import safe_cell
from leaderboard.common.library_messages import stored_text

COLUMNS = ("code", "message", "column", "line", "id", "count")


def problems_csv(problems: Iterable[Mapping[str, Any]]) -> str:
    """One row per kind of problem; a spreadsheet that opens it computes nothing."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for problem in problems:
        writer.writerow([_cell({**problem, "message": stored_text(problem)}.get(column)) for column in COLUMNS])
    return text.getvalue()


def _cell(value: object) -> str:
    return "" if value is None else safe_cell(str(value))
