"""Data files, for those who accepted the rules.

All submissions in one download, and the competition itself.
"""

from __future__ import annotations

import logging

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common.responses import as_download, streamed_zip
from leaderboard.scorer.job_slots import JobFailed

from ..access import Audience, PageContext, open_to
from ..services import folders, publishing, submissions_zip

log = logging.getLogger(__name__)


@open_to(Audience.VISITORS)
def data(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    files = list(page_context.competition.data_files.all())
    return render(
        request,
        "competitions/data.html",
        {"page_context": page_context, "files": files, "lock": data_lock_reason(page_context)},
    )


def data_lock_reason(page_context: PageContext) -> str:
    """What keeps this visitor from the data: `join`, `wait`, `rules`, or nothing."""
    if page_context.has_data:
        return ""
    if page_context.membership is None:
        return "join"
    return "wait" if page_context.at < page_context.competition.opens_at else "rules"


@open_to(Audience.VISITORS)
def data_file(request: HttpRequest, page_context: PageContext, name: str) -> HttpResponseBase:
    """Download, whole and unread by the browser."""
    if not page_context.has_data:
        return redirect("data", slug=page_context.competition.slug)
    wanted = page_context.competition.data_files.filter(name=name).first()
    if wanted is None:
        raise Http404(_("This competition has no such file."))
    return as_download(wanted.file_key, name)


@open_to(Audience.VISITORS)
def sample_submission(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    ground_truth = page_context.competition.ground_truth
    if not page_context.has_data or ground_truth is None:
        return redirect("data", slug=page_context.competition.slug)
    try:
        text = publishing.sample_submission_of(ground_truth)
    except JobFailed:
        log.exception("sample submission of %s", ground_truth)
        messages.error(request, _("The sample submission could not be made. Please tell your host."))
        return redirect("data", slug=page_context.competition.slug)
    answer = HttpResponse(text, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="sample_submission.csv"'
    return answer


@open_to(Audience.HOSTS)
def host_submissions_zip(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    """Made while it is sent, so it begins at once however much there is."""
    pieces = submissions_zip.submissions_zip(page_context.competition, page_context.at)
    return streamed_zip(pieces, f"{page_context.competition.slug}-submissions.zip")


@open_to(Audience.HOSTS)
def host_export(request: HttpRequest, page_context: PageContext) -> HttpResponseBase:
    """The competition as a folder that any site of this kind makes a draft of. It holds the answers."""
    return streamed_zip(folders.export_zip(page_context.competition), f"{page_context.competition.slug}.zip")
