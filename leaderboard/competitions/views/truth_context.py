"""What pages about ground truths start from: the draft, the last file, the metric chosen, its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.forms import Form
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.library_messages import translated_message
from leaderboard.sandbox import outside_metrics

from ..forms.metric_parameters import ParameterForm
from ..models import Competition, TruthCheck, TruthDraft
from ..services import truth_drafts

BROKEN = gettext_lazy("The check did not work, through no fault of your file. Try it again in a moment.")


def draft_of(competition: Competition) -> TruthDraft | None:
    """The draft, asked for once per request. One whose check broke was never stored and is none."""
    draft: TruthDraft | None = getattr(competition, "truth_draft", None)
    return draft if draft is not None and draft.pk else None


def needs_other_file(draft: TruthDraft) -> bool:
    """Whether no choice of a metric helps: nothing can score the file, or the metric that fits is not what blocks."""
    if draft.report["ok"]:
        return False
    fits = draft.report.get("fits", ())
    possible = {fit["key"] for fit in fits if fit["fits"] or fit.get("is_nearly")}
    return not possible or draft.metric in possible


@dataclass
class AnswerColumns:
    """The columns taken for answers, where there are several, and those of them that probably are some."""

    names: list[str]
    likely: list[str]
    is_asked: bool = False
    may_group: bool = False
    """Whether the rows are still to be split, so that one of the others may say which belong together."""


def answer_columns(draft: TruthDraft | None) -> AnswerColumns | None:
    """Where further columns block, those that the ground truth has are proposed, else the last one: there a whole
    test set has its answers, as a rule."""
    names = truth_drafts.taken_for_answers(draft) if draft else []
    if draft is None or len(names) < 2:
        return None
    may_group = bool(draft.report["is_split_by_system"]) and not draft.group_column
    blocking = {one["code"]: one["column"] for one in draft.report["findings"] if one["blocking"]}
    is_stuck = needs_other_file(draft) and not set(names).isdisjoint(blocking.values())
    if not is_stuck and truth_drafts.TOO_MANY_COLUMNS not in blocking:
        return AnswerColumns(names, names, may_group=may_group)
    ground_truth = draft.competition.ground_truth
    known = [name for name in names if ground_truth and name in ground_truth.submission_columns]
    return AnswerColumns(names, known or names[-1:], is_asked=True, may_group=may_group)


def file_at_hand(competition: Competition, draft: TruthDraft | None) -> str:
    """The name of the file that a check without upload would take."""
    last = draft or competition.ground_truths.order_by("number").last()
    return last.file_name if last else ""


def chosen_metric(request: HttpRequest, competition: Competition, draft: TruthDraft | None) -> str:
    asked = (request.POST if request.method == "POST" else request.GET).get("metric", "")
    held = draft or competition.ground_truth
    known = [key for key in (asked, held.metric if held else "") if metric_or_none(key)]
    return known[0] if known else "accuracy"


def known_values(competition: Competition, draft: TruthDraft | None, key: str) -> dict[str, Any]:
    """The parameters of the draft or the ground truth, where it has this metric, else those that fit the draft."""
    held = draft or competition.ground_truth
    if held and held.metric == key:
        return dict(held.params)
    fits: list[dict[str, Any]] = draft.report.get("fits", []) if draft else []
    fit = next((dict(fit["params"]) for fit in fits if fit["key"] == key), {})
    return {**fit, **truth_drafts.proposed_parameters(key)}


def known_parameters(competition: Competition, draft: TruthDraft | None, key: str) -> ParameterForm:
    values = known_values(competition, draft, key)
    return ParameterForm(key, values=values, columns=truth_drafts.columns_at_hand(competition))


def initial_split(competition: Competition, draft: TruthDraft | None) -> dict[str, Any]:
    if draft is None:
        return {"id_column": competition.ground_truth.id_column if competition.ground_truth else ""}
    return {
        "id_column": draft.id_column,
        "public_percent": round(draft.public_share * 100),
        "seed": draft.seed,
        "split_by": "grouped" if draft.group_column else "stratified" if draft.is_stratified else "random",
        "group_column": draft.group_column,
    }


def parameters_in(request: HttpRequest, form: Form, key: str, columns: list[str]) -> ParameterForm:
    """What was filled in; for another metric than the one whose parameters were shown, the defaults to look at."""
    metric = metrics.get(key)
    if metric.parameters and request.POST.get("parameters_of") != key:
        form.add_error(
            "metric",
            _("%(metric)s has parameters: look at them, then check the file.")
            % {"metric": translated_message(metric.title)},
        )
        return proposed_form(key, columns)
    return ParameterForm(key, request.POST, columns=columns)


def proposed_form(key: str, columns: list[str]) -> ParameterForm:
    return ParameterForm(key, values=truth_drafts.proposed_parameters(key), columns=columns)


def metric_or_none(key: str) -> metrics.Metric | None:
    """None when the metric's file is gone."""
    try:
        return metrics.get(key)
    except metrics.UnknownMetric:
        return None


def question_about(draft: TruthDraft | None) -> str:
    """What the host is asked before such a draft is published; nothing for most."""
    metric = metric_or_none(draft.metric) if draft else None
    return translated_message(metric.confirmation(draft.params)) if draft and metric else ""


@dataclass
class MetricGroup:
    """Metrics of one kind in the chooser; the group of the chosen one stands open."""

    title: str
    is_open: bool = False
    members: list[metrics.Metric] = field(default_factory=list)


def metric_groups(chosen: str) -> list[MetricGroup]:
    """All metrics of the chooser, by their groups."""
    found: dict[str, MetricGroup] = {}
    for metric in outside_metrics.selectable_metrics():
        group = found.setdefault(metric.group, MetricGroup(metric.group))
        group.members.append(metric)
        group.is_open |= metric.key == chosen
    return list(found.values())


def metric_details(key: str, parameters: ParameterForm) -> dict[str, Any]:
    return {"metric": metrics.get(key), "parameters": parameters}


def last_check_report(competition: Competition) -> dict[str, Any]:
    """What the last check found: of the draft, or of the published ground truth."""
    draft, ground_truth = draft_of(competition), competition.ground_truth
    if draft is not None:
        return {
            "draft": draft,
            "report": draft.report,
            "drafted": metric_or_none(draft.metric),
            "checked": draft,
            "needs_other_file": needs_other_file(draft),
            "answer_columns": answer_columns(draft),
            "files_alone_block": truth_drafts.blocks_by_files_alone(draft.report),
        }
    check = TruthCheck.objects.filter(ground_truth=ground_truth).first() if ground_truth else None
    found = check.report if check else None
    return {
        "draft": None,
        "report": found,
        "drafted": metric_or_none(ground_truth.metric) if ground_truth else None,
        "checked": ground_truth,
    }
