"""Data files, for those who accepted the rules."""

from __future__ import annotations

import logging

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common.responses import as_download
from leaderboard.scorer._places import JobFailed

from ..access import Audience, Visit, open_to
from ..services import publishing

log = logging.getLogger(__name__)


@open_to(Audience.VISITORS)
def data(request: HttpRequest, visit: Visit) -> HttpResponse:
    files = list(visit.competition.data_files.all())
    return render(request, "visitors/data.html", {"visit": visit, "files": files, "lock": lock_of(visit)})


def lock_of(visit: Visit) -> str:
    """What keeps this visitor from the data: `join`, `wait`, `rules`, or nothing."""
    if visit.has_data:
        return ""
    if visit.membership is None:
        return "join"
    return "wait" if visit.at < visit.competition.opens_at else "rules"


@open_to(Audience.VISITORS)
def data_file(request: HttpRequest, visit: Visit, name: str) -> HttpResponseBase:
    """Download, whole and unread by the browser."""
    if not visit.has_data:
        return redirect("data", slug=visit.competition.slug)
    wanted = visit.competition.data_files.filter(name=name).first()
    if wanted is None:
        raise Http404(_("This competition has no such file."))
    return as_download(wanted.file_key, name)


@open_to(Audience.VISITORS)
def sample_submission(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    ground_truth = visit.competition.ground_truth
    if not visit.has_data or ground_truth is None:
        return redirect("data", slug=visit.competition.slug)
    try:
        text = publishing.sample_submission_of(ground_truth)
    except JobFailed:
        log.exception("sample submission of %s", ground_truth)
        messages.error(request, _("The sample submission could not be made. Please tell your host."))
        return redirect("data", slug=visit.competition.slug)
    answer = HttpResponse(text, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="sample_submission.csv"'
    return answer
