"""The check of the ground truth that a board stands on: what was found, and the same again at any time."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other
from leaderboard.scorer.job_slots import JobFailed

from ..access import Audience, PageContext, open_to
from ..models import TruthCheck
from ..services import truth_drafts
from .truth_check_names import check_topics
from .truth_context import metric_or_none


@open_to(Audience.HOSTS)
def host_truth_check(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition, ground_truth = page_context.competition, page_context.competition.ground_truth
    if ground_truth is None:
        return redirect("host_truth", slug=competition.slug)
    if request.method == "POST":
        try:
            truth_drafts.recheck_ground_truth(competition=competition)
            messages.success(request, _("Checked again."))
        except JobFailed:
            messages.error(request, _("The check did not work. Try it again in a moment."))
        return see_other("host_truth_check", fragment="#check", slug=competition.slug)
    check = TruthCheck.objects.filter(ground_truth=ground_truth).first()
    report = check.report if check else {"findings": ground_truth.findings}
    context = {
        "page_context": page_context,
        "ground_truth": ground_truth,
        "check": check,
        "report": report,
        "metric": metric_or_none(ground_truth.metric_key),
        "looked_for": check_topics(report["findings"]),
    }
    return render(request, "competitions/host_truth_check.html", context)
