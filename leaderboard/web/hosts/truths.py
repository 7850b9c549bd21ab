"""Ground truths: upload and check, publish, look at what would change, apply or discard."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

import metrics

from ... import hosting, outside
from ...child import ChildFailed
from ...models import Competition, TruthDraft
from ...storage import TooLarge
from ..access import Audience, Visit, open_to
from ..answers import STOP_POLLING, as_download, person, see_other
from ._answers import add_refusal, refuse_too_large
from .secondary_form import SecondaryForm
from .truth_choice import fits_of
from .truth_forms import ParameterForm, PublishForm, TruthForm

MOVES_SHOWN = 200


@open_to(Audience.HOSTS)
def host_truth(request: HttpRequest, visit: Visit) -> HttpResponse:
    """GET shows (`?metric=` chooses), POST checks a file, publishes the draft or throws it away.

    A POST also finds the metrics that fit and, without a script, fetches the parameters of another metric.
    """
    if request.method == "POST":
        actions = {"publish": _publish, "discard": _discard, "parameters": _choose, "fit": _fit}
        return actions.get(request.POST.get("action", ""), _check)(request, visit)
    draft = _draft_of(visit.competition)
    key = _chosen_metric(request, visit.competition, draft)
    values = _known_values(visit.competition, draft, key)
    parameters = ParameterForm(key, values=values, columns=hosting.columns_at_hand(visit.competition))
    if getattr(request, "htmx", False):
        return render(request, "hosts/parameters.html", _about(key, parameters))
    initial = {**_initial(visit.competition, draft), "metric": key}
    form = TruthForm(initial=initial, has_file=_file_at_hand(visit.competition, draft))
    return _page(request, visit, form, parameters)


@open_to(Audience.HOSTS)
def host_truth_file(request: HttpRequest, visit: Visit, number: int) -> HttpResponseBase:
    """The answers, for hosts alone, with the split that was published."""
    ruler = visit.competition.ground_truths.filter(number=number).first()
    if ruler is None:
        raise Http404("This competition has no such ground truth.")
    return as_download(ruler.file_key, f"{visit.competition.slug}-truth-{number}.csv")


@open_to(Audience.HOSTS)
def host_candidate(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Who would move under the ground truth that waits. Asked by htmx, the measured part alone."""
    if request.method == "POST":
        return _decide(request, visit)
    preview, current = hosting.preview(visit.competition), visit.competition.ground_truth
    if preview is None or current is None:
        return redirect("host_truth", slug=visit.competition.slug)
    moved = [move for move in preview.moves if move.rank_now != move.rank_then]
    context = {
        "visit": visit,
        "preview": preview,
        "current": current,
        "total": preview.measured + len(preview.refusals) + preview.waiting,
        "done": preview.measured + len(preview.refusals),
        "moved": len(moved),
        "moves": [*moved, *(move for move in preview.moves if move.rank_now == move.rank_then)][:MOVES_SHOWN],
        "metric_now": _metric(current.metric),
        "metric_then": _metric(preview.ground_truth.metric),
    }
    if getattr(request, "htmx", False):
        status = STOP_POLLING if preview.is_complete else 200
        return render(request, "hosts/preview.html", context, status=status)
    return render(request, "hosts/host_candidate.html", context)


def _check(request: HttpRequest, visit: Visit) -> HttpResponse:
    return _look(request, visit, is_metric_chosen=True)


