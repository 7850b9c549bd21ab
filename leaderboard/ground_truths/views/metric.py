"""Hosts' page to choose the metric of a checked file among all metrics, for a draft or a correction."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.responses import see_other
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import REFUSALS, add_refusal
from leaderboard.competitions.metric_display import worked_example_of
from leaderboard.competitions.views import answered_by_worker

from ..forms import MetricForm, ParameterForm, SecondaryForm
from ..queries.checks import current_truth, draft_of, fitting_metrics, last_check, metric_or_none
from ..services import drafts
from ..specs import TruthSpec
from .answers import publish_checked


def _only_shows_parameters(request: HttpRequest) -> bool:
    return request.POST.get("action") == "parameters"


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Checking the answers with this metric"), is_quick=_only_shows_parameters)
def host_truth_metric(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the page (`?metric=` chooses one). POST: by `action` check with this metric (`look`), show its parameters
    without a script (`parameters`), use it for the draft (`take`), or use it and publish (`use`)."""
    truth = current_truth(page_context.competition)
    requested = (request.POST if request.method == "POST" else request.GET).get("metric", "")
    current = truth.metric if truth else ""
    key = next((key for key in (requested, current) if metric_or_none(key)), drafts.DEFAULT_METRIC)
    if request.method == "POST" and not _only_shows_parameters(request):
        return _choose_metric(request, page_context, key)
    parameters = ParameterForm(key, truth)
    if getattr(request, "htmx", False):
        context = {"metric": metrics.get(key), "parameters": parameters}
        return render(request, "ground_truths/parameters.html", context)
    return _metric_page(request, page_context, MetricForm(initial={"metric": key}), parameters)


def _choose_metric(request: HttpRequest, page_context: PageContext, key: str) -> HttpResponse:
    """Check the answers with the chosen metric, unless that was done already; then do the posted `action`."""
    competition, action = page_context.competition, request.POST.get("action")
    draft, truth = draft_of(competition), current_truth(competition)
    form, secondary = MetricForm(request.POST), SecondaryForm(request.POST)
    parameters, status = ParameterForm.posted(request, key, truth, form), 422
    try:
        if all([form.is_valid(), parameters.is_valid(), secondary.is_valid()]):
            earlier = TruthSpec.of(truth)
            spec = replace(earlier, metric=key, params=parameters.cleaned_data, secondary=secondary.metrics)
            if spec != earlier:
                draft = drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
            if action == "look" or (draft and not draft.report["ok"]):
                return see_other("host_truth_metric", fragment="#check", slug=competition.slug)
            if action == "take":
                return see_other("host_setup", fragment="#proposal", slug=competition.slug)
            note, is_confirmed = form.cleaned_data["note"], form.cleaned_data["is_confirmed"]
            return publish_checked(request, page_context, note=note, is_confirmed=is_confirmed)
    except REFUSALS as error:
        status = add_refusal(form, error)
    return _metric_page(request, page_context, form, parameters, secondary, status=status)


def _metric_page(
    request: HttpRequest,
    page_context: PageContext,
    form: MetricForm,
    parameters: ParameterForm,
    secondary: SecondaryForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    competition = page_context.competition
    check = last_check(competition)
    context = {
        "page_context": page_context,
        "data_page": "host_truth" if competition.launched_at else "host_setup",
        **check,
        "metric": metrics.get(parameters.key),
        "parameters": parameters,
        "form": form,
        "secondary": secondary or SecondaryForm(truth=check["checked"]),
        "groups": _metric_groups(parameters.key),
        "fits": fitting_metrics(check["draft"], parameters.key),
        "chosen": parameters.key,
        "example": worked_example_of(check["drafted"]) if check["drafted"] else None,
    }
    return render(request, "ground_truths/host_truth_metric.html", context, status=status)


def _metric_groups(chosen: str) -> list[tuple[str, bool, list[metrics.Metric]]]:
    """(title, whether it contains the chosen metric and is open, metrics) for each group of metrics."""
    groups: dict[str, list[metrics.Metric]] = {}
    for metric in metrics.catalogue():
        groups.setdefault(metric.group, []).append(metric)
    return [(title, any(metric.key == chosen for metric in group), group) for title, group in groups.items()]
