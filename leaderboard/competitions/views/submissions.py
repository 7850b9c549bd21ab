"""What a team handed in: the list, one file's receipt, its bytes, its problems, the final picks."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.responses import as_download, see_other, signed_in_user

from ..access import Audience, PageContext, open_to
from ..forms.student import NoteForm
from ..models import Refusal, Submission
from ..models.competition import Split
from ..ranking import ladder, reveal, shake_up, standings
from ..services import receipts, submitting
from .host_responses import own_submission
from .problems_csv import problems_csv
from .shown_scores import NO_SCORES, ShownScores, shown_scores_of
from .submission_progress import SubmissionProgress, TodayCard
from .team_chart import score_chart

PAGE = 50
TABS = (
    ("all", gettext_lazy("All")),
    ("scored", gettext_lazy("Scored")),
    ("invalid", gettext_lazy("Invalid")),
    ("finals", gettext_lazy("Finals")),
)


@open_to(Audience.MEMBERS)
def submissions(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _submissions_page(request, page_context, request.GET.get("show", "all"))


def _submissions_page(request: HttpRequest, page_context: PageContext, show: str) -> HttpResponse:
    mine = Submission.objects.none()
    if page_context.membership is not None:
        mine = Submission.objects.filter(team=page_context.membership.team).select_related("user")
    best = _deciding_submissions(page_context)
    picks = _picked_submissions(page_context, best)
    can_pick = page_context.membership is not None and page_context.at < page_context.closes_at
    # The picks of a disqualified team decide nothing, and stay stored.
    marks_stand = can_pick or page_context.is_disqualified
    selected = _selected_finals(mine) if marks_stand else {pk for pk, is_by_system in picks.items() if not is_by_system}
    page = Paginator(_filter_submissions(mine, show, {*picks, *selected}), PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    shown = shown_scores_of(rows, page_context)
    # Ticks that could not be saved come back as they were made.
    ticked = {pk for pk in request.GET.getlist("tick") if _is_uuid(pk)} or selected
    context = {
        "page_context": page_context,
        "show": show if show in dict(TABS) else "all",
        "tabs": TABS,
        "page": page,
        "rows": [_submission_row(row, shown.get(str(row.pk), NO_SCORES), picks, ticked) for row in rows],
        "selected": selected,
        "unpicked": _unpicked(page_context, best),
        # Picks that this page does not show are sent along, so that saving the page keeps them.
        "selected_elsewhere": sorted(ticked - {str(row.pk) for row in rows}),
        "picks": picks,
        "hindsight": _missed_final(page_context),
        "can_pick": can_pick,
        "sees_private": page_context.sees_private,
        "is_told_at_once": page_context.sees_exact,
        "offers_picks": any(row.status == "scored" and not row.is_late and not row.hidden_at for row in rows),
        "chart": _chart(page_context),
    }
    return render(request, "competitions/submissions.html", context)


@open_to(Audience.MEMBERS)
def submission(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    """The receipt: everything that a score rests on."""
    found = own_submission(page_context, submission_id)
    is_own = page_context.membership is not None and page_context.membership.team_id == found.team_id
    form = NoteForm(request.POST if request.method == "POST" else None, initial={"note": found.note})
    if request.method == "POST":
        if not is_own:
            raise Http404(_("You have no submission with this number."))
        if form.is_valid():
            submitting.save_note(submission=found, note=form.cleaned_data["note"])
            messages.success(request, _("The note is saved."))
            return see_other("submission", slug=page_context.competition.slug, submission_id=found.pk)
    progress = SubmissionProgress(page_context, found, TodayCard(page_context))
    ground_truth = page_context.competition.ground_truth
    context = {
        "page_context": page_context,
        "submission": found,
        "note_form": form if is_own else None,
        "progress": progress,
        "ground_truth": ground_truth,
        # All digits: a receipt is compared with the scorer at home.
        "full": {split: repr(value) for split, value in progress.scores.items()},
        "receipt": _receipt(page_context, found),
        "refusal": Refusal.objects.filter(submission=found, ground_truth=ground_truth).first(),
    }
    return render(request, "competitions/submission.html", context, status=422 if form.errors else 200)


@open_to(Audience.MEMBERS)
def submission_receipt(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    """The receipt for programs: what somebody needs who computes the score again."""
    found = own_submission(page_context, submission_id)
    response = JsonResponse(_receipt(page_context, found), json_dumps_params={"indent": 1})
    response["Content-Disposition"] = f'attachment; filename="receipt-{str(found.pk)[:8]}.json"'
    return response


@open_to(Audience.MEMBERS)
def submission_file(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponseBase:
    found = own_submission(page_context, submission_id)
    return as_download(found.file_key, found.file_name)


@open_to(Audience.MEMBERS)
def submission_problems(request: HttpRequest, page_context: PageContext, submission_id: UUID) -> HttpResponse:
    found = own_submission(page_context, submission_id)
    response = HttpResponse(problems_csv(found.problems), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="problems-{str(found.pk)[:8]}.csv"'
    return response


@open_to(Audience.MEMBERS)
def finals(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET shows what decides as things stand; POST picks."""
    if request.method != "POST":
        return _submissions_page(request, page_context, "finals")
    wanted = [pk for pk in request.POST.getlist("final") if _is_uuid(pk)]
    try:
        submitting.select_finals(
            competition=page_context.competition,
            user=signed_in_user(page_context.user),
            submission_ids=wanted,
            at=page_context.at,
        )
    except submitting.SubmissionRefused as refusal:
        messages.error(request, _("%(message)s Nothing was changed.") % {"message": refusal.message})
        ticks = urlencode([("show", "scored"), *(("tick", pk) for pk in wanted)])
        return see_other("submissions", query=f"?{ticks}", slug=page_context.competition.slug)
    else:
        words = (
            _("Your final picks are saved.") if wanted else _("You picked none: your best public ones will be taken.")
        )
        messages.success(request, words)
    return see_other("finals", slug=page_context.competition.slug)


