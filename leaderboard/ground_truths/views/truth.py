"""Hosts' page of the answers: check a correction; list of all published ground truths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.storage import TooLarge
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import add_refusal
from leaderboard.competitions.models import Competition
from leaderboard.competitions.views import answered_by_worker
from leaderboard.scoring import JobFailed

from .. import findings, rescoring
from ..forms import AnswersForm
from ..services import drafts
from ..specs import TruthSpec
from ..truth_reports import BROKEN, draft_of, initial_split, last_check_report
from .truth_metric import publish_checked


def _reads_no_file(request: HttpRequest) -> bool:
    return "accept" in request.POST or request.POST.get("action") == "discard"


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Checking the answers"), is_quick=_reads_no_file)
def host_truth(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the page. POST: check an answer file with its split, or by `action`: convert it from a spreadsheet's format
    (`as_meant`), choose its answer columns (`keep`), publish it as candidate (`publish`), `discard` it. The field
    `accept` accepts a warning."""
    if request.method != "POST":
        return _data_page(request, page_context, answers_form(page_context.competition))
    if key := request.POST.get("accept"):
        user = signed_in_user(page_context.user)
        findings.accept_finding(competition=page_context.competition, user=user, key=key)
        return _see_data(page_context.competition, "#check")
    actions = {"as_meant": _convert_draft, "keep": _convert_draft, "discard": _discard, "publish": _publish}
    return actions.get(request.POST.get("action", ""), _check_answers)(request, page_context)


def answers_form(
    competition: Competition, request: HttpRequest | None = None, kind: Callable[..., AnswersForm] = AnswersForm
) -> AnswersForm:
    """The form with the posted values, else with those of the last check."""
    draft = draft_of(competition)
    has_split = competition.ground_truth_id is not None if draft is None else not draft.report["is_split_by_system"]
    # Without an upload the last file is checked.
    last = draft or competition.ground_truths.order_by("number").last()
    about_file: dict[str, Any] = {
        "has_file": last.file_name if last else "",
        # After the launch each row keeps its part, so a redraw is not offered.
        "has_split": has_split and competition.launched_at is None,
    }
    if request is not None:
        return kind(request.POST, request.FILES, **about_file)
    if draft is None:
        id_column = competition.ground_truth.id_column if competition.ground_truth else ""
        return kind(initial={"id_column": id_column}, **about_file)
    return kind(initial=initial_split(draft), **about_file)


def _check_answers(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    form, status = answers_form(competition, request), 422
    try:
        if form.is_valid():
            _draft_from_form(competition, form)
            return _see_data(competition, "#check")
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    except JobFailed:
        form.add_error(None, BROKEN)
        status = 503
    return _data_page(request, page_context, form, status=status)


def _draft_from_form(competition: Competition, form: AnswersForm) -> None:
    """Draft the truth from a valid form.

    Before the launch a new file gets the most usual metric for its answers; a correction keeps the current metric.
    """
    is_new = form.cleaned_data["file"] and competition.launched_at is None
    spec = TruthSpec.of(None if is_new else draft_of(competition) or competition.ground_truth)
    drafts.save_draft(competition=competition, spec=replace(spec, **form.split, **form.upload), suggests_metrics=True)


def _see_data(competition: Competition, fragment: str = "") -> HttpResponse:
    return see_other("host_truth", fragment=fragment, slug=competition.slug)


def _convert_draft(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Convert the draft's file from a spreadsheet's format, or choose its answer columns."""
    competition, status = page_context.competition, 422
    form = answers_form(competition)
    try:
        if request.POST["action"] == "as_meant":
            drafts.apply_spreadsheet_conversion(competition=competition)
        else:
            names, group = request.POST.getlist("answers"), request.POST.get("group", "")
            drafts.choose_answers(competition=competition, names=names, group=group)
        return _see_data(competition, "#check")
    except competitions.CannotHost as error:
        messages.error(request, str(error))
    except JobFailed:
        messages.error(request, str(BROKEN))
        status = 503
    return _data_page(request, page_context, form, status=status)


def _publish(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Publish the draft with its metric; if the metric needs a confirmation, a redirect to the page of the metric."""
    draft = draft_of(page_context.competition)
    if draft is not None and metrics.get(draft.metric).confirmation(draft.params):
        return see_other("host_truth_metric", fragment="#check", slug=page_context.competition.slug)
    try:
        return publish_checked(request, page_context, draft)
    except competitions.CannotHost as error:
        messages.error(request, " ".join([str(error), *error.details]))
    except JobFailed:
        messages.error(request, str(BROKEN))
    return _see_data(page_context.competition, "#check")


def _discard(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    drafts.discard_draft(competition=page_context.competition)
    messages.info(request, _("The checked file was discarded."))
    return _see_data(page_context.competition)


def _data_page(
    request: HttpRequest,
    page_context: PageContext,
    form: AnswersForm,
    *,
    status: int = 200,
) -> HttpResponse:
    competition = page_context.competition
    about = last_check_report(competition)
    context = {
        "page_context": page_context,
        **about,
        "found": findings.shown_findings(about["held_check"]),
        "form": form,
        "discarded": rescoring.discarded_numbers(competition),
        "history": competition.ground_truths.select_related("published_by").order_by("-number"),
    }
    return render(request, "ground_truths/host_truth.html", context, status=status)
