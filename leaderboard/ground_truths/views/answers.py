"""Hosts' pages of the answers and their metric: correct them, see what would change, apply or discard."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

import metrics
from leaderboard.common.responses import STOP_POLLING, as_download, see_other
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import REFUSALS, add_refusal, refusal_lines
from leaderboard.competitions.metric_search import matching_metrics
from leaderboard.competitions.models import Competition, TruthCheck
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import CannotHost
from leaderboard.competitions.views import answered_by_worker

from ..forms import AnswersForm, ApplyForm, MetricForm, ParameterForm, RowsForm, SecondaryForm
from ..queries import (
    RescoringPreview,
    current_truth,
    draft_of,
    fitting_metrics,
    history_of,
    last_check,
    metric_or_none,
    preview_candidate,
    shown_findings,
)
from ..services import checks, drafts, publishing, rescoring
from ..specs import GroundTruthSpec
from .setup import press_button

MAX_FOUND = 24
MOVES_PER_PAGE = 50
DECISIONS = ("apply", "discard")


def _reads_no_file(request: HttpRequest) -> bool:
    return "accept" in request.POST or request.POST.get("action") in DECISIONS


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Checking the answers"), is_quick=_reads_no_file)
def host_truth(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The answers after the launch; before it they are on the setup page. GET: the page; with a candidate it shows what
    would change. POST: check a corrected file, press a button about it (`press_button`), or by `action`: `publish` it
    as candidate, `apply` or `discard` the candidate, else `discard` the draft, check the answers again (`recheck`), or
    correct single `rows`.
    """
    competition, action = page_context.competition, request.POST.get("action", "")
    if competition.launched_at is None and competition.candidate_id is None:
        return redirect("host_setup", slug=competition.slug)
    if action == "apply" or (competition.candidate_id and action == "discard"):
        return _decide(request, page_context)
    if request.method != "POST":
        if competition.candidate_id is not None:
            return _correction_page(request, page_context)
        return _answers_page(request, page_context, AnswersForm(competition))
    try:
        if action == "publish":
            return _publish(request, page_context)
        if action == "rows":
            return _correct_rows(request, page_context)
        if not _change_answers(request, page_context):
            return _check_file(request, page_context)
    except REFUSALS as error:
        messages.error(request, " ".join(refusal_lines(error)))
    return see_other("host_truth", fragment="#check", slug=competition.slug)


def _change_answers(request: HttpRequest, page_context: PageContext) -> bool:
    """Do the posted action, without `publish`; False if a file is to be checked."""
    competition, user = page_context.competition, page_context.account
    if request.POST.get("action") == "recheck":
        checks.recheck_ground_truth(competition=competition)
        messages.success(request, _("Checked again."))
    elif request.POST.get("action") == "discard":
        drafts.discard_draft(competition=competition)
        messages.info(request, _("The checked file was discarded."))
    elif press_button(request.POST, competition, user):
        if "accept" not in request.POST:
            publishing.offer_correction(competition=competition, user=user)
    else:
        return False
    return True


