"""Steps 2 and 3: the answers with their split and the files for students, and the metric."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics

from ... import hosting, outside
from ...child import ChildFailed
from ...models import Competition, TruthCheck, TruthDraft
from ...storage import TooLarge
from ..access import Audience, Visit, open_to
from ..answers import person, see_other
from ..parameter_form import ParameterForm
from ..visitors._examples import with_params
from ._answers import add_refusal, refuse_too_large, say_added
from .forms import DataFileForm
from .secondary_form import SecondaryForm
from .truth_at_hand import (
    about,
    answer_columns,
    chosen_metric,
    draft_of,
    file_at_hand,
    groups,
    initial_split,
    known_parameters,
    metric_or_none,
    needs_other_file,
    parameters_in,
    question_about,
)
from .truth_choice import fits_of
from .truth_forms import PublishForm
from .wizard import frame, kept_origin, origin, step
from .wizard_forms import AnswersForm, MetricForm

BROKEN = gettext_lazy("The check did not work, through no fault of your file. Try it again in a moment.")


@open_to(Audience.HOSTS)
@step("data")
def host_setup_data(request: HttpRequest, visit: Visit) -> HttpResponse:
    """GET shows; POST checks an answer file with its split or takes it as its spreadsheet meant it (`action=as_meant`)
    or with some of its columns (`keep`), and adds or removes a file for students (`add`, `remove`)."""
    if request.method == "POST":
        actions = {"add": _add_file, "remove": _remove_file, "as_meant": _take_as_meant, "keep": _keep_answers}
        return actions.get(request.POST.get("action", ""), _answers)(request, visit)
    return _data_page(request, visit, _answers_form(visit.competition), data_file_form())


@open_to(Audience.HOSTS)
@step("metric")
def host_setup_metric(request: HttpRequest, visit: Visit) -> HttpResponse:
    """GET shows (`?metric=` chooses); POST measures with another metric (`look`, `parameters` without a script), or
    takes the metric and goes on."""
    action = request.POST.get("action", "")
    if request.method == "POST" and action != "parameters":
        return _metric(request, visit, goes_on=action != "look")
    draft = draft_of(visit.competition)
    key = chosen_metric(request, visit.competition, draft)
    parameters = known_parameters(visit.competition, draft, key)
    if getattr(request, "htmx", False):
        return render(request, "hosts/parameters.html", about(key, parameters))
    return _metric_page(request, visit, MetricForm(initial={"metric": key}), parameters)


def _answers_form(competition: Competition, request: HttpRequest | None = None) -> AnswersForm:
    """As the last look was asked for, or as it is asked for now."""
    draft = draft_of(competition)
    has_split = competition.ground_truth_id is not None if draft is None else not draft.report["is_split_by_system"]
    about_file: dict[str, Any] = {"has_file": file_at_hand(competition, draft), "has_split": has_split}
    if request is not None:
        return AnswersForm(request.POST, request.FILES, **about_file)
    return AnswersForm(initial=initial_split(competition, draft), **about_file)


def _answers(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Look at a file; a new one gets the metric that is most usual for its answers, until another is chosen."""
    competition = visit.competition
    form, status = _answers_form(competition, request), 422
    try:
        refuse_too_large(request)
        if form.is_valid():
            _draft(competition, form)
            return see_other("host_setup_data", query=kept_origin(request), fragment="#check", slug=competition.slug)
    except (hosting.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    except ChildFailed:
        form.add_error(None, BROKEN)
        status = 503
    return _data_page(request, visit, form, data_file_form(), status=status)


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
    form, status = _answers_form(visit.competition), 422
    try:
        read()
        return see_other("host_setup_data", query=kept_origin(request), fragment="#check", slug=visit.competition.slug)
    except hosting.CannotHost as error:
        words: object = error
    except ChildFailed:
        words, status = BROKEN, 503
    messages.error(request, str(words))
    return _data_page(request, visit, form, data_file_form(), status=status)


def _draft(competition: Competition, form: AnswersForm) -> None:
    filled, file = form.cleaned_data, form.cleaned_data["file"]
    held = None if file else draft_of(competition) or competition.ground_truth
    hosting.draft_truth(
        competition=competition,
        metric=held.metric if held else "",
        params=held.params if held else {},
        file_name=file.name if file else "",
        chunks=file.chunks() if file else None,
        id_column=filled["id_column"],
        **form.split,
        secondary=_beside(held),
        wants_fits=True,
        draws_anew=filled.get("draws_anew", False) and not file,
    )


def data_file_form(request: HttpRequest | None = None) -> DataFileForm:
    """Beside the answer file's form, whose fields have the same names."""
    data, files = (request.POST, request.FILES) if request else (None, None)
    return DataFileForm(data, files, auto_id="id_data_%s")


def _add_file(request: HttpRequest, visit: Visit) -> HttpResponse:
    competition = visit.competition
    form, status = data_file_form(request), 422
    try:
        refuse_too_large(request)
        if form.is_valid():
            file, words = form.cleaned_data["file"], form.cleaned_data["description"]
            user, chunks = person(visit.user), file.chunks()
            added = hosting.add_data_file(
                competition=competition, file_name=file.name, chunks=chunks, description=words, user=user
            )
            say_added(request, added)
            return see_other("host_setup_data", query=kept_origin(request), fragment="#files", slug=competition.slug)
    except (hosting.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    return _data_page(request, visit, _answers_form(competition), form, status=status)


def _remove_file(request: HttpRequest, visit: Visit) -> HttpResponse:
    """No student has seen a file of a draft, so nobody is asked twice."""
    wanted = get_object_or_404(visit.competition.data_files, name=request.POST.get("name", ""))
    hosting.remove_data_file(data_file=wanted, user=person(visit.user))
    messages.success(request, _("“%(name)s” is removed.") % {"name": wanted})
    with suppress(ChildFailed):  # the button to look at the file is still there
        hosting.look_again(competition=visit.competition)
    return see_other("host_setup_data", query=kept_origin(request), fragment="#files", slug=visit.competition.slug)


def _data_page(
    request: HttpRequest, visit: Visit, form: AnswersForm, file_form: DataFileForm, *, status: int = 200
) -> HttpResponse:
    context = {
        **frame(request, visit, "data"),
        **_report(visit.competition),
        "form": form,
        "file_form": file_form,
        "files": visit.competition.data_files.all(),
    }
    return render(request, "hosts/host_setup_data.html", context, status=status)


def _metric(request: HttpRequest, visit: Visit, *, goes_on: bool) -> HttpResponse:
    """Measure with what was chosen, unless that was done already; then publish, where nothing stands against it."""
    competition, draft = visit.competition, draft_of(visit.competition)
    form = MetricForm(request.POST)
    key = chosen_metric(request, competition, draft)
    parameters = parameters_in(request, form, key, hosting.columns_at_hand(competition))
    secondary, status = SecondaryForm(request.POST), 422
    publish_form = PublishForm(request.POST)
    try:
        if all([form.is_valid(), parameters.is_valid(), secondary.is_valid(), publish_form.is_valid()]):
            asked = secondary.cleaned_data["asked"]
            if not _is_measured(draft or competition.ground_truth, key, parameters.cleaned_data, asked):
                draft = _measure(competition, key, parameters.cleaned_data, asked)
            if not goes_on or (draft and not draft.report["ok"]):
                here = kept_origin(request)
                return see_other("host_setup_metric", query=here, fragment="#check", slug=competition.slug)
            return _go_on(request, visit, draft, is_confirmed=publish_form.cleaned_data["is_confirmed"])
    except hosting.CannotHost as error:
        status = add_refusal(form, error)
    except ChildFailed:
        form.add_error(None, BROKEN)
        status = 503
    return _metric_page(request, visit, form, parameters, secondary, status=status)


def _is_measured(held: Any, key: str, params: dict[str, Any], asked: list[hosting.Asked]) -> bool:
    """Whether the draft, or the ruler where there is none, has this metric with these parameters."""
    if held is None or (held.metric, held.params) != (key, params):
        return False
    return [(one["key"], one["params"]) for one in held.secondary] == [(name, dict(given)) for name, given in asked]


def _measure(competition: Competition, key: str, params: dict[str, Any], asked: list[hosting.Asked]) -> TruthDraft:
    draft = draft_of(competition)
    split = initial_split(competition, draft)
    return hosting.draft_truth(
        competition=competition,
        metric=key,
        params=params,
        id_column=split["id_column"],
        public_share=draft.public_share if draft else 0.3,
        seed=draft.seed if draft else 0,
        is_stratified=draft.is_stratified if draft else True,
        group_column=draft.group_column if draft else "",
        secondary=asked,
        wants_fits=True,
    )


def _go_on(request: HttpRequest, visit: Visit, draft: TruthDraft | None, *, is_confirmed: bool) -> HttpResponse:
    """Publish the draft, where there is one; what is published already stays as it is."""
    competition = visit.competition
    if draft is not None:
        ruler = hosting.publish(competition=competition, user=person(visit.user), is_confirmed=is_confirmed)
        messages.success(request, _("Ground truth %(number)s is published.") % {"number": ruler.number})
        if hosting.make_board_plain(competition=competition, user=person(visit.user)):
            messages.info(request, _("A steady board needs a step, and none can be worked out here: it is plain now."))
    following = origin(request) or "host_setup_limits"
    return see_other("host_candidate" if competition.candidate_id else following, slug=competition.slug)


def _metric_page(
    request: HttpRequest,
    visit: Visit,
    form: MetricForm,
    parameters: ParameterForm,
    secondary: SecondaryForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    competition, draft = visit.competition, draft_of(visit.competition)
    held = draft or competition.ground_truth
    context = {
        **frame(request, visit, "metric"),
        **_report(competition),
        **about(parameters.key, parameters),
        "form": form,
        "secondary": secondary or SecondaryForm(held=held.secondary if held else ()),
        "outside_off": outside.why_off(),
        "groups": groups(parameters.key),
        "fits": fits_of(draft, parameters.key),
        "chosen": parameters.key,
        "choose_at": "host_setup_metric",
        "question": question_about(draft),
        "publish_form": PublishForm(request.POST or None),
        "example": with_params(metrics.get(held.metric), held.params) if held and metric_or_none(held.metric) else None,
    }
    return render(request, "hosts/host_setup_metric.html", context, status=status)


def _report(competition: Competition) -> dict[str, Any]:
    """What the last check found: of the draft, or of the ruler that is published."""
    draft, ruler = draft_of(competition), competition.ground_truth
    if draft is not None:
        return {
            "draft": draft,
            "report": draft.report,
            "drafted": metric_or_none(draft.metric),
            "checked": draft,
            "needs_other_file": needs_other_file(draft),
            "answer_columns": answer_columns(draft),
            "files_alone_block": hosting.blocks_by_files_alone(draft.report),
        }
    check = TruthCheck.objects.filter(ground_truth=ruler).first() if ruler else None
    found = check.report if check else None
    return {
        "draft": None,
        "report": found,
        "drafted": metric_or_none(ruler.metric) if ruler else None,
        "checked": ruler,
    }


def _beside(held: Any) -> list[hosting.Asked]:
    return [(one["key"], one["params"]) for one in held.secondary] if held else []
