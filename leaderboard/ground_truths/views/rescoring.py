"""The page of the answers while a correction is pending: preview of its effect, apply, discard."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.common.responses import STOP_POLLING, see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import PageContext
from leaderboard.competitions.models import Competition, TruthCheck
from leaderboard.competitions.models.competition import Split

from ..forms import ApplyForm
from ..queries import RescoringPreview, history_of, metric_or_none, preview_candidate, shown_findings
from ..services import rescoring

MOVES_PER_PAGE = 50
DECISIONS = ("apply", "discard")


def correction_page(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The effect of the candidate on the board; for htmx only the part that changes."""
    is_revealed, current = page_context.competition.revealed_at is not None, page_context.competition.ground_truth
    # After the reveal the private board is the one that counts, so `?board=` is ignored.
    split = Split.PRIVATE if request.GET.get("board") == "private" and not is_revealed else None
    preview = preview_candidate(page_context.competition, split=split)
    if preview is None or current is None:
        return redirect("host_truth", slug=page_context.competition.slug)
    check = TruthCheck.objects.filter(ground_truth=preview.ground_truth).first() if split is None else None
    context = {
        "page_context": page_context,
        "preview": preview,
        "is_private": is_revealed or split is not None,
        "asks_private": not is_revealed and split is None,
        "affected_in_private": _affected_in_private(page_context.competition, preview, split),
        "is_part": getattr(request, "htmx", False),
        "current": current,
        # Answers that differ from the current ground truth, from the check of the candidate.
        "differs": check.report.get("differs") if check else None,
        "findings": shown_findings(check),
        **history_of(page_context.competition),
        "page": Paginator(preview.moves, MOVES_PER_PAGE).get_page(request.GET.get("page")),
        "form": ApplyForm(),
        "metric_now": metric_or_none(current.metric),
        "metric_then": metric_or_none(preview.ground_truth.metric),
    }
    if getattr(request, "htmx", False):
        status = STOP_POLLING if preview.is_complete else 200
        return render(request, "ground_truths/preview.html", context, status=status)
    return render(request, "ground_truths/correction.html", context)


def _affected_in_private(competition: Competition, preview: RescoringPreview, split: Split | None) -> int:
    """Number of teams that change only on the private board before the reveal, so that they must not be notified.

    0 if teams are notified anyway, or while files are being rescored.
    """
    is_hidden = competition.revealed_at is None and split is None
    is_anybody_notified = preview.affected or preview.refused or competition.board_is_hidden
    if not is_hidden or not preview.is_complete or is_anybody_notified:
        return 0
    private = preview_candidate(competition, split=Split.PRIVATE)
    return private.affected if private else 0


def decide(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Apply or discard the candidate."""
    competition, user = page_context.competition, signed_in_user(page_context.user)
    number = competition.candidate.number if competition.candidate else None
    action, form = request.POST.get("action"), ApplyForm(request.POST)
    try:
        if action == "apply" and form.is_valid():
            notified = rescoring.apply_candidate(competition=competition, user=user, **form.cleaned_data)
            message = ngettext(
                "Now using answers no. %(number)s. %(people)s person notified.",
                "Now using answers no. %(number)s. %(people)s people notified.",
                notified,
            )
            messages.success(request, message % {"number": number, "people": notified})
        elif action == "discard":
            rescoring.discard_candidate(competition=competition, user=user)
            message = _("Answers no. %(number)s were discarded. The leaderboard stays as it is.")
            messages.info(request, message % {"number": number})
    except competitions.CannotHost as error:
        messages.error(request, error.message)
    return see_other("host_truth", slug=competition.slug)
