"""Published ground truths: their files, and the one that waits: what would change, apply or discard."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common.responses import STOP_POLLING, as_download, see_other, signed_in_user

from ..access import Audience, PageContext, open_to
from ..forms.ground_truth import ApplyForm
from ..models import GroundTruth, TruthCheck
from ..models.competition import Split
from ..services import competitions, rescoring
from .truth_context import metric_or_none

MOVES_PER_PAGE = 50


@open_to(Audience.ASSISTANTS)
def host_truth_file(request: HttpRequest, page_context: PageContext, number: int) -> HttpResponseBase:
    """The answers, for hosts and assistants alone, with the split that was published."""
    ground_truth = page_context.competition.ground_truths.filter(number=number).first()
    if ground_truth is None:
        raise Http404(_("This competition has no such ground truth."))
    return as_download(ground_truth.file_key, f"{page_context.competition.slug}-truth-{number}.csv")


@open_to(Audience.HOSTS)
def host_candidate(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Who would move under the ground truth that waits. Asked by htmx, the measured part alone."""
    if request.method == "POST":
        return _decide(request, page_context)
    is_revealed, current = page_context.competition.revealed_at is not None, page_context.competition.ground_truth
    # After the reveal the private board is the one that counts, and the only one to ask for.
    split = Split.PRIVATE if request.GET.get("board") == "private" and not is_revealed else None
    preview = rescoring.preview_candidate(page_context.competition, split=split)
    if preview is None or current is None:
        return redirect("host_truth", slug=page_context.competition.slug)
    context = {
        "page_context": page_context,
        "preview": preview,
        "is_private": is_revealed or split is not None,
        "asks_private": not is_revealed and split is None,
        "is_part": getattr(request, "htmx", False),
        "current": current,
        "differs": None if split else _differences(preview.ground_truth),
        "page": Paginator(preview.moves, MOVES_PER_PAGE).get_page(request.GET.get("page")),
        "form": ApplyForm(),
        "metric_now": metric_or_none(current.metric),
        "metric_then": metric_or_none(preview.ground_truth.metric),
    }
    if getattr(request, "htmx", False):
        status = STOP_POLLING if preview.is_complete else 200
        return render(request, "competitions/preview.html", context, status=status)
    return render(request, "competitions/host_candidate.html", context)


def _differences(candidate: GroundTruth) -> dict[str, Any] | None:
    """Which answers are others than those that count, as the check of the candidate found them."""
    check = TruthCheck.objects.filter(ground_truth=candidate).first()
    return check.report.get("differs") if check else None


def _decide(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Apply or discard the candidate."""
    competition = page_context.competition
    action = request.POST.get("action")
    number = competition.candidate.number if competition.candidate else None
    try:
        form = ApplyForm(request.POST)
        if action == "apply" and form.is_valid():
            notified = rescoring.apply_candidate(
                competition=competition, user=signed_in_user(page_context.user), **form.cleaned_data
            )
            messages.success(
                request,
                _("The board stands on ground truth %(number)s now. People told: %(people)s.")
                % {"number": number, "people": notified},
            )
        elif action == "discard":
            rescoring.discard_candidate(competition=competition, user=signed_in_user(page_context.user))
            messages.info(
                request, _("Ground truth %(number)s is discarded; the board stays as it is.") % {"number": number}
            )
    except competitions.CannotHost as error:
        messages.error(request, error.message)
    return see_other("host_candidate" if competition.candidate_id else "host_truth", slug=competition.slug)
