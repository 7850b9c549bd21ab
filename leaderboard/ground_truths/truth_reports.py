"""Context about drafts and checks of answers, shared by several pages."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.library_messages import stored_text, translated_message
from leaderboard.competitions.models import Competition, TruthCheck, TruthDraft

from .data_files import ANSWERS_IN_DATA
from .services import checks

METRICS_SHOWN_AT_ONCE = 6
TOO_MANY_COLUMNS = "target_columns"
BROKEN = gettext_lazy("The check failed through no fault of your file. Try again in a moment.")


def draft_of(competition: Competition) -> TruthDraft | None:
    """The draft, or None; one query per request. A draft whose check failed was not stored and has no key."""
    draft: TruthDraft | None = getattr(competition, "truth_draft", None)
    return draft if draft is not None and draft.pk else None


def initial_split(draft: TruthDraft) -> dict[str, Any]:
    """Initial values of `AnswersForm` from the draft's split."""
    return {
        "id_column": draft.id_column,
        "public_percent": round(draft.public_share * 100),
        "seed": draft.seed,
        "split_by": "grouped" if draft.group_column else "stratified" if draft.is_stratified else "random",
        "group_column": draft.group_column,
    }


def needs_other_file(draft: TruthDraft) -> bool:
    """Whether choosing another metric cannot help: no metric can score the file, or the chosen one could."""
    if draft.report["ok"]:
        return False
    possible = {fit["key"] for fit in draft.fits if fit["fits"] or fit.get("is_nearly")}
    return not possible or draft.metric in possible


def last_check_report(competition: Competition) -> dict[str, Any]:
    """Context about the last check, of the draft if there is one, else of the current ground truth."""
    draft, ground_truth = draft_of(competition), competition.ground_truth
    if draft is not None:
        return {
            "draft": draft,
            "held_check": draft,
            "report": draft.report,
            "drafted": metric_or_none(draft.metric),
            "checked": draft,
            "needs_other_file": needs_other_file(draft),
            "answer_columns": _answer_columns(draft),
            "question": _question(draft),
            "files_alone_block": _is_blocked_by_data_files(draft.report),
        }
    check = TruthCheck.objects.filter(ground_truth=ground_truth).first() if ground_truth else None
    return {
        "draft": None,
        "held_check": check,
        "question": "",
        "report": check.report if check else None,
        "drafted": metric_or_none(ground_truth.metric) if ground_truth else None,
        "checked": ground_truth,
    }


def _is_blocked_by_data_files(report: dict[str, Any]) -> bool:
    """Whether the only errors are data files that contain answers."""
    blocking = checks.blocking_in(report)
    return bool(blocking) and all(finding["code"] == ANSWERS_IN_DATA for finding in blocking)


def _question(draft: TruthDraft) -> str:
    """The metric's question to confirm before publishing; "" for most metrics."""
    metric = metric_or_none(draft.metric)
    return translated_message(metric.confirmation(draft.params)) if metric else ""


def metric_or_none(key: str) -> metrics.Metric | None:
    """The metric with this key; None if it is unknown or its file is lost."""
    try:
        return metrics.get(key)
    except metrics.UnknownMetric:
        return None


def _answer_columns(draft: TruthDraft) -> dict[str, Any] | None:
    """The choice of answer columns, with the taken or proposed ones; None if there are fewer than two.

    If further columns are the problem, those of the current ground truth are proposed, else the last column, because
    there test sets usually have their answers.
    """
    names = checks.possible_answers(draft)
    if len(names) < 2 or (not draft.report["rows"] and TOO_MANY_COLUMNS not in _blocking(draft)):
        return None
    chosen = draft.answer_choice.get("columns")
    blocking = _blocking(draft)
    is_stuck = needs_other_file(draft) and not set(names).isdisjoint(blocking.values())
    is_asked = not chosen and (is_stuck or TOO_MANY_COLUMNS in blocking)
    ground_truth = draft.competition.ground_truth
    known = [name for name in names if ground_truth and name in ground_truth.submission_columns]
    taken = list(chosen or draft.report.get("target_columns") or names)
    return {
        "names": names,
        "likely": (known or names[-1:]) if is_asked else taken,
        "is_asked": is_asked,
        # The system draws the split, so one of the other columns may be chosen as group column.
        "may_group": bool(draft.report["is_split_by_system"]) and not draft.group_column,
    }


def _blocking(draft: TruthDraft) -> dict[str, str | None]:
    """Code → column of each blocking finding."""
    return {one["code"]: one["column"] for one in checks.blocking_in(draft.report)}


def fitting_metrics(draft: TruthDraft | None, chosen: str) -> dict[str, Any] | None:
    """Metrics with reasons: the usual ones for such answers (`best`), others that fit (`others`), the rest (`unfit`).

    Metrics that fit after correcting a few cells count as fitting. None without suggestions, for example for a file
    that is no table.
    """
    found = draft.fits if draft else None
    if not found:
        return None
    best: list[tuple[metrics.Metric, str]] = []
    others: list[tuple[metrics.Metric, str]] = []
    unfit: list[tuple[metrics.Metric, str]] = []
    known = {metric.key: metric for metric in metrics.catalogue()}
    for fit in found:
        if fit["key"] not in known:
            continue
        choice = known.pop(fit["key"]), stored_text(fit, "reason")
        if not fit["fits"] and not fit.get("is_nearly"):
            unfit.append(choice)
        elif fit["is_usual"] and len(best) < METRICS_SHOWN_AT_ONCE:
            best.append(choice)
        else:
            others.append(choice)
    unfit += [(metric, _("This metric was added after the file was checked.")) for metric in known.values()]
    return {
        "best": best,
        "others": others,
        "unfit": unfit,
        "opens_others": not best or any(metric.key == chosen for metric, _reason in others),
        "opens_unfit": not (best or others) or any(metric.key == chosen for metric, _reason in unfit),
    }
