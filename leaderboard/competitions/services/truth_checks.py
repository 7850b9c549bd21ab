"""Check a published ground truth again: data files, and what the library looks for, change after publication."""

from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.common.storage import path_of
from leaderboard.scorer import jobs_for_pages

from ..models import Competition, TruthCheck
from .competitions import CannotHost
from .data_files import leak_findings
from .secondary_metrics import non_answer_columns
from .truth_drafts import data_files_to_compare


def recheck_ground_truth(*, competition: Competition) -> TruthCheck:
    """Check the current ground truth as its draft was checked, against the data files as they are now, and store the
    report.

    Raises `CannotHost` without a ground truth, and `child.JobFailed` when the check itself broke.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("No ground truth is published yet."))
    truth = path_of(ground_truth.file_key, ground_truth.sha256)
    sample, tests = data_files_to_compare(competition)
    report = jobs_for_pages.run_page_job(
        "check_truth",
        metric=ground_truth.metric_key,
        truth=str(truth),
        params=ground_truth.params,
        id_column=ground_truth.id_column,
        sample=sample,
        tests=tests,
        secondary=ground_truth.secondary_asked,
    )
    leaks = leak_findings(competition, truth.read_bytes(), ground_truth.id_column, non_answer_columns(ground_truth))
    report["findings"] = leaks + report["findings"]
    report["ok"] = not any(finding["blocking"] for finding in report["findings"])
    values = {"report": report, "checked_at": timezone.now()}
    return TruthCheck.objects.update_or_create(ground_truth=ground_truth, defaults=values)[0]
