"""Teams with similar predictions."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.services import competitions
from leaderboard.scorer.job_slots import JobFailed

from .. import similar


@open_to(Audience.HOSTS)
def host_similar(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Shows what the database knows; a POST also compares the best files of all teams, and stores nothing."""
    comparison, refusal, status = None, "", 200
    if request.method == "POST":
        try:
            comparison = similar.compare_answers(competition=page_context.competition)
        except competitions.CannotHost as error:
            refusal, status = error.message, 409
        except (JobFailed, StorageUnreachable, OSError):
            refusal, status = _("The comparison did not work this time. Try it again in a moment."), 503
    same_bytes, same_scores = similar.find_identical_results(page_context.competition)
    context = {
        "page_context": page_context,
        "same_bytes": same_bytes,
        "same_scores": same_scores,
        "comparison": comparison,
        "refusal": refusal,
    }
    return render(request, "insights/host_similar.html", context, status=status)
