"""The metric of a file that was looked at: step 3 of the wizard, after the launch a page under Manage."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

import metrics
from leaderboard.common.library_messages import stored_text, translated_message
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.sandbox import outside_metrics
from leaderboard.scorer.job_slots import JobFailed

from ..access import Audience, PageContext, open_to
from ..forms.ground_truth import MetricForm, ParameterForm, PublishForm, SecondaryForm
from ..models import TruthDraft
from ..services import competitions, publishing, truth_drafts
from .examples import with_params
from .host_responses import add_refusal
from .wizard import draft_of, origin_of, origin_query, truth_page_name, wizard_context, wizard_step
from .wizard_truth import BROKEN, last_check_report, metric_or_none, secondary_of

METRICS_SHOWN_AT_ONCE = 6


@open_to(Audience.HOSTS)
@wizard_step("metric")
def host_setup_metric(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _metric_step(request, page_context)


@open_to(Audience.HOSTS)
def host_truth_metric(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _metric_step(request, page_context)


def _metric_step(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET shows (`?metric=` chooses); POST measures with another metric (`look`, `parameters` without a script), or
    takes the metric and goes on."""
    competition = page_context.competition
    draft, action = draft_of(competition), request.POST.get("action", "")
    held = draft or competition.ground_truth
    asked = (request.POST if request.method == "POST" else request.GET).get("metric", "")
    known = [key for key in (asked, held.metric if held else "") if metric_or_none(key)]
    key = known[0] if known else "accuracy"
    if request.method == "POST" and action != "parameters":
        return _choose_metric(request, page_context, key, goes_on=action != "look")
    if held and held.metric == key:
        values = dict(held.params)
    else:
        fits: list[dict[str, Any]] = draft.report.get("fits", []) if draft else []
        fitting: dict[str, Any] = next((fit["params"] for fit in fits if fit["key"] == key), {})
        values = {**fitting, **truth_drafts.proposed_parameters(key)}
    parameters = ParameterForm(key, values=values, columns=truth_drafts.columns_at_hand(competition))
    if getattr(request, "htmx", False):
        context = {"metric": metrics.get(key), "parameters": parameters}
        return render(request, "competitions/parameters.html", context)
    return _metric_page(request, page_context, MetricForm(initial={"metric": key}), parameters)


def _choose_metric(request: HttpRequest, page_context: PageContext, key: str, *, goes_on: bool) -> HttpResponse:
    """Measure with what was chosen, unless that was done already; then publish, where nothing stands against it."""
    competition, draft = page_context.competition, draft_of(page_context.competition)
    held = draft or competition.ground_truth
    form, secondary, publish_form = MetricForm(request.POST), SecondaryForm(request.POST), PublishForm(request.POST)
    parameters, status = _posted_parameters(request, form, key, truth_drafts.columns_at_hand(competition)), 422
    try:
        if all([form.is_valid(), parameters.is_valid(), secondary.is_valid(), publish_form.is_valid()]):
            params = parameters.cleaned_data
            also = [(name, dict(given)) for name, given in secondary.cleaned_data["asked"]]
            if held is None or (held.metric, held.params, secondary_of(held)) != (key, params, also):
                draft = truth_drafts.draft_truth(
                    competition=competition,
                    metric=key,
                    params=params,
                    id_column=held.id_column if held else "",
                    public_share=draft.public_share if draft else 0.3,
                    seed=draft.seed if draft else 0,
                    is_stratified=draft.is_stratified if draft else True,
                    group_column=draft.group_column if draft else "",
                    secondary=also,
                    wants_fits=True,
                )
            if not goes_on or (draft and not draft.report["ok"]):
                page, here = truth_page_name(competition, "metric"), origin_query(request)
                return see_other(page, query=here, fragment="#check", slug=competition.slug)
            return _publish_and_continue(request, page_context, draft, publish_form)
    except competitions.CannotHost as error:
        status = add_refusal(form, error)
    except JobFailed:
        form.add_error(None, BROKEN)
        status = 503
    return _metric_page(request, page_context, form, parameters, secondary, status=status)


