"""Pages of published ground truths: file, check; and of the candidate: preview of its effect, apply, discard."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.common.responses import STOP_POLLING, as_download, see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition, TruthCheck
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.views import answered_by_worker
from leaderboard.scoring import JobFailed

from .. import findings, rescoring
from ..forms import ApplyForm
from ..services import checks
from ..truth_reports import metric_or_none

MOVES_PER_PAGE = 50
# Topic → codes of its findings. Codes without a topic prevent reading the file at all.
CHECK_TOPICS: tuple[tuple[Promise, frozenset[str]], ...] = (
    (gettext_lazy("The first line has the column names"), frozenset({"header_like_row"})),
    (gettext_lazy("No duplicate ids"), frozenset({"repeated_ids", "blank_id", "similar_ids", "swallowed_rows"})),
    (
        gettext_lazy("Spreadsheets and pandas keep the ids as they are"),
        frozenset({"leading_zeros", "ids_like_decimals", "long_ids", "ids_like_dates", "ids_like_nothing"}),
    ),
    (
        gettext_lazy("No blank or odd answers"),
        frozenset({"missing_value", "odd_value", "answer_like_nothing", "similar_answers", "rare_answer"}),
    ),
    (gettext_lazy("Both parts contain every class"), frozenset({"missing_class"})),
    (
        gettext_lazy("The metric can score both parts, and a perfect file gets the best value"),
        frozenset({"unscorable", "empty_split", "self_test", "constant_is_best", "unknown_usage"}),
    ),
    (gettext_lazy("Both parts have similar answers"), frozenset({"distribution_gap"})),
    (gettext_lazy("No group is split between the parts"), frozenset({"group_in_both_parts"})),
    (gettext_lazy("Rows aren't sorted by the answer"), frozenset({"sorted_by_answer"})),
    (gettext_lazy("Ids don't give away the answers"), frozenset({"id_tells_answer"})),
    (
        gettext_lazy("Ids match the files for students"),
        frozenset({"ids_differ", "sample_differs", "other_ids"}),
    ),
    (gettext_lazy("No file for students contains the answers"), frozenset({"answers_in_data", "data_unread"})),
)


@open_to(Audience.ASSISTANTS)
def host_truth_file(request: HttpRequest, page_context: PageContext, number: int) -> HttpResponseBase:
    """Download the answers with the published split; only for hosts and assistants."""
    ground_truth = page_context.competition.ground_truths.filter(number=number).first()
    if ground_truth is None:
        raise Http404(_("This competition has no such answers."))
    return as_download(ground_truth.file_key, f"{page_context.competition.slug}-truth-{number}.csv")


def _accepts_a_finding(request: HttpRequest) -> bool:
    return "accept" in request.POST


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Checking the answers again"), is_quick=_accepts_a_finding)
def host_truth_check(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The check of the current ground truth; POST accepts a warning or checks again."""
    competition, ground_truth = page_context.competition, page_context.competition.ground_truth
    if ground_truth is None:
        return redirect("host_truth", slug=competition.slug)
    if key := request.POST.get("accept"):
        findings.accept_finding(competition=competition, user=signed_in_user(page_context.user), key=key)
        return see_other("host_truth_check", fragment="#warnings", slug=competition.slug)
    if request.method == "POST":
        try:
            checks.recheck_ground_truth(competition=competition)
            messages.success(request, _("Checked again."))
        except JobFailed:
            messages.error(request, _("The check failed. Try again in a moment."))
        return see_other("host_truth_check", fragment="#check", slug=competition.slug)
    check = TruthCheck.objects.filter(ground_truth=ground_truth).first()
    report = check.report if check else {"findings": ground_truth.findings}
    context = {
        "page_context": page_context,
        "ground_truth": ground_truth,
        "check": check,
        "report": report,
        "found": findings.shown_findings(check or TruthCheck(report=report)),
        "metric": metric_or_none(ground_truth.metric_key),
        "looked_for": _check_topics(report["findings"]),
    }
    return render(request, "ground_truths/host_truth_check.html", context)


def _check_topics(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The topics of the check with their number of findings, and whether one of these blocks."""
    topics = []
    for words, codes in CHECK_TOPICS:
        mine = [finding for finding in findings if finding["code"] in codes]
        is_blocking = any(finding["blocking"] for finding in mine)
        topics.append({"words": words, "found": len(mine), "is_blocking": is_blocking})
    return topics


@open_to(Audience.HOSTS)
def host_candidate(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The effect of the candidate on the board; POST applies or discards it. For htmx only the part that changes."""
    if request.method == "POST":
        return _decide(request, page_context)
    is_revealed, current = page_context.competition.revealed_at is not None, page_context.competition.ground_truth
    # After the reveal the private board is the one that counts, so `?board=` is ignored.
    split = Split.PRIVATE if request.GET.get("board") == "private" and not is_revealed else None
    preview = rescoring.preview_candidate(page_context.competition, split=split)
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
        "page": Paginator(preview.moves, MOVES_PER_PAGE).get_page(request.GET.get("page")),
        "form": ApplyForm(),
        "metric_now": metric_or_none(current.metric),
        "metric_then": metric_or_none(preview.ground_truth.metric),
    }
    if getattr(request, "htmx", False):
        status = STOP_POLLING if preview.is_complete else 200
        return render(request, "ground_truths/preview.html", context, status=status)
    return render(request, "ground_truths/host_candidate.html", context)


def _affected_in_private(competition: Competition, preview: rescoring.RescoringPreview, split: Split | None) -> int:
    """Number of teams that change only on the private board before the reveal, so that they must not be notified.

    0 if teams are notified anyway, or while files are being rescored.
    """
    is_hidden = competition.revealed_at is None and split is None
    is_anybody_notified = preview.affected or preview.refused or competition.board_is_hidden
    if not is_hidden or not preview.is_complete or is_anybody_notified:
        return 0
    private = rescoring.preview_candidate(competition, split=Split.PRIVATE)
    return private.affected if private else 0


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
                ngettext(
                    "Now using answers no. %(number)s. %(people)s person notified.",
                    "Now using answers no. %(number)s. %(people)s people notified.",
                    notified,
                )
                % {"number": number, "people": notified},
            )
        elif action == "discard":
            rescoring.discard_candidate(competition=competition, user=signed_in_user(page_context.user))
            messages.info(
                request,
                _("Answers no. %(number)s were discarded. The leaderboard stays as it is.") % {"number": number},
            )
    except competitions.CannotHost as error:
        messages.error(request, error.message)
    return see_other("host_candidate" if competition.candidate_id else "host_truth", slug=competition.slug)
