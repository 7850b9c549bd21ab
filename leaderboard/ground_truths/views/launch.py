"""Hosts' pages for the launch with its student preview, and for the copy for the next term."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.forms import CloneForm
from leaderboard.competitions.host_responses import REFUSALS, add_refusal, posted_data, refusal_lines
from leaderboard.competitions.metric_display import competition_metric
from leaderboard.competitions.models import StudentPreview, TruthCheck
from leaderboard.competitions.services import CannotHost
from leaderboard.competitions.views import answered_by_worker

from ..queries.checks import draft_of, shown_findings
from ..queries.launch import launch_needs
from ..services import checks, copying, publishing
from .setup import until_launch


def _accepts_finding(request: HttpRequest) -> bool:
    return "accept" in request.POST


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Making the sample submission"), is_quick=_accepts_finding)
@until_launch("host_competition")
def host_setup_launch(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Summary and checklist before the launch; POST accepts a warning or starts the test of the sample submission."""
    competition, user = page_context.competition, signed_in_user(page_context.user)
    if key := request.POST.get("accept"):
        checks.accept_finding(competition=competition, user=user, key=key)
        return see_other("host_setup_launch", fragment="#warnings", slug=competition.slug)
    if request.method == "POST":
        try:
            publishing.start_preview(competition=competition, user=user)
        except REFUSALS as error:
            messages.error(request, " ".join(refusal_lines(error)))
        return see_other("host_setup_launch", fragment="#needs", slug=competition.slug)
    needs = launch_needs(competition)
    check = TruthCheck.objects.filter(ground_truth=competition.ground_truth_id).first()
    draft = draft_of(competition)
    context = {
        "page_context": page_context,
        "findings": shown_findings(check),
        "is_changed": bool(
            draft and competition.ground_truth and draft.uploaded_at > competition.ground_truth.published_at
        ),
        "checklist": needs,
        "is_ready": all(need.is_there for need in needs),
        "measure": competition_metric(competition.ground_truth),
        "report": check.report if check else None,
        "student_preview": StudentPreview.objects.filter(ground_truth=competition.ground_truth_id).first(),
        "files": competition.data_files.all(),
    }
    return render(request, "ground_truths/host_setup_launch.html", context)


@open_to(Audience.HOSTS)
def host_launch(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Launch the competition by POST; if something is missing, a message on the page of the launch says so."""
    if request.method != "POST":
        return redirect("host_competition", slug=page_context.competition.slug)
    competition, user = page_context.competition, signed_in_user(page_context.user)
    try:
        publishing.launch_competition(competition=competition, user=user, needs_preview=True)
    except CannotHost as error:
        messages.error(request, " ".join(refusal_lines(error)))
        return see_other("host_setup_launch", slug=competition.slug)
    messages.success(request, _("Launched. Give your students the join code or the link on this page."))
    return see_other("host_competition", slug=competition.slug)


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Copying the competition"))
def host_clone(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Copy this competition as a new draft of the viewer."""
    source, user = page_context.competition, signed_in_user(page_context.user)
    if not user.is_host:
        raise PermissionDenied(_("Ask your administrator for permission to host competitions."))
    form = CloneForm(posted_data(request), initial={"title": copying.next_title(source.title)})
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        try:
            copy = copying.clone_competition(competition=source, user=user, **form.cleaned_data)
        except (ValidationError, *REFUSALS) as error:
            status = add_refusal(form, error)
        else:
            messages.success(request, _("“%(title)s” is a new draft.") % {"title": copy})
            return see_other("host_setup", slug=copy.slug)
    context = {"page_context": page_context, "form": form, "baselines": source.baselines.count()}
    return render(request, "ground_truths/host_clone.html", context, status=status)