def _posted_parameters(request: HttpRequest, form: MetricForm, key: str, columns: list[str]) -> ParameterForm:
    """What was filled in; for another metric than the one whose parameters were shown, the defaults to look at."""
    metric = metrics.get(key)
    if not metric.parameters or request.POST.get("parameters_of") == key:
        return ParameterForm(key, request.POST, columns=columns)
    words = _("%(metric)s has parameters: look at them, then check the file.")
    form.add_error("metric", words % {"metric": translated_message(metric.title)})
    return ParameterForm(key, values=truth_drafts.proposed_parameters(key), columns=columns)


def _publish_and_continue(
    request: HttpRequest, page_context: PageContext, draft: TruthDraft | None, form: PublishForm
) -> HttpResponse:
    """Publish the draft, where there is one; what is published already stays as it is."""
    competition, user = page_context.competition, signed_in_user(page_context.user)
    if draft is not None:
        ground_truth = publishing.publish_draft(competition=competition, user=user, **form.cleaned_data)
        words = (
            _("Ground truth %(number)s waits: files are measured with it, and the board stays until you apply it.")
            if competition.candidate_id == ground_truth.pk
            else _("Ground truth %(number)s is published.")
        )
        messages.success(request, words % {"number": ground_truth.number})
        if competitions.make_board_plain(competition=competition, user=user):
            messages.info(request, _("A steady board needs a step, and none can be worked out here: it is plain now."))
    is_launched = competition.launched_at is not None
    following = truth_page_name(competition, "data") if is_launched else origin_of(request) or "host_setup_limits"
    return see_other("host_candidate" if competition.candidate_id else following, slug=competition.slug)


def _metric_page(
    request: HttpRequest,
    page_context: PageContext,
    form: MetricForm,
    parameters: ParameterForm,
    secondary: SecondaryForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    competition, draft = page_context.competition, draft_of(page_context.competition)
    held = draft or competition.ground_truth
    held_metric = metric_or_none(held.metric) if held else None
    # What the host is asked before such a draft is published; nothing for most.
    question = held_metric.confirmation(draft.params) if draft and held_metric else ""
    context = {
        **wizard_context(request, page_context, "metric"),
        **last_check_report(competition),
        "metric": metrics.get(parameters.key),
        "parameters": parameters,
        "form": form,
        "secondary": secondary or SecondaryForm(held=held.secondary if held else ()),
        "outside_off": outside_metrics.why_outside_metrics_are_off(),
        "groups": _metric_groups(parameters.key),
        "fits": _fitting_metrics(draft, parameters.key),
        "chosen": parameters.key,
        "question": translated_message(question),
        "publish_form": PublishForm(request.POST or None),
        "example": with_params(held_metric, held.params) if held and held_metric else None,
    }
    return render(request, "competitions/host_setup_metric.html", context, status=status)


def _metric_groups(chosen: str) -> list[tuple[str, bool, list[metrics.Metric]]]:
    """All metrics of the chooser by their groups: title, whether it stands open, because it has the chosen one, and
    the metrics."""
    groups: dict[str, list[metrics.Metric]] = {}
    for metric in outside_metrics.selectable_metrics():
        groups.setdefault(metric.group, []).append(metric)
    return [(title, any(one.key == chosen for one in members), members) for title, members in groups.items()]


def _fitting_metrics(draft: TruthDraft | None, chosen: str) -> dict[str, Any] | None:
    """What is offered for a draft, each with the reason: the usual metrics for such answers (also where a few cells
    must be corrected first), others that can read them, and the rest. None where nobody has looked, or where the file
    is no table."""
    found = draft.report.get("fits") if draft else None
    if not found:
        return None
    best: list[tuple[metrics.Metric, str]] = []
    others: list[tuple[metrics.Metric, str]] = []
    unfit: list[tuple[metrics.Metric, str]] = []
    known = {metric.key: metric for metric in outside_metrics.selectable_metrics()}
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
    unfit += [(metric, _("This metric is new since the file was checked.")) for metric in known.values()]
    return {
        "best": best,
        "others": others,
        "unfit": unfit,
        "opens_others": not best or any(metric.key == chosen for metric, _reason in others),
        "opens_unfit": not (best or others) or any(metric.key == chosen for metric, _reason in unfit),
    }
