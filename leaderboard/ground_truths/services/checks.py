"""Check answer files: a draft with the split that publishing would make; a published ground truth again, because data
files and the library's checks change later."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, GroundTruth, TruthCheck, TruthDraft
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from metrics.core.custom_parameters import SUBMISSION_COLUMNS
from metrics.core.messages import with_templates
from metrics.reading.headers import read_header
from metrics.reading.split_words import USAGE

from ..specs import non_answer_columns, role_columns, secondary_of
from .data_files import LeakSearch, data_files_to_compare, sample_lines

log = logging.getLogger(__name__)

HEAD_BYTES = 65_536
UNREADABLE_PROBLEMS = frozenset(
    {"separator", "encoding", "column_unnamed", "row_width", "quote", "comment", "usage_name"}
)
CONVERTIBLE_PROBLEMS = UNREADABLE_PROBLEMS | {"decimal_comma"}

CURABLE_BY_SETTINGS = frozenset(
    {
        *("target_columns", "role_missing", "unscored", "parameter"),
        "repeated_ids",
        "blank_id",
        "group_missing",
        "one_group",
    }
)
"""Problems that another metric, id column or group may cure, so that these are proposed all the same."""


@dataclass(frozen=True)
class SplitFile:
    """A draft's answers in a temporary folder with their `Usage` column, the problems that prevent a split, and the
    search of the data files for these answers."""

    path: Path
    problems: list[dict[str, Any]]
    leaks: LeakSearch | None = None


def check_draft(draft: TruthDraft, split: SplitFile | None = None) -> dict[str, Any]:
    """The report on a draft: all findings, with the split that publishing would make, or a `split` made before. Columns
    of a submission that the host has not named are those of the sample submission. Raises `JobFailed`."""
    if draft.answer_choice.get("is_asked"):
        return _report_without_answers(draft)
    draft.params |= _columns_of_sample(draft)
    published = published_split(draft.competition)
    with tempfile.TemporaryDirectory() as folder:
        split = split or split_file(draft, Path(folder))
        report = _check_file(
            draft,
            split.path,
            split.leaks,
            metric=draft.metric,
            id_column=draft.id_column or None,
            secondary=secondary_of(draft),
            group=draft.group_column or None,
            **_earlier_file(published),
        )
    report["findings"] += _other_ids(report.get("differs"))
    codes = {finding["code"] for finding in report["findings"]}
    missing = [{**problem, "blocking": True, "why": ""} for problem in split.problems if problem["code"] not in codes]
    notes = [{**note, "blocking": False, "why": ""} for note in draft.reading_notes if note["code"] not in codes]
    report["findings"] = missing + report["findings"] + notes
    if split.problems:  # checked without a split, so scores on the two parts are unknown
        report |= {"ok": False, "baselines": [], "apart": {}}
    report["is_split_by_system"] = not split.problems and USAGE not in column_names(draft)
    report["split_kept_from"] = published.number if published and report["is_split_by_system"] else None
    is_convertible = any(finding["code"] in CONVERTIBLE_PROBLEMS for finding in blocking_in(report))
    report["as_meant"] = _spreadsheet_changes(draft) if is_convertible else []
    return report


def _report_without_answers(draft: TruthDraft) -> dict[str, Any]:
    """The report on a draft whose host has yet to choose the columns that students predict."""
    table = table_jobs.run_page_job("describe_table", truth=str(path_of(draft.file_key)))
    names = [column["name"] for column in table["columns"]]
    return {
        **asdict(metrics.TruthReport(rows=table["rows"], id_column=draft.id_column or names[0])),
        "ok": False,
        "is_split_by_system": USAGE not in names,
        "split_kept_from": None,
        "as_meant": [],
    }


def recheck_draft(*, competition: Competition) -> None:
    """Check the draft, if there is one, again with the current data files. Raises `JobFailed`."""
    for draft in TruthDraft.objects.filter(competition=competition):
        draft.report = check_draft(draft)
        draft.save(update_fields=["report", "params"])


def recheck_ground_truth(*, competition: Competition) -> TruthCheck:
    """Check the current ground truth again with the current data files, and store the report.

    Raises `CannotHost` without a ground truth, and `JobFailed` if the check itself broke.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("There are no answers yet."))
    report = _check_file(
        ground_truth,
        path_of(ground_truth.file_key, ground_truth.sha256),
        metric=ground_truth.metric_key,
        id_column=ground_truth.id_column,
        secondary=ground_truth.secondary_with_versions,
    )
    values = {"report": report, "checked_at": timezone.now()}
    return TruthCheck.objects.update_or_create(ground_truth=ground_truth, defaults=values)[0]