def _receipt(page_context: PageContext, submission: Submission) -> dict[str, Any]:
    """With the scores that the viewer may see in full; what a steady or hidden board keeps back is not in it."""
    splits = [Split.PUBLIC] if page_context.sees_exact else []
    splits += [Split.PRIVATE] if page_context.sees_private else []
    return receipts.build_receipt(submission, splits, is_over=page_context.competition.is_revealed(page_context.at))


def _submission_row(
    submission: Submission,
    shown_scores: ShownScores,
    picks: dict[str, bool],
    ticked: set[str],
) -> dict[str, object]:
    return {
        "submission": submission,
        "public": shown_scores.scores.get("public"),
        "private": shown_scores.scores.get("private"),
        "secondary": shown_scores.secondary,
        "is_picked": str(submission.pk) in picks,
        "is_ticked": str(submission.pk) in ticked,
    }


def _selected_finals(mine: QuerySet[Submission]) -> set[str]:
    """Without hidden files, which decide nothing."""
    return {str(pk) for pk in mine.filter(is_selected=True, hidden_at=None).values_list("pk", flat=True)}


def _deciding_submissions(page_context: PageContext) -> list[standings.StandingCandidate]:
    """What decides as things stand, as the team's own picks or those of the system say."""
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None or page_context.membership is None:
        return []
    team = page_context.membership.team
    return standings.final_submissions(ground_truth, team=team).get(team.pk, [])


def _picked_submissions(page_context: PageContext, found: list[standings.StandingCandidate]) -> dict[str, bool]:
    """Submission → whether the system picked it.

    The system picks by exact scores, so where these are not shown, only a team's own picks are.
    """
    return {
        str(best.submission_id): best.is_picked_by_system
        for best in found
        if page_context.sees_exact or not best.is_picked_by_system
    }


def _unpicked(page_context: PageContext, found: list[standings.StandingCandidate]) -> reveal.UnpickedFile | None:
    """What a team forgets that may still pick it."""
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None or page_context.membership is None or page_context.at >= page_context.closes_at:
        return None
    team_id = page_context.membership.team_id
    return reveal.unpicked_better_files(ground_truth, {team_id: found}).get(team_id)


def _missed_final(page_context: PageContext) -> shake_up.MissedFinal | None:
    """After the reveal, what the team should have picked; None where it picked that, or has no rank."""
    ground_truth = page_context.competition.ground_truth
    if (
        ground_truth is None
        or page_context.membership is None
        or not page_context.competition.is_revealed(page_context.at)
    ):
        return None
    found = shake_up.missed_final(page_context.membership.team, ground_truth)
    return None if found is None or found.picked_the_best else found


def _filter_submissions(mine: QuerySet[Submission], show: str, picks: set[str]) -> QuerySet[Submission]:
    if show == "scored":
        return mine.filter(status=Submission.Status.SCORED)
    if show == "invalid":
        return mine.filter(status__in=[Submission.Status.INVALID, Submission.Status.FAILED])
    if show == "finals":
        return mine.filter(pk__in=list(picks))
    return mine


def _chart(page_context: PageContext) -> SafeString | str:
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None:
        return ""
    is_rounded = page_context.ladder is not None and not page_context.sees_exact
    return score_chart(_history(page_context), sign=ladder.sign_of(ground_truth), is_rounded=is_rounded)


def _history(page_context: PageContext) -> list[tuple[datetime, float]]:
    """Receipt and public score of the team's ranked files, oldest first; where the board shows no exact ones, of those
    alone that set the score it shows: of the others it shows none."""
    ground_truth = page_context.competition.ground_truth
    if page_context.membership is None or ground_truth is None:
        return []
    if page_context.ladder is not None and not page_context.sees_exact:
        answers = page_context.ladder_answers(page_context.membership.team_id)
        return [(answer.received_at, answer.shown) for answer in answers if answer.is_new and answer.shown is not None]
    scores = ladder.ranked_scores(ground_truth, Split.PUBLIC, teams=[page_context.membership.team_id])
    return list(scores.order_by("submission__received_at").values_list("submission__received_at", "value"))


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
