"""Which rows cost the best teams most, and a corrected ground truth made of what the host sees there."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.common.library_messages import stored_text
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, GroundTruth, RowReport, Submission, TruthDraft
from leaderboard.competitions.ranking import standings
from leaderboard.competitions.services.competitions import CannotHost
from leaderboard.competitions.services.secondary_metrics import asked_secondary
from leaderboard.competitions.services.truth_drafts import draft_truth
from leaderboard.scorer import jobs_for_pages

TOP_TEAMS = 10
MOST_ROWS = 60


def find_hard_rows(*, competition: Competition) -> RowReport:
    """Find the rows where the best files of the first ten teams lose most under the current ground truth, and store
    the report.

    Raises `CannotHost` while no team has a score, and `child.JobFailed`.
    """
    ground_truth = _current_ground_truth(competition)
    found = jobs_for_pages.run_page_job(
        "hardest_rows",
        metric=ground_truth.metric_key,
        truth=str(path_of(ground_truth.file_key, ground_truth.sha256)),
        params=ground_truth.params,
        id_column=ground_truth.id_column,
        submissions=[str(path_of(file.file_key, file.sha256)) for file in _best_files(ground_truth)],
        most=MOST_ROWS,
    )
    report, _made = RowReport.objects.update_or_create(
        ground_truth=ground_truth, defaults={"found": found, "made_at": timezone.now()}
    )
    return report


def correct_truth(
    *, competition: Competition, corrected: Mapping[str, Sequence[str]], ignored: Sequence[str]
) -> TruthDraft:
    """Make a draft of the current ground truth with other answers: id → one for each target column of the report.

    Rows of the `ignored` ids no longer count. The draft goes the way of every other: checked, published, measured,
    compared, applied. Raises `CannotHost` where another one is on that way, and `child.JobFailed`.
    """
    ground_truth = _current_ground_truth(competition)
    report = RowReport.objects.filter(ground_truth=ground_truth).first()
    if report is None or not (corrected or ignored):
        raise CannotHost(_("Choose at least one row to correct or to ignore."))
    if TruthDraft.objects.filter(competition=competition).exists():
        raise CannotHost(
            _("Another file is being checked under “Ground truth and metric”: publish it or throw it away there first.")
        )
    if competition.candidate_id is not None:
        raise CannotHost(_("Another ground truth is waiting: apply or discard it first."))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "corrected.csv"
        answer = jobs_for_pages.run_page_job(
            "correct_rows",
            truth=str(path_of(ground_truth.file_key, ground_truth.sha256)),
            id_column=ground_truth.id_column,
            columns=report.found["targets"],
            corrected={name: list(cells) for name, cells in corrected.items()},
            ignored=list(ignored),
            target=str(target),
        )
        if answer["problems"]:
            raise CannotHost(
                _("The ground truth cannot be corrected."), [stored_text(one) for one in answer["problems"]]
            )
        data = target.read_bytes()
    return draft_truth(
        competition=competition,
        metric=ground_truth.metric,
        params=ground_truth.params,
        file_name=f"corrected-{ground_truth.number}.csv",
        chunks=[data],
        id_column=ground_truth.id_column,
        secondary=asked_secondary(ground_truth.secondary),
    )


def _current_ground_truth(competition: Competition) -> GroundTruth:
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("Publish a ground truth first."))
    ground_truth.competition = competition
    return ground_truth


def _best_files(ground_truth: GroundTruth) -> list[Submission]:
    """What decides now for the first ten teams."""
    best = sorted(standings.expected_candidates(ground_truth), key=lambda one: one.order)[:TOP_TEAMS]
    if not best:
        raise CannotHost(_("No team has a score yet, so no row is known to be hard."))
    files = Submission.objects.in_bulk([one.submission_id for one in best])
    return [files[one.submission_id] for one in best]
