"""Hosts' pages of the answers and their metric: check a correction, published ground truths and their files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.responses import as_download, see_other, signed_in_user
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import REFUSALS, add_refusal, refusal_lines
from leaderboard.competitions.metric_search import matching_metrics
from leaderboard.competitions.views import answered_by_worker

from ..forms import AnswersForm, MetricForm, ParameterForm, SecondaryForm
from ..queries import current_truth, draft_of, fitting_metrics, history_of, last_check, metric_or_none
from ..services import checks, drafts, publishing
from ..specs import GroundTruthSpec
from . import rescoring

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
        frozenset(
            {
                *(
                    "missing_value",
                    "odd_value",
                    "answer_like_nothing",
                    "similar_answers",
                    "rare_answer",
                    "damaged_answer",
                ),
                *("wrapped_lists", "list_separator", "lists_as_labels", "labels_like_decimals"),
            }
        ),
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


MAX_FOUND = 24
ACTIONS = ("as_meant", "keep", "publish", "discard", "recheck")


def _reads_no_file(request: HttpRequest) -> bool:
    return "accept" in request.POST or request.POST.get("action") in rescoring.DECISIONS


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Checking the answers"), is_quick=_reads_no_file)
def host_truth(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the page; with a candidate it shows what would change. POST: check an answer file with its split, or by
    `action`: convert it from a spreadsheet's format (`as_meant`), choose its answer columns (`keep`), publish it as
    candidate (`publish`), `apply` or `discard` the candidate, else `discard` the draft, or check the current ground
    truth again (`recheck`). The field `accept` accepts a warning."""
    competition, action = page_context.competition, request.POST.get("action", "")
    if action == "apply" or (competition.candidate_id and action == "discard"):
        return rescoring.decide(request, page_context)
    if request.method != "POST" and competition.candidate_id is not None:
        return rescoring.correction_page(request, page_context)
    if request.method != "POST":
        return _answers_page(request, page_context, AnswersForm(competition))
    if action not in ACTIONS and "accept" not in request.POST:
        return _check_file(request, page_context)
    try:
        if action == "publish":
            return _publish(request, page_context)
        _change_answers(request, page_context)
        if action in ("as_meant", "keep"):
            publishing.offer_correction(competition=competition, user=signed_in_user(page_context.user))
    except REFUSALS as error:
        messages.error(request, " ".join(refusal_lines(error)))
    return see_other("host_truth", fragment="#check", slug=competition.slug)


def _change_answers(request: HttpRequest, page_context: PageContext) -> None:
    """Do the posted action, without `publish`."""
    competition, posted = page_context.competition, request.POST
    if key := posted.get("accept"):
        checks.accept_finding(competition=competition, user=signed_in_user(page_context.user), key=key)
    elif posted["action"] == "recheck":
        checks.recheck_ground_truth(competition=competition)
        messages.success(request, _("Checked again."))
    elif posted["action"] == "as_meant":
        drafts.apply_spreadsheet_conversion(competition=competition)
    elif posted["action"] == "keep":
        names, group = posted.getlist("answers"), posted.get("group", "")
        drafts.choose_answers(competition=competition, names=names, group=group)
    else:
        drafts.discard_draft(competition=competition)
        messages.info(request, _("The checked file was discarded."))


def _check_file(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Store and check the posted file with its split, else the last file.

    Before the launch a new file gets the most usual metric for its answers; a correction keeps the current metric.
    """
    competition, status = page_context.competition, 422
    form = AnswersForm(competition, request)
    try:
        if form.is_valid():
            is_new = form.cleaned_data["file"] and competition.launched_at is None
            spec = replace(
                GroundTruthSpec.from_truth(None if is_new else current_truth(competition)),
                **form.split_fields,
                **form.upload_fields,
            )
            drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
            publishing.offer_correction(competition=competition, user=signed_in_user(page_context.user))
            return see_other("host_truth", fragment="#check", slug=competition.slug)
    except REFUSALS as error:
        status = add_refusal(form, error)
    return _answers_page(request, page_context, form, status=status)


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
    competition, user = page_context.competition, signed_in_user(page_context.user)
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
    request: HttpRequest, page_context: PageContext, form: AnswersForm, *, status: int = 200
) -> HttpResponse:
    competition = page_context.competition
    check = last_check(competition)
    context = {
        "page_context": page_context,
        **check,
        "topics": _check_topics(check["report"]["findings"]) if check["report"] else [],
        "form": form,
        **history_of(competition),
    }
    return render(request, "ground_truths/host_truth.html", context, status=status)


@open_to(Audience.ASSISTANTS)
def host_truth_file(request: HttpRequest, page_context: PageContext, number: int) -> HttpResponseBase:
    """Download the answers with the published split; only for hosts and assistants."""
    ground_truth = page_context.competition.ground_truths.filter(number=number).first()
    if ground_truth is None:
        raise Http404(_("This competition has no such answers."))
    return as_download(ground_truth.file_key, f"{page_context.competition.slug}-truth-{number}.csv")


def _check_topics(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The topics of the check with their number of findings, and whether one of these blocks."""
    topics = []
    for title, codes in CHECK_TOPICS:
        of_topic = [finding for finding in findings if finding["code"] in codes]
        is_blocking = any(finding["blocking"] for finding in of_topic)
        topics.append({"title": title, "count": len(of_topic), "is_blocking": is_blocking})
    return topics


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
