"""Hosts' page to choose the metric of a checked file among all metrics, for a draft or a correction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.library_messages import translated_message
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import add_refusal
from leaderboard.competitions.metric_display import worked_example_of
from leaderboard.competitions.models import Competition, TruthDraft
from leaderboard.competitions.views import answered_by_worker
from leaderboard.scoring import JobFailed

from .. import findings, publishing
from ..forms import MetricForm, ParameterForm, PublishForm, SecondaryForm
from ..services import checks, drafts
from ..specs import TruthSpec, proposed_parameters
from ..truth_reports import BROKEN, draft_of, fitting_metrics, last_check_report, metric_or_none


def _only_shows_parameters(request: HttpRequest) -> bool:
    return request.POST.get("action") == "parameters"


MEASURING = gettext_lazy("Checking the answers with this metric")


@open_to(Audience.HOSTS)
@answered_by_worker(MEASURING, is_quick=_only_shows_parameters)
def host_truth_metric(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the page (`?metric=` chooses one). POST: by `action` check with this metric (`look`), show its parameters
    without a script (`parameters`), use it for the draft (`take`), or use it and publish (`use`)."""
    competition = page_context.competition
    draft, action = draft_of(competition), request.POST.get("action", "")
    held = draft or competition.ground_truth
    asked = (request.POST if request.method == "POST" else request.GET).get("metric", "")
    known = [key for key in (asked, held.metric if held else "") if metric_or_none(key)]
    key = known[0] if known else "accuracy"
    if request.method == "POST" and action != "parameters":
        return _choose_metric(request, page_context, key, action)
    parameters = parameter_form(competition, key)
    if getattr(request, "htmx", False):
        context = {"metric": metrics.get(key), "parameters": parameters}
        return render(request, "ground_truths/parameters.html", context)
    return _metric_page(request, page_context, MetricForm(initial={"metric": key}), parameters)


def parameter_form(competition: Competition, key: str) -> ParameterForm:
    """The form with a metric's parameters: the stored ones, else those suggested for the answers."""
    draft = draft_of(competition)
    last = draft or competition.ground_truth
    is_same = last is not None and last.metric == key
    values = last.params if last and is_same else proposed_parameters(key, draft.fits if draft else ())
    return ParameterForm(key, values=values, columns=columns_of_last_truth(competition))


def columns_of_last_truth(competition: Competition) -> list[str]:
    """Columns, without ID and `Usage`, of the file that is used if none is uploaded; [] without one."""
    last = drafts.last_truth(competition)
    return checks.target_columns(last) if last else []


def _choose_metric(request: HttpRequest, page_context: PageContext, key: str, action: str) -> HttpResponse:
    """Check the answers with the chosen metric, unless that was done already; then do `action`."""
    competition, draft = page_context.competition, draft_of(page_context.competition)
    held = draft or competition.ground_truth
    form, secondary, publish_form = MetricForm(request.POST), SecondaryForm(request.POST), PublishForm(request.POST)
    parameters, status = posted_parameters(request, form, key, columns_of_last_truth(competition)), 422
    try:
        if all([form.is_valid(), parameters.is_valid(), secondary.is_valid(), publish_form.is_valid()]):
            last_spec = TruthSpec.of(held)
            spec = replace(last_spec, metric=key, params=parameters.cleaned_data, secondary=secondary.metrics)
            if spec != last_spec:
                draft = drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
            if action == "look" or (draft and not draft.report["ok"]):
                return see_other("host_truth_metric", fragment="#check", slug=competition.slug)
            if action == "take":
                return see_other("host_setup", fragment="#proposal", slug=competition.slug)
            return publish_checked(request, page_context, draft, **publish_form.cleaned_data)
    except competitions.CannotHost as error:
        status = add_refusal(form, error)
    except JobFailed:
        form.add_error(None, BROKEN)
        status = 503
    return _metric_page(request, page_context, form, parameters, secondary, status=status)


def posted_parameters(request: HttpRequest, form: Form, key: str, columns: list[str]) -> ParameterForm:
    """The form with the posted parameters. If the page showed those of another metric, its defaults, with an error that
    asks to review them."""
    metric = metrics.get(key)
    if not metric.parameters or request.POST.get("parameters_of") == key:
        return ParameterForm(key, request.POST, columns=columns)
    words = _("%(metric)s has parameters. Review them, then check the file.")
    form.add_error("metric", words % {"metric": translated_message(metric.title)})
    return ParameterForm(key, values=proposed_parameters(key), columns=columns)


def publish_checked(
    request: HttpRequest, page_context: PageContext, draft: TruthDraft | None, **chosen: Any
) -> HttpResponse:
    """Publish the draft, if there is one, and redirect to the next page. `chosen` are the fields of `PublishForm`."""
    competition, user = page_context.competition, signed_in_user(page_context.user)
    if draft is not None:
        ground_truth = publishing.publish_draft(competition=competition, user=user, **chosen)
        words = (
            _("Answers no. %(number)s are pending. The leaderboard stays unchanged until you apply them.")
            if competition.candidate_id == ground_truth.pk
            else _("Answers no. %(number)s are in use.")
        )
        messages.success(request, words % {"number": ground_truth.number})
        if competition.launched_at is None:
            publishing.start_preview(competition=competition, user=user)
    following = "host_truth" if competition.launched_at else "host_setup_launch"
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
    about = last_check_report(competition)
    held_metric = metric_or_none(held.metric) if held else None
    context = {
        "page_context": page_context,
        "data_page": "host_truth" if competition.launched_at else "host_setup",
        **about,
        "found": findings.shown_findings(about["held_check"]),
        "metric": metrics.get(parameters.key),
        "parameters": parameters,
        "form": form,
        "secondary": secondary or SecondaryForm(held=held.secondary if held else ()),
        "groups": _metric_groups(parameters.key),
        "fits": fitting_metrics(draft, parameters.key),
        "chosen": parameters.key,
        "publish_form": PublishForm(request.POST or None),
        "example": worked_example_of(held_metric) if held and held_metric else None,
    }
    return render(request, "ground_truths/host_truth_metric.html", context, status=status)


def _metric_groups(chosen: str) -> list[tuple[str, bool, list[metrics.Metric]]]:
    """(title, whether it contains the chosen metric and is open, metrics) for each group of metrics."""
    groups: dict[str, list[metrics.Metric]] = {}
    for metric in metrics.catalogue():
        groups.setdefault(metric.group, []).append(metric)
    return [(title, any(one.key == chosen for one in members), members) for title, members in groups.items()]
