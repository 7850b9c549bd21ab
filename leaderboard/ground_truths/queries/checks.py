"""Checks of answers as pages show them: findings with their fixes, answer columns, metrics that fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import stored_text, translated_message
from leaderboard.competitions.models import Competition, GroundTruth, TruthCheck, TruthDraft

from ..services import checks
from ..services.data_files import ANSWERS_IN_DATA

MAX_USUAL_METRICS = 6
TOO_MANY_COLUMNS = "target_columns"
SPLIT_FINDINGS = frozenset({"distribution_gap", "missing_class", "group_in_both_parts", "empty_split"})


def draft_of(competition: Competition) -> TruthDraft | None:
    """The draft, or None; one query per request. A draft whose check failed was not stored and has no key."""
    draft: TruthDraft | None = getattr(competition, "truth_draft", None)
    return draft if draft is not None and draft.pk else None


def current_truth(competition: Competition | None) -> TruthDraft | GroundTruth | None:
    """The draft, else the current ground truth: what hosts see and change."""
    return (draft_of(competition) or competition.ground_truth) if competition else None


def last_truth(competition: Competition) -> TruthDraft | GroundTruth | None:
    """The draft, else the last ground truth: its file is used if none is uploaded."""
    return draft_of(competition) or competition.ground_truths.order_by("number").last()


def metric_or_none(key: str) -> metrics.Metric | None:
    """The metric with this key; None if it is unknown or its file is lost."""
    try:
        return metrics.get(key)
    except metrics.UnknownMetric:
        return None


# --- findings ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShownFinding:
    """One finding; `fix` is the action that the page offers: `remove_leaks`, `convert`, `redraw` or ""."""

    finding: Mapping[str, Any]
    key: str
    fix: str

    @property
    def is_blocking(self) -> bool:
        return bool(self.finding["blocking"])


@dataclass(frozen=True)
class ShownFindings:
    """Findings in display order: errors, open warnings, accepted warnings."""

    errors: list[ShownFinding]
    warnings: list[ShownFinding]
    accepted: list[ShownFinding]

    @property
    def open(self) -> list[ShownFinding]:
        return [*self.errors, *self.warnings]


def shown_findings(check: TruthDraft | TruthCheck | None, *, may_fix: bool = False) -> ShownFindings:
    """The findings of a check, with `may_fix` including fixes for some of them."""
    shown = ShownFindings([], [], [])
    report = check.report if check else {}
    accepted_keys = {accepted["key"] for accepted in check.accepted_findings} if check else set()
    for finding in report.get("findings", ()):
        key = checks.finding_key(finding)
        group = shown.errors if finding["blocking"] else shown.accepted if key in accepted_keys else shown.warnings
        group.append(ShownFinding(finding, key, _fix_of(finding, report) if may_fix else ""))
    return shown


def _fix_of(finding: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    code = finding["code"]
    if code == ANSWERS_IN_DATA:
        return "remove_leaks"
    if code in checks.CONVERTIBLE_PROBLEMS and report.get("as_meant"):
        return "convert"
    return "redraw" if code in SPLIT_FINDINGS else ""


# --- the last check ---------------------------------------------------------------------------------------------


def last_check(competition: Competition, *, may_fix: bool = False) -> dict[str, Any]:
    """Context about the last check, of the draft if there is one, else of the current ground truth."""
    draft, ground_truth = draft_of(competition), competition.ground_truth
    truth: TruthDraft | GroundTruth | None = draft or ground_truth
    check: TruthDraft | TruthCheck | None = draft
    if draft is None and ground_truth is not None:
        check = TruthCheck.objects.filter(ground_truth=ground_truth).first()
    return {
        "draft": draft,
        "checked": truth,
        "report": check.report if check else None,
        "checked_at": check.checked_at if isinstance(check, TruthCheck) else None,
        "findings": shown_findings(check, may_fix=may_fix),
        "drafted": metric_or_none(truth.metric) if truth else None,
        "question": _question(draft) if draft else "",
        "needs_other_file": draft is not None and needs_other_file(draft),
        "answer_columns": _answer_columns(draft) if draft else None,
        "files_alone_block": draft is not None and _is_blocked_by_data_files(draft.report),
    }


def needs_other_file(draft: TruthDraft) -> bool:
    """Whether choosing another metric cannot help: no metric can score the file, or the chosen one could."""
    if draft.report["ok"]:
        return False
    possible = {fit["key"] for fit in draft.fits if _can_score(fit)}
    return not possible or draft.metric in possible


def _can_score(fit: Mapping[str, Any]) -> bool:
    """Whether a metric fits, if need be after correcting a few cells."""
    return bool(fit["fits"] or fit.get("is_nearly"))


def _is_blocked_by_data_files(report: dict[str, Any]) -> bool:
    """Whether the only errors are data files that contain answers."""
    return {finding["code"] for finding in checks.blocking_in(report)} == {ANSWERS_IN_DATA}


def _question(draft: TruthDraft) -> str:
    """The metric's question to confirm before publishing; "" for most metrics."""
    metric = metric_or_none(draft.metric)
    return translated_message(metric.confirmation(draft.params)) if metric else ""


