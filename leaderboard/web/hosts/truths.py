"""Ground truths: upload and check, publish, look at what would change, apply or discard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from ... import hosting, outside
from ...child import ChildFailed
from ...models import Competition, GroundTruth, Split, TruthCheck
from ...storage import TooLarge
from ..access import Audience, Visit, open_to
from ..answers import STOP_POLLING, as_download, person, see_other
from ..parameter_form import ParameterForm
from ._answers import add_refusal, refuse_too_large
from .kept import kept
from .secondary_form import SecondaryForm
from .truth_at_hand import (
    about,
    answer_columns,
    chosen_metric,
    columns_in,
    draft_of,
    file_at_hand,
    groups,
    initial_split,
    known_parameters,
    known_values,
    metric_or_none,
    parameters_in,
    proposed_form,
    question_about,
)
from .truth_choice import fits_of
from .truth_forms import ApplyForm, PublishForm, TruthForm

MOVES_PER_PAGE = 50


@open_to(Audience.HOSTS)
def host_truth(request: HttpRequest, visit: Visit) -> HttpResponse:
    """GET shows (`?metric=` chooses), POST checks a file, publishes the draft or throws it away.

    A POST also finds the metrics that fit and, without a script, fetches the parameters of another metric.
    """
    if request.method == "POST":
        actions = {
            "publish": _publish,
            "discard": _discard,
            "parameters": _choose,
            "fit": _fit,
            "as_meant": _take_as_meant,
            "keep": _keep_answers,
        }
        return actions.get(request.POST.get("action", ""), _check)(request, visit)
    draft = draft_of(visit.competition)
    key = chosen_metric(request, visit.competition, draft)
    values = known_values(visit.competition, draft, key)
    parameters = ParameterForm(key, values=values, columns=hosting.columns_at_hand(visit.competition))
    if getattr(request, "htmx", False):
        return render(request, "hosts/parameters.html", about(key, parameters))
    initial = {**initial_split(visit.competition, draft), "metric": key}
    form = TruthForm(initial=initial, has_file=file_at_hand(visit.competition, draft))
    return _page(request, visit, form, parameters)


@open_to(Audience.ASSISTANTS)
def host_truth_file(request: HttpRequest, visit: Visit, number: int) -> HttpResponseBase:
    """The answers, for hosts and assistants alone, with the split that was published."""
    ruler = visit.competition.ground_truths.filter(number=number).first()
    if ruler is None:
        raise Http404(_("This competition has no such ground truth."))
    return as_download(ruler.file_key, f"{visit.competition.slug}-truth-{number}.csv")


@open_to(Audience.HOSTS)
def host_candidate(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Who would move under the ground truth that waits. Asked by htmx, the measured part alone."""
    if request.method == "POST":
        return _decide(request, visit)
    is_revealed, current = visit.competition.revealed_at is not None, visit.competition.ground_truth
    # After the reveal the private board is the one that counts, and the only one to ask for.
    split = Split.PRIVATE if request.GET.get("board") == "private" and not is_revealed else None
    preview = hosting.preview(visit.competition, kept(visit.competition), split=split)
    if preview is None or current is None:
        return redirect("host_truth", slug=visit.competition.slug)
    context = {
        "visit": visit,
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
        return render(request, "hosts/preview.html", context, status=status)
    return render(request, "hosts/host_candidate.html", context)


def _differences(candidate: GroundTruth) -> dict[str, Any] | None:
    """Which answers are others than those that count, as the check of the candidate found them."""
    check = TruthCheck.objects.filter(ground_truth=candidate).first()
    return check.report.get("differs") if check else None


def _check(request: HttpRequest, visit: Visit) -> HttpResponse:
    return _look(request, visit, is_metric_chosen=True)


def _fit(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Take the file and check it with the metric that fits best."""
    return _look(request, visit, is_metric_chosen=False)


def _take_as_meant(request: HttpRequest, visit: Visit) -> HttpResponse:
    """A spreadsheet's file, read as the page offered to."""
    return _read_otherwise(request, visit, lambda: hosting.take_as_meant(competition=visit.competition))


def _keep_answers(request: HttpRequest, visit: Visit) -> HttpResponse:
    """A file of which some columns alone are answers."""
    names, group = request.POST.getlist("answers"), request.POST.get("group", "")
    return _read_otherwise(
        request, visit, lambda: hosting.keep_answers(competition=visit.competition, names=names, group=group)
    )


def _read_otherwise(request: HttpRequest, visit: Visit, read: Callable[[], object]) -> HttpResponse:
    try:
        read()
    except hosting.CannotHost as error:
        messages.error(request, str(error))
    except ChildFailed:
        messages.error(request, _("The check did not work, through no fault of your file. Try it again in a moment."))
    return see_other("host_truth", fragment="#check", slug=visit.competition.slug)


def _look(request: HttpRequest, visit: Visit, *, is_metric_chosen: bool) -> HttpResponse:
    draft = draft_of(visit.competition)
    has_file = file_at_hand(visit.competition, draft)
    form = TruthForm(request.POST, request.FILES, has_file=has_file, needs_metric=is_metric_chosen)
    key = chosen_metric(request, visit.competition, draft)
    columns = columns_in(request, visit.competition)
    parameters = parameters_in(request, form, key, columns) if is_metric_chosen else proposed_form(key, columns)
    secondary, status = SecondaryForm(request.POST), 422
    try:
        refuse_too_large(request)
        # All forms are asked, so that all mistakes are shown at once.
        if all([form.is_valid(), parameters.is_valid() or not is_metric_chosen, secondary.is_valid()]):
            _draft(visit.competition, form, parameters if is_metric_chosen else None, secondary)
            return see_other("host_truth", fragment="#check", slug=visit.competition.slug)
    except (hosting.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    except ChildFailed:
        form.add_error(None, _("The check did not work, through no fault of your file. Try it again in a moment."))
        status = 503
    return _page(request, visit, form, parameters, secondary=secondary, status=status)


def _choose(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The page for another metric, with the rest as it was filled in."""
    draft = draft_of(visit.competition)
    key = chosen_metric(request, visit.competition, draft)
    names = ("id_column", "public_percent", "seed", "split_by", "group_column")
    initial = {**{name: request.POST[name] for name in names if name in request.POST}, "metric": key}
    form = TruthForm(initial=initial, has_file=file_at_hand(visit.competition, draft))
    secondary = SecondaryForm.as_typed(request.POST)
    return _page(request, visit, form, known_parameters(visit.competition, draft, key), secondary=secondary)


def _draft(
    competition: Competition, form: TruthForm, parameters: ParameterForm | None, secondary: SecondaryForm
) -> None:
    """Without parameters the metric is the one that fits best."""
    filled, file = form.cleaned_data, form.cleaned_data["file"]
    hosting.draft_truth(
        competition=competition,
        metric=filled["metric"] if parameters else "",
        params=parameters.cleaned_data if parameters else {},
        file_name=file.name if file else "",
        chunks=file.chunks() if file else None,
        id_column=filled["id_column"],
        **form.split,
        secondary=secondary.cleaned_data["asked"],
        wants_fits=True,
    )


def _publish(request: HttpRequest, visit: Visit) -> HttpResponse:
    competition = visit.competition
    form = PublishForm(request.POST)
    try:
        if form.is_valid():
            ruler = hosting.publish(
                competition=competition,
                user=person(visit.user),
                note=form.cleaned_data["note"],
                is_confirmed=form.cleaned_data["is_confirmed"],
            )
            is_waiting = competition.candidate_id == ruler.pk
            words = (
                _("Ground truth %(number)s waits: files are measured with it, and the board stays until you apply it.")
                if is_waiting
                else _("Ground truth %(number)s is published.")
            )
            messages.success(request, words % {"number": ruler.number})
            return see_other("host_candidate" if is_waiting else "host_competition", slug=competition.slug)
        status = 422
    except hosting.CannotHost as error:
        status = add_refusal(form, error)
    except ChildFailed:
        form.add_error(None, _("The check did not work. Try it again in a moment."))
        status = 503
    return _unchanged_page(request, visit, form, status=status)


def _discard(request: HttpRequest, visit: Visit) -> HttpResponse:
    hosting.discard_draft(competition=visit.competition)
    messages.info(request, _("The checked file is thrown away."))
    return see_other("host_truth", slug=visit.competition.slug)


def _decide(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Apply or discard the candidate."""
    competition = visit.competition
    action = request.POST.get("action")
    number = competition.candidate.number if competition.candidate else None
    try:
        form = ApplyForm(request.POST)
        if action == "apply" and form.is_valid():
            told = hosting.apply_candidate(competition=competition, user=person(visit.user), **form.cleaned_data)
            messages.success(
                request,
                _("The board stands on ground truth %(number)s now. People told: %(people)s.")
                % {"number": number, "people": told},
            )
        elif action == "discard":
            hosting.discard_candidate(competition=competition, user=person(visit.user))
            messages.info(
                request, _("Ground truth %(number)s is discarded; the board stays as it is.") % {"number": number}
            )
    except hosting.CannotHost as error:
        messages.error(request, error.message)
    return see_other("host_candidate" if competition.candidate_id else "host_truth", slug=competition.slug)


def _unchanged_page(request: HttpRequest, visit: Visit, publish_form: PublishForm, *, status: int) -> HttpResponse:
    draft = draft_of(visit.competition)
    key = chosen_metric(request, visit.competition, draft)
    form = TruthForm(
        initial={**initial_split(visit.competition, draft), "metric": key},
        has_file=file_at_hand(visit.competition, draft),
    )
    parameters = known_parameters(visit.competition, draft, key)
    return _page(request, visit, form, parameters, publish_form=publish_form, status=status)


def _page(
    request: HttpRequest,
    visit: Visit,
    form: TruthForm,
    parameters: ParameterForm,
    *,
    secondary: SecondaryForm | None = None,
    publish_form: PublishForm | None = None,
    status: int = 200,
) -> HttpResponse:
    competition, draft = visit.competition, draft_of(visit.competition)
    held = draft or competition.ground_truth
    context = {
        "visit": visit,
        "form": form,
        "had_file": bool(request.FILES),
        "outside_off": outside.why_off(),
        "groups": groups(parameters.key),
        "fits": fits_of(draft, parameters.key),
        "chosen": parameters.key,
        **about(parameters.key, parameters),
        "secondary": secondary or SecondaryForm(held=held.secondary if held else ()),
        "draft": draft,
        "report": draft.report if draft else None,
        "answer_columns": answer_columns(draft),
        "drafted": metric_or_none(draft.metric) if draft else None,
        "question": question_about(draft),
        "publish_form": publish_form or PublishForm(),
        "history": competition.ground_truths.select_related("published_by").order_by("-number"),
    }
    return render(request, "hosts/host_truth.html", context, status=status)
