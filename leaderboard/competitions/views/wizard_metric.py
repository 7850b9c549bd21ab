"""The metric of a file that was looked at: step 3 of the wizard, after the launch a page under Manage."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

import metrics
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.sandbox import outside_metrics
from leaderboard.scorer.job_slots import JobFailed

from ..access import Audience, PageContext, open_to
from ..forms.ground_truth import MetricForm, PublishForm
from ..forms.metric_parameters import ParameterForm
from ..forms.secondary_metrics import SecondaryForm
from ..models import Competition, TruthDraft
from ..services import competitions, publishing, secondary_metrics, truth_drafts
from .examples import with_params
from .host_responses import add_refusal
from .metric_suggestions import fits_of
from .truth_context import (
    BROKEN,
    chosen_metric,
    draft_of,
    initial_split,
    known_parameters,
    last_check_report,
    metric_details,
    metric_groups,
    metric_or_none,
    parameters_in,
    question_about,
)
from .wizard import origin, origin_query, truth_page_name, wizard_context, wizard_step


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
    action = request.POST.get("action", "")
    if request.method == "POST" and action != "parameters":
        return _choose_metric(request, page_context, goes_on=action != "look")
    draft = draft_of(page_context.competition)
    key = chosen_metric(request, page_context.competition, draft)
    parameters = known_parameters(page_context.competition, draft, key)
    if getattr(request, "htmx", False):
        return render(request, "competitions/parameters.html", metric_details(key, parameters))
    return _metric_page(request, page_context, MetricForm(initial={"metric": key}), parameters)


def _choose_metric(request: HttpRequest, page_context: PageContext, *, goes_on: bool) -> HttpResponse:
    """Measure with what was chosen, unless that was done already; then publish, where nothing stands against it."""
    competition, draft = page_context.competition, draft_of(page_context.competition)
    form = MetricForm(request.POST)
    key = chosen_metric(request, competition, draft)
    parameters = parameters_in(request, form, key, truth_drafts.columns_at_hand(competition))
    secondary, status = SecondaryForm(request.POST), 422
    publish_form = PublishForm(request.POST)
    try:
        if all([form.is_valid(), parameters.is_valid(), secondary.is_valid(), publish_form.is_valid()]):
            asked = secondary.cleaned_data["asked"]
            if not _is_measured(draft or competition.ground_truth, key, parameters.cleaned_data, asked):
                draft = _measure(competition, key, parameters.cleaned_data, asked)
            if not goes_on or (draft and not draft.report["ok"]):
                page, here = truth_page_name(competition, "metric"), origin_query(request)
                return see_other(page, query=here, fragment="#check", slug=competition.slug)
            return _publish_and_continue(request, page_context, draft, **publish_form.cleaned_data)
    except competitions.CannotHost as error:
        status = add_refusal(form, error)
    except JobFailed:
        form.add_error(None, BROKEN)
        status = 503
    return _metric_page(request, page_context, form, parameters, secondary, status=status)


def _is_measured(held: Any, key: str, params: dict[str, Any], asked: list[secondary_metrics.MetricWithParams]) -> bool:
    """Whether the draft, or the ground truth where there is none, has this metric with these parameters."""
    if held is None or (held.metric, held.params) != (key, params):
        return False
    return [(one["key"], one["params"]) for one in held.secondary] == [(name, dict(given)) for name, given in asked]


def _measure(
    competition: Competition, key: str, params: dict[str, Any], asked: list[secondary_metrics.MetricWithParams]
) -> TruthDraft:
    draft = draft_of(competition)
    split = initial_split(competition, draft)
    return truth_drafts.draft_truth(
        competition=competition,
        metric=key,
        params=params,
        id_column=split["id_column"],
        public_share=draft.public_share if draft else 0.3,
        seed=draft.seed if draft else 0,
        is_stratified=draft.is_stratified if draft else True,
        group_column=draft.group_column if draft else "",
        secondary=asked,
        wants_fits=True,
    )


def _publish_and_continue(
    request: HttpRequest, page_context: PageContext, draft: TruthDraft | None, *, note: str, is_confirmed: bool
) -> HttpResponse:
    """Publish the draft, where there is one; what is published already stays as it is."""
    competition = page_context.competition
    if draft is not None:
        user = signed_in_user(page_context.user)
        ground_truth = publishing.publish_draft(
            competition=competition, user=user, note=note, is_confirmed=is_confirmed
        )
        words = (
            _("Ground truth %(number)s waits: files are measured with it, and the board stays until you apply it.")
            if competition.candidate_id == ground_truth.pk
            else _("Ground truth %(number)s is published.")
        )
        messages.success(request, words % {"number": ground_truth.number})
        if competitions.make_board_plain(competition=competition, user=signed_in_user(page_context.user)):
            messages.info(request, _("A steady board needs a step, and none can be worked out here: it is plain now."))
    is_launched = competition.launched_at is not None
    following = truth_page_name(competition, "data") if is_launched else origin(request) or "host_setup_limits"
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
    context = {
        **wizard_context(request, page_context, "metric"),
        **last_check_report(competition),
        **metric_details(parameters.key, parameters),
        "form": form,
        "secondary": secondary or SecondaryForm(held=held.secondary if held else ()),
        "outside_off": outside_metrics.why_outside_metrics_are_off(),
        "groups": metric_groups(parameters.key),
        "fits": fits_of(draft, parameters.key),
        "chosen": parameters.key,
        "question": question_about(draft),
        "publish_form": PublishForm(request.POST or None),
        "example": with_params(metrics.get(held.metric), held.params) if held and metric_or_none(held.metric) else None,
    }
    return render(request, "competitions/host_setup_metric.html", context, status=status)