def chosen_answers(draft: TruthDraft | None) -> list[str]:
    """The columns that students predict; [] if unknown."""
    return list(draft.report.get("target_columns") or draft.answer_choice.get("columns") or []) if draft else []


def _answer_columns(draft: TruthDraft) -> dict[str, Any] | None:
    """The choice of answer columns, with the taken or proposed ones; None if there are fewer than two.

    If further columns are the problem, those of the current ground truth are proposed, else the last column, because
    there test sets usually have their answers.
    """
    names = checks.possible_answers(draft)
    columns_by_code = {finding["code"]: finding.get("column") for finding in checks.blocking_in(draft.report)}
    has_too_many = TOO_MANY_COLUMNS in columns_by_code
    if len(names) < 2 or (not draft.report["rows"] and not has_too_many):
        return None
    chosen = draft.answer_choice.get("columns")
    is_stuck = needs_other_file(draft) and not set(names).isdisjoint(columns_by_code.values())
    is_asked = not chosen and (is_stuck or has_too_many)
    ground_truth = draft.competition.ground_truth
    current = [name for name in names if ground_truth and name in ground_truth.submission_columns]
    return {
        "names": names,
        "likely": (current or names[-1:]) if is_asked else chosen or draft.report.get("target_columns") or names,
        "is_asked": is_asked,
        # The system draws the split, so one of the other columns may be chosen as group column.
        "may_group": bool(draft.report["is_split_by_system"]) and not draft.group_column,
    }


# --- metrics ----------------------------------------------------------------------------------------------------


def fitting_metrics(draft: TruthDraft | None, chosen: str) -> dict[str, Any] | None:
    """Metrics with reasons: the usual ones for such answers (`best`), others that fit (`others`), the rest (`unfit`).

    Metrics that fit after correcting a few cells count as fitting. None without suggestions, for example for a file
    that is no table.
    """
    if draft is None or not draft.fits:
        return None
    groups: dict[str, list[tuple[metrics.Metric, str]]] = {"best": [], "others": [], "unfit": []}
    catalogue = {metric.key: metric for metric in metrics.catalogue()}
    for fit in draft.fits:
        if metric := catalogue.pop(fit["key"], None):
            is_best = fit["is_usual"] and len(groups["best"]) < MAX_USUAL_METRICS
            group = "unfit" if not _can_score(fit) else "best" if is_best else "others"
            groups[group].append((metric, stored_text(fit, "reason")))
    is_new = _("This metric was added after the file was checked.")
    groups["unfit"] += [(metric, is_new) for metric in catalogue.values()]

    def has_chosen(group: str) -> bool:
        return any(metric.key == chosen for metric, _reason in groups[group])

    return {
        **groups,
        "opens_others": not groups["best"] or has_chosen("others"),
        "opens_unfit": not (groups["best"] or groups["others"]) or has_chosen("unfit"),
    }