def _fit(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Take the file and check it with the metric that fits best."""
    return _look(request, visit, is_metric_chosen=False)


def _look(request: HttpRequest, visit: Visit, *, is_metric_chosen: bool) -> HttpResponse:
    draft = _draft_of(visit.competition)
    has_file = _file_at_hand(visit.competition, draft)
    form = TruthForm(request.POST, request.FILES, has_file=has_file, needs_metric=is_metric_chosen)
    key = _chosen_metric(request, visit.competition, draft)
    columns = _columns(request, visit.competition)
    parameters = _parameters(request, form, key, columns) if is_metric_chosen else _proposed_form(key, columns)
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
        form.add_error(None, "The check did not work, through no fault of your file. Try it again in a moment.")
        status = 503
    return _page(request, visit, form, parameters, secondary=secondary, status=status)


def _columns(request: HttpRequest, competition: Competition) -> list[str]:
    """The columns of the file in the request, else of the file at hand."""
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        return hosting.columns_at_hand(competition)
    names = metrics.header(file.read(hosting.HEAD_BYTES))
    file.seek(0)
    return [name for name in names if name not in (request.POST.get("id_column", "").strip() or names[0], "Usage")]


def _parameters(request: HttpRequest, form: TruthForm, key: str, columns: list[str]) -> ParameterForm:
    """What was filled in; for another metric than the one whose parameters were shown, the defaults to look at."""
    metric = metrics.get(key)
    if metric.parameters and request.POST.get("parameters_of") != key:
        form.add_error("metric", f"{metric.title} has parameters: look at them, then check the file.")
        return _proposed_form(key, columns)
    return ParameterForm(key, request.POST, columns=columns)


def _proposed_form(key: str, columns: list[str]) -> ParameterForm:
    return ParameterForm(key, values=hosting.proposed(key), columns=columns)


def _choose(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The page for another metric, with the rest as it was filled in."""
    draft = _draft_of(visit.competition)
    key = _chosen_metric(request, visit.competition, draft)
    kept = {name: request.POST.get(name, "") for name in ("id_column", "public_percent", "seed", "group_column")}
    initial = {**kept, "is_stratified": "is_stratified" in request.POST, "metric": key}
    form = TruthForm(initial=initial, has_file=_file_at_hand(visit.competition, draft))
    secondary = SecondaryForm.as_typed(request.POST)
    return _page(request, visit, form, _known_parameters(visit.competition, draft, key), secondary=secondary)


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
        public_share=filled["public_percent"] / 100,
        seed=filled["seed"],
        is_stratified=filled["is_stratified"],
        group_column=filled["group_column"],
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
            messages.success(request, f"Ground truth {ruler.number} is published.")
            is_waiting = competition.candidate_id == ruler.pk
            return see_other("host_candidate" if is_waiting else "host_competition", slug=competition.slug)
        status = 422
    except hosting.CannotHost as error:
        status = add_refusal(form, error)
    except ChildFailed:
        form.add_error(None, "The check did not work. Try it again in a moment.")
        status = 503
    return _unchanged_page(request, visit, form, status=status)


def _discard(request: HttpRequest, visit: Visit) -> HttpResponse:
    hosting.discard_draft(competition=visit.competition)
    messages.info(request, "The checked file is thrown away.")
    return see_other("host_truth", slug=visit.competition.slug)


def _decide(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Apply or discard the candidate."""
    competition = visit.competition
    action = request.POST.get("action")
    number = competition.candidate.number if competition.candidate else None
    try:
        if action == "apply":
            hosting.apply_candidate(competition=competition, user=person(visit.user))
            messages.success(request, f"The board stands on ground truth {number} now.")
        elif action == "discard":
            hosting.discard_candidate(competition=competition, user=person(visit.user))
            messages.info(request, f"Ground truth {number} is discarded; the board stays as it is.")
    except hosting.CannotHost as error:
        messages.error(request, error.message)
    return see_other("host_candidate" if competition.candidate_id else "host_truth", slug=competition.slug)


def _unchanged_page(request: HttpRequest, visit: Visit, publish_form: PublishForm, *, status: int) -> HttpResponse:
    draft = _draft_of(visit.competition)
    key = _chosen_metric(request, visit.competition, draft)
    form = TruthForm(
        initial={**_initial(visit.competition, draft), "metric": key}, has_file=_file_at_hand(visit.competition, draft)
    )
    parameters = _known_parameters(visit.competition, draft, key)
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
    competition, draft = visit.competition, _draft_of(visit.competition)
    held = draft or competition.ground_truth
    context = {
        "visit": visit,
        "form": form,
        "had_file": bool(request.FILES),
        "outside_off": outside.why_off(),
        "groups": _groups(),
        "fits": fits_of(draft),
        "chosen": parameters.key,
        **_about(parameters.key, parameters),
        "secondary": secondary or SecondaryForm(held=held.secondary if held else ()),
        "draft": draft,
        "report": draft.report if draft else None,
        "drafted": _metric(draft.metric) if draft else None,
        "question": metrics.get(draft.metric).confirmation(draft.params) if draft and _metric(draft.metric) else "",
        "publish_form": publish_form or PublishForm(),
        "history": competition.ground_truths.select_related("published_by").order_by("-number"),
    }
    return render(request, "hosts/host_truth.html", context, status=status)


def _about(key: str, parameters: ParameterForm) -> dict[str, Any]:
    return {"metric": metrics.get(key), "parameters": parameters}


def _metric(key: str) -> metrics.Metric | None:
    """None when the metric's file is gone."""
    try:
        return metrics.get(key)
    except metrics.UnknownMetric:
        return None


def _groups() -> dict[str, list[metrics.Metric]]:
    groups: dict[str, list[metrics.Metric]] = {}
    for metric in outside.catalogue():
        groups.setdefault(metric.group, []).append(metric)
    return groups


def _draft_of(competition: Competition) -> TruthDraft | None:
    return TruthDraft.objects.filter(competition=competition).first()


def _file_at_hand(competition: Competition, draft: TruthDraft | None) -> str:
    """The name of the file that a check without upload would take."""
    last = draft or competition.ground_truths.order_by("number").last()
    return last.file_name if last else ""


def _chosen_metric(request: HttpRequest, competition: Competition, draft: TruthDraft | None) -> str:
    asked = (request.POST if request.method == "POST" else request.GET).get("metric", "")
    held = draft or competition.ground_truth
    known = [key for key in (asked, held.metric if held else "") if _metric(key)]
    return known[0] if known else "accuracy"


def _known_values(competition: Competition, draft: TruthDraft | None, key: str) -> dict[str, Any]:
    """The parameters of the draft or the ground truth, where it has this metric, else those that fit the draft."""
    held = draft or competition.ground_truth
    if held and held.metric == key:
        return dict(held.params)
    fits: list[dict[str, Any]] = draft.report.get("fits", []) if draft else []
    fit = next((dict(fit["params"]) for fit in fits if fit["key"] == key), {})
    return {**fit, **hosting.proposed(key)}


def _known_parameters(competition: Competition, draft: TruthDraft | None, key: str) -> ParameterForm:
    values = _known_values(competition, draft, key)
    return ParameterForm(key, values=values, columns=hosting.columns_at_hand(competition))


def _initial(competition: Competition, draft: TruthDraft | None) -> dict[str, Any]:
    if draft is None:
        return {"id_column": competition.ground_truth.id_column if competition.ground_truth else ""}
    return {
        "id_column": draft.id_column,
        "public_percent": round(draft.public_share * 100),
        "seed": draft.seed,
        "is_stratified": draft.is_stratified,
        "group_column": draft.group_column,
    }