def _columns_of_sample(draft: TruthDraft) -> dict[str, str]:
    """The parameter with a submission's columns from the sample submission, if the metric has it and it is empty."""
    try:
        names = {parameter.name for parameter in metrics.get(draft.metric).parameters}
    except metrics.UnknownMetric:  # the file of a custom metric is lost
        return {}
    if SUBMISSION_COLUMNS not in names or draft.params.get(SUBMISSION_COLUMNS):
        return {}
    id_column = draft.id_column or next(iter(column_names(draft)), "")
    lines = sample_lines(draft.competition, id_column)
    return {SUBMISSION_COLUMNS: lines} if lines else {}


def finding_key(finding: Mapping[str, Any]) -> str:
    """Key of a finding by code, column and message: the same after every check."""
    text = "|".join(str(finding.get(name, "")) for name in ("code", "column", "message"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def accept_finding(*, competition: Competition, user: User, key: str) -> None:
    """Mark a warning of the draft and of the current ground truth as accepted by a host. Errors cannot be accepted."""
    drafts = TruthDraft.objects.filter(competition=competition)
    published = TruthCheck.objects.filter(ground_truth=competition.ground_truth_id)
    stored: list[TruthDraft | TruthCheck] = [*drafts, *published]
    for check in stored:
        warnings = {finding_key(finding) for finding in check.report.get("findings", ()) if not finding["blocking"]}
        if key in warnings - {accepted["key"] for accepted in check.accepted_findings}:
            check.accepted_findings.append({"key": key, "by": user.pk, "at": timezone.now().isoformat()})
            check.save(update_fields=["accepted_findings"])


def suggest_metrics(draft: TruthDraft, split: SplitFile) -> list[dict[str, Any]]:
    """Metrics that fit the answers, best first; [] if the job fails, because they are only suggestions."""
    try:
        answer = table_jobs.run_page_job(
            "suggest_metrics",
            truth=str(split.path),
            id_column=draft.id_column or None,
            group=draft.group_column or None,
            sample=data_files_to_compare(draft.competition)[0],
        )
    except table_jobs.JobFailed:
        log.exception("no metrics could be suggested for %s", draft.file_key)
        return []
    fits: list[dict[str, Any]] = answer["fits"]
    return fits


def file_to_publish(draft: TruthDraft, folder: Path) -> Path:
    """The file to publish: with the split, and without the group column unless a metric reads it."""
    path = split_file(draft, folder).path
    is_read = not draft.group_column or draft.group_column in role_columns(draft)
    return (
        path
        if is_read
        else rewrite_answers("drop_columns", path, folder / "published.csv", columns=[draft.group_column])
    )


def rewrite_answers(job: str, source: Path, target: Path, **settings: Any) -> Path:
    """Change an answer file by a job of `page_jobs`, and return the path of the result, `target`.

    The jobs are `drop_columns`, `name_split` (the column of the split becomes `Usage`) and `write_plain_lists` (lists
    lose brackets and quotes). Raises `JobFailed`.
    """
    table_jobs.run_page_job(job, truth=str(source), target=str(target), **settings)
    return target


def convert_spreadsheet(source: Path, target: Path) -> list[dict[str, Any]]:
    """Convert a spreadsheet's file to plain CSV in `target`; returns the changes, [] if no conversion helps.

    Raises `JobFailed`.
    """
    answer = table_jobs.run_page_job("convert_truth", truth=str(source), target=str(target))
    changes: list[dict[str, Any]] = answer["changes"]
    return changes


def header_of(path: Path) -> list[str]:
    """The column names in the first line of an answer file."""
    with path.open("rb") as file:
        return read_header(file.read(HEAD_BYTES))


def column_names(truth: TruthDraft | GroundTruth) -> list[str]:
    return header_of(path_of(truth.file_key))


def target_columns(truth: TruthDraft | GroundTruth) -> list[str]:
    """The columns of an answer file without ID and `Usage`."""
    names = column_names(truth)
    id_column = truth.id_column or (names[0] if names else "")
    return [name for name in names if name not in (id_column, USAGE)]


def possible_answers(draft: TruthDraft) -> list[str]:
    """Columns of a draft's file that students could predict: all but the ID and those read by metrics or the split."""
    other_columns = {*role_columns(draft), draft.group_column}
    return [name for name in target_columns(draft) if name not in other_columns]


def is_metrics_fault(report: dict[str, Any]) -> bool:
    """Whether another metric may score the file: its answers are readable, and this one cannot score them."""
    return any(finding["code"] in ("unscorable", "self_test") for finding in blocking_in(report))


def blocking_in(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in report.get("findings", ()) if finding["blocking"]]


def is_unreadable(report: dict[str, Any]) -> bool:
    """Whether the file has a form of spreadsheets, which may be converted, so that its columns are uncertain."""
    return any(finding["code"] in UNREADABLE_PROBLEMS for finding in blocking_in(report))


def is_readable(draft: TruthDraft) -> bool:
    """Whether rows and columns of the answers are certain; before that nothing can be proposed."""
    codes = {finding["code"] for finding in blocking_in(draft.report)}
    is_asked = draft.answer_choice.get("is_asked") and draft.report["rows"]
    is_read = is_asked or draft.report["public_rows"] or codes & CURABLE_BY_SETTINGS
    return bool(is_read and possible_answers(draft)) and not is_unreadable(draft.report)


def published_split(competition: Competition) -> GroundTruth | None:
    """The ground truth whose split later ones keep: after the launch a row never changes between public and private."""
    return competition.ground_truth if competition.launched_at else None


def _check_file(
    checked: TruthDraft | GroundTruth, truth: Path, leaks: LeakSearch | None = None, **settings: Any
) -> dict[str, Any]:
    """The library's report on an answer file, with findings about data files that contain the answers."""
    sample, tests = data_files_to_compare(checked.competition)
    if leaks is None or leaks.other_columns != frozenset(non_answer_columns(checked)):
        leaks = LeakSearch(checked, truth)
    report = table_jobs.run_page_job(
        "check_truth", truth=str(truth), params=checked.params, sample=sample, tests=tests, **settings
    )
    if id_column := report["id_column"]:  # None if the file could not be read
        if id_column != leaks.id_column:
            leaks = LeakSearch(checked, truth, id_column)
        report["findings"] = leaks.findings() + report["findings"]
    report["ok"] = not blocking_in(report)
    return report


def _other_ids(differs: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Finding about a correction whose IDs differ from the current answers, for example by lost leading zeros."""
    if not differs or not differs["added"] + differs["gone"]:
        return []
    message = metrics.Message(
        "The ids differ from the current answers: {added} new, {gone} removed.",
        added=differs["added"],
        gone=differs["gone"],
    )
    why = metrics.Message("All submissions so far would become invalid. Is this what you want?")
    return [with_templates(metrics.Finding("other_ids", message, blocking=False, why=why))]


def split_file(draft: TruthDraft, folder: Path) -> SplitFile:
    """The draft's answers with a `Usage` column, drawn if the file has none. Raises `JobFailed`."""
    source = _without_features(draft, folder)
    if USAGE in header_of(source):
        return SplitFile(source, [])
    target = folder / "truth.csv"
    answer = table_jobs.run_page_job(
        "add_split",
        truth=str(source),
        share=draft.public_share,
        seed=draft.seed,
        secret=draft.split_secret,
        stratify=draft.is_stratified,
        id_column=draft.id_column or None,
        target=str(target),
        group=draft.group_column or None,
        roles=role_columns(draft),
        **_earlier_file(published_split(draft.competition)),
    )
    return SplitFile(source if answer["problems"] else target, answer["problems"])


def _earlier_file(published: GroundTruth | None) -> dict[str, str | None]:
    """Arguments of a job for the answers whose split is kept."""
    return {
        "earlier": str(path_of(published.file_key)) if published else None,
        "earlier_id_column": published.id_column if published else None,
    }


def _without_features(draft: TruthDraft, folder: Path) -> Path:
    """The draft's file, or a copy without the columns that students do not predict and no metric or split reads."""
    source, read_columns = path_of(draft.file_key), (*role_columns(draft), draft.group_column)
    features = [name for name in draft.answer_choice.get("left_out", ()) if name not in read_columns]
    return rewrite_answers("drop_columns", source, folder / "answers.csv", columns=features) if features else source


def _spreadsheet_changes(draft: TruthDraft) -> list[dict[str, Any]]:
    """Changes of a conversion of the draft's file; [] if no conversion helps or the job failed."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            return convert_spreadsheet(path_of(draft.file_key), Path(folder) / "as_meant.csv")
    except table_jobs.JobFailed:
        log.exception("%s could not be read as a spreadsheet's", draft.file_key)
        return []
