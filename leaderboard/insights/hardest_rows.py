"""Report of the rows that the best teams get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.boards import ranking
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, GroundTruth, RowReport, Submission
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from metrics.checks.hardest_rows import HardRow as LibraryRow

MAX_TEAMS = 10
MAX_SUSPICIOUS = 20
MAX_ROWS = 60
MIN_AGREEING_SHARE = 0.8
"""A row is suspicious if at least this share of the best files has the same other answer."""
MAX_FACTOR_ERROR = 0.1
"""Relative tolerance by which `HardRow.guess` recognises a slip, such as a wrong decimal point."""
PLACEHOLDERS = ("-1", "-9", "-99", "-999", "-9999", "99", "999", "9999", "99999")


@dataclass(frozen=True)
class HardRow(LibraryRow):
    """A row of a report for templates, with its index `number`."""

    number: int = 0

    @property
    def team_median_text(self) -> str:
        """The teams' median prediction and its spread, as “12.3 ± 0.4”, with the digits that the spread leaves."""
        middle = float(self.other)
        digits = max(0, -floor(log10(self.around / 3))) if 0 < self.around < 1e7 else 2
        digits = min(digits, 6)
        return f"{middle:.{digits}f} ± {self.around:.{digits}f}"

    @property
    def guess(self) -> str:
        """Likely mistake in the answer: `placeholder`, `point` (times 10), `digit` (a tenth), `sign`; "" if none."""
        if len(self.truth) != 1 or not self.off:
            return ""
        answer, prediction = float(self.truth[0]), float(self.other)
        if self.truth[0].strip().removesuffix(".0") in PLACEHOLDERS:
            return "placeholder"
        slips = {"point": 10.0, "digit": 0.1, "sign": -1.0}
        near = (
            kind
            for kind, factor in slips.items()
            if abs(factor * prediction - answer) <= MAX_FACTOR_ERROR * abs(answer)
        )
        return next(near, "") if answer else ""


@dataclass(frozen=True)
class HardRowsReport:
    """A stored report. `suspicious` are the rows on which the best teams agree against the ground truth."""

    targets: Sequence[str]
    files: int
    scored: int
    rows: Sequence[HardRow]
    suspicious: Sequence[HardRow]
    spread: float
    points: Sequence[tuple[float, float]]

    @property
    def is_numeric(self) -> bool:
        return bool(self.points)


def read_report(report: RowReport) -> HardRowsReport:
    found = report.found
    residuals = found["residuals"] or {"points": [], "spread": 0.0, "outliers": []}
    outliers = residuals["outliers"]
    outlier_ids = {row["id"] for row in outliers}
    stored = [*outliers, *(row for row in found["rows"] if row["id"] not in outlier_ids)]
    rows = [HardRow(number=number, **row) for number, row in enumerate(stored)]
    if residuals["points"]:
        suspicious = rows[: len(outliers)]
    else:
        least = max(2, MIN_AGREEING_SHARE * found["files"])
        suspicious = [row for row in rows if row.agree >= least and row.agree > found["files"] / 2]
        suspicious.sort(key=lambda row: (-row.agree, -row.lost))
    return HardRowsReport(
        targets=found["targets"],
        files=found["files"],
        scored=found["scored"],
        rows=rows,
        suspicious=suspicious[:MAX_SUSPICIOUS],
        spread=residuals["spread"],
        points=residuals["points"],
    )


def find_hard_rows(*, competition: Competition) -> RowReport:
    """Compute and store the report: rows on which the best files of the first ten teams lose most.

    Raises `CannotHost` without a ground truth or a score, and `JobFailed`.
    """
    ground_truth = _current_ground_truth(competition)
    found = table_jobs.run_page_job(
        "hardest_rows",
        metric=ground_truth.metric_key,
        truth=str(path_of(ground_truth.file_key, ground_truth.sha256)),
        params=ground_truth.params,
        id_column=ground_truth.id_column,
        submissions=[str(path_of(file.file_key, file.sha256)) for file in _best_files(ground_truth)],
        most=MAX_ROWS,
    )
    report, _made = RowReport.objects.update_or_create(
        ground_truth=ground_truth, defaults={"found": found, "made_at": timezone.now()}
    )
    return report


def _current_ground_truth(competition: Competition) -> GroundTruth:
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("Publish the answers first."))
    ground_truth.competition = competition
    return ground_truth


def _best_files(ground_truth: GroundTruth) -> list[Submission]:
    """The deciding files of the first `MAX_TEAMS` teams. Raises `CannotHost` without any."""
    best = sorted(ranking.best_standings(ground_truth), key=lambda candidate: candidate.order)[:MAX_TEAMS]
    if not best:
        raise CannotHost(_("No team has a score yet."))
    files = Submission.objects.in_bulk([candidate.submission_id for candidate in best])
    return [files[candidate.submission_id] for candidate in best]