def _check_file(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Store and check the posted file with its split, else the last file; the current metric is kept."""
    competition, status = page_context.competition, 422
    form = AnswersForm(competition, request)
    try:
        if form.is_valid():
            earlier = GroundTruthSpec.from_truth(current_truth(competition))
            spec = replace(earlier, **form.split_fields, **form.upload_fields)
            drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
            publishing.offer_correction(competition=competition, user=page_context.account)
            return see_other("host_truth", fragment="#check", slug=competition.slug)
    except REFUSALS as error:
        status = add_refusal(form, error)
    return _answers_page(request, page_context, form, status=status)


def _correct_rows(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Check the current answers with the posted rows."""
    competition, status = page_context.competition, 422
    form = _rows_form(competition, request)
    try:
        if form.is_valid():
            drafts.correct_rows(competition=competition, columns=form.columns, corrected=form.corrected)
            publishing.offer_correction(competition=competition, user=page_context.account)
            return see_other("host_truth", fragment="#check", slug=competition.slug)
    except REFUSALS as error:
        status = add_refusal(form, error)
    return _answers_page(request, page_context, AnswersForm(competition), rows_form=form, status=status)


def _rows_form(competition: Competition, request: HttpRequest | None = None) -> RowsForm:
    columns = drafts.answers_of(competition.ground_truth) if competition.ground_truth else []
    return RowsForm(columns, request.POST if request else None)


def _publish(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Publish the draft with its metric; if the metric needs a confirmation, a redirect to the page of the metric."""
    draft = draft_of(page_context.competition)
    if draft is not None and metrics.get(draft.metric).confirmation(draft.params):
        return see_other("host_truth_metric", fragment="#check", slug=page_context.competition.slug)
    return publish_checked(request, page_context)


def publish_checked(
    request: HttpRequest, page_context: PageContext, *, note: str = "", is_confirmed: bool = False
) -> HttpResponse:
    """Publish the draft, if there is one, and redirect to the next page."""
    competition, user = page_context.competition, page_context.account
    if draft_of(competition) is not None:
        ground_truth = publishing.publish_draft(
            competition=competition, user=user, note=note, is_confirmed=is_confirmed
        )
        message = (
            _("Answers no. %(number)s are pending. The leaderboard stays unchanged until you apply them.")
            if competition.candidate_id == ground_truth.pk
            else _("Answers no. %(number)s are in use.")
        )
        messages.success(request, message % {"number": ground_truth.number})
        if competition.launched_at is None:
            publishing.start_preview(competition=competition, user=user)
    return see_other("host_truth" if competition.launched_at else "host_setup", slug=competition.slug)


def _answers_page(
    request: HttpRequest,
    page_context: PageContext,
    form: AnswersForm,
    *,
    rows_form: RowsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    competition = page_context.competition
    context = {"page_context": page_context, "form": form, "rows_form": rows_form or _rows_form(competition)}
    context |= last_check(competition) | history_of(competition)
    return render(request, "ground_truths/host_truth.html", context, status=status)


@open_to(Audience.ASSISTANTS)
def host_truth_file(request: HttpRequest, page_context: PageContext, number: int) -> HttpResponseBase:
    """Download the answers with the published split; only for hosts and assistants."""
    ground_truth = page_context.competition.ground_truths.filter(number=number).first()
    if ground_truth is None:
        raise Http404(_("This competition has no such answers."))
    return as_download(ground_truth.file_key, f"{page_context.competition.slug}-truth-{number}.csv")


# --- a pending correction ---------------------------------------------------------------------------------------


def _correction_page(request: HttpRequest, page_context: PageContext) -> HttpResponse:
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


def _decide(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Apply or discard the candidate."""
    competition, user = page_context.competition, page_context.account
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
    except CannotHost as error:
        messages.error(request, error.message)
    return see_other("host_truth", slug=competition.slug)


# --- the metric -------------------------------------------------------------------------------------------------


def _only_shows_parameters(request: HttpRequest) -> bool:
    return request.POST.get("action") == "parameters"


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Checking the answers with this metric"), is_quick=_only_shows_parameters)
def host_truth_metric(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the page (`?metric=` chooses one, `?q=` searches). POST: by `action` check with this metric (`look`), show
    its parameters without a script (`parameters`), use it for the draft (`take`), or use it and publish (`use`)."""
    truth = current_truth(page_context.competition)
    requested = (request.POST if request.method == "POST" else request.GET).get("metric", "")
    current = truth.metric if truth else ""
    key = next((key for key in (requested, current) if metric_or_none(key)), drafts.DEFAULT_METRIC)
    if request.method == "POST" and not _only_shows_parameters(request):
        return _choose_metric(request, page_context, key)
    parameters = ParameterForm(key, truth)
    if getattr(request, "htmx", False) and "q" not in request.GET:
        context = {"metric": metrics.get(key), "parameters": parameters}
        return render(request, "ground_truths/parameters.html", context)
    return _metric_page(request, page_context, MetricForm(initial={"metric": key}), parameters)


def _choose_metric(request: HttpRequest, page_context: PageContext, key: str) -> HttpResponse:
    """Check the answers with the chosen metric, unless that was done already; then do the posted `action`."""
    competition, action = page_context.competition, request.POST.get("action")
    draft, truth = draft_of(competition), current_truth(competition)
    form, secondary = MetricForm(request.POST), SecondaryForm(request.POST)
    parameters, status = ParameterForm.from_post(request, key, truth, form), 422
    try:
        if press_button(request.POST, competition, page_context.account):
            return see_other("host_truth_metric", fragment="#check", slug=competition.slug)
        if all([form.is_valid(), parameters.is_valid(), secondary.is_valid()]):
            earlier = GroundTruthSpec.from_truth(truth)
            spec = replace(earlier, metric=key, params=parameters.cleaned_data, secondary=secondary.chosen_metrics)
            if spec != earlier:
                draft = drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
            if action == "look" or (draft and not draft.report["ok"]):
                return see_other("host_truth_metric", fragment="#check", slug=competition.slug)
            if action == "take":
                return see_other("host_setup", fragment="#proposal", slug=competition.slug)
            note, is_confirmed = form.cleaned_data["note"], form.cleaned_data["is_confirmed"]
            return publish_checked(request, page_context, note=note, is_confirmed=is_confirmed)
    except REFUSALS as error:
        status = add_refusal(form, error)
    return _metric_page(request, page_context, form, parameters, secondary, status=status)


def _metric_page(
    request: HttpRequest,
    page_context: PageContext,
    form: MetricForm,
    parameters: ParameterForm,
    secondary: SecondaryForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    competition = page_context.competition
    check = last_check(competition)
    fits = fitting_metrics(check["draft"], parameters.key)
    elsewhere, q = [*fits["others"], *fits["unfit"]], request.GET.get("q", "").strip()[:100]
    matching = matching_metrics([metric for metric, _reason in elsewhere], q) if q else []
    context = {
        "page_context": page_context,
        "data_page": "host_truth" if competition.launched_at else "host_setup",
        **check,
        "metric": metrics.get(parameters.key),
        "parameters": parameters,
        "form": form,
        "secondary": secondary or SecondaryForm(truth=check["checked"]),
        "fits": fits,
        "q": q,
        "found": [(metric, reason) for metric, reason in elsewhere if metric in matching][:MAX_FOUND],
        "chosen": parameters.key,
    }
    return render(request, "ground_truths/host_truth_metric.html", context, status=status)
