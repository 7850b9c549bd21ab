"""The answers with their split, and files for students: step 2 of the wizard, after the launch a page under Manage."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import metrics
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.storage import TooLarge
from leaderboard.scorer.job_slots import JobFailed

from ..access import Audience, PageContext, open_to
from ..forms.ground_truth import AnswersForm
from ..forms.host import DataFileForm
from ..models import Competition, GroundTruth, TruthCheck, TruthDraft
from ..services import competitions, data_files, truth_drafts
from .data_files import add_posted_file
from .host_responses import add_refusal, refuse_too_large
from .wizard import draft_of, needs_other_file, origin_query, truth_page_name, wizard_context, wizard_step

BROKEN = gettext_lazy("The check did not work, through no fault of your file. Try it again in a moment.")


@open_to(Audience.HOSTS)
@wizard_step("data")
def host_setup_data(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _data_step(request, page_context)


@open_to(Audience.HOSTS)
def host_truth(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    return _data_step(request, page_context)


def _data_step(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET shows; POST checks an answer file with its split, takes it as its spreadsheet meant it (`action=as_meant`) or
    with some of its columns (`keep`), or throws what was checked away (`discard`). Before the launch it also adds or
    removes a file for students (`add`, `remove`)."""
    if request.method != "POST":
        return _data_page(request, page_context, _answers_form(page_context.competition))
    actions = {"as_meant": _convert_draft, "keep": _convert_draft, "discard": _discard}
    if page_context.competition.launched_at is None:
        actions |= {"add": _add_file, "remove": _remove_file}
    return actions.get(request.POST.get("action", ""), _check_answers)(request, page_context)


def _answers_form(competition: Competition, request: HttpRequest | None = None) -> AnswersForm:
    """As the last look was asked for, or as it is asked for now."""
    draft = draft_of(competition)
    has_split = competition.ground_truth_id is not None if draft is None else not draft.report["is_split_by_system"]
    # A check without upload would take the last file.
    last = draft or competition.ground_truths.order_by("number").last()
    about_file: dict[str, Any] = {
        "has_file": last.file_name if last else "",
        # Once students compete, each row keeps its part.
        "has_split": has_split and competition.launched_at is None,
    }
    if request is not None:
        return AnswersForm(request.POST, request.FILES, **about_file)
    if draft is None:
        id_column = competition.ground_truth.id_column if competition.ground_truth else ""
        return AnswersForm(initial={"id_column": id_column}, **about_file)
    initial = {
        "id_column": draft.id_column,
        "public_percent": round(draft.public_share * 100),
        "seed": draft.seed,
        "split_by": "grouped" if draft.group_column else "stratified" if draft.is_stratified else "random",
        "group_column": draft.group_column,
    }
    return AnswersForm(initial=initial, **about_file)


def _check_answers(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    form, status = _answers_form(competition, request), 422
    try:
        refuse_too_large(request)
        if form.is_valid():
            _draft_from_form(competition, form)
            return _see_data(request, competition, "#check")
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    except JobFailed:
        form.add_error(None, BROKEN)
        status = 503
    return _data_page(request, page_context, form, status=status)


def _draft_from_form(competition: Competition, form: AnswersForm) -> None:
    """Look at a file. Before the launch a new one gets the metric that is most usual for its answers, until another is
    chosen; a correction keeps the metric that counts."""
    filled, file = form.cleaned_data, form.cleaned_data["file"]
    is_new = file and competition.launched_at is None
    held = None if is_new else draft_of(competition) or competition.ground_truth
    truth_drafts.draft_truth(
        competition=competition,
        metric=held.metric if held else "",
        params=held.params if held else {},
        file_name=file.name if file else "",
        chunks=file.chunks() if file else None,
        id_column=filled["id_column"],
        **form.split,
        secondary=secondary_of(held),
        wants_fits=True,
        redraws_split=filled.get("redraws_split", False) and not file,
    )


def secondary_of(held: TruthDraft | GroundTruth | None) -> list[tuple[str, dict[str, Any]]]:
    return [(one["key"], one["params"]) for one in held.secondary] if held else []


def _see_data(request: HttpRequest, competition: Competition, fragment: str = "") -> HttpResponse:
    page = truth_page_name(competition, "data")
    return see_other(page, query=origin_query(request), fragment=fragment, slug=competition.slug)


def _convert_draft(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Read a spreadsheet's file as the page offered to, or take some of its columns alone as answers."""
    competition, status = page_context.competition, 422
    form = _answers_form(competition)
    try:
        if request.POST["action"] == "as_meant":
            truth_drafts.apply_spreadsheet_conversion(competition=competition)
        else:
            names, group = request.POST.getlist("answers"), request.POST.get("group", "")
            truth_drafts.select_answer_columns(competition=competition, names=names, group=group)
        return _see_data(request, competition, "#check")
    except competitions.CannotHost as error:
        messages.error(request, str(error))
    except JobFailed:
        messages.error(request, str(BROKEN))
        status = 503
    return _data_page(request, page_context, form, status=status)


def _discard(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    truth_drafts.discard_draft(competition=page_context.competition)
    messages.info(request, _("The checked file is thrown away."))
    return _see_data(request, page_context.competition)


def _add_file(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    form = _data_file_form(request)
    status = add_posted_file(request, page_context, form)
    if status == 303:
        return _see_data(request, page_context.competition, "#files")
    return _data_page(request, page_context, _answers_form(page_context.competition), form, status=status)


def _data_file_form(request: HttpRequest | None = None) -> DataFileForm:
    """With ids of its own, because the answer file's form has fields of the same names."""
    data, files = (request.POST, request.FILES) if request else (None, None)
    return DataFileForm(data, files, auto_id="id_data_%s")


def _remove_file(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """No student has seen a file of a draft, so nobody is asked twice."""
    wanted = get_object_or_404(page_context.competition.data_files, name=request.POST.get("name", ""))
    data_files.remove_data_file(data_file=wanted, user=signed_in_user(page_context.user))
    messages.success(request, _("“%(name)s” is removed.") % {"name": wanted})
    with suppress(JobFailed):  # the button to look at the file is still there
        truth_drafts.recheck_blocked_draft(competition=page_context.competition)
    return _see_data(request, page_context.competition, "#files")


def _data_page(
    request: HttpRequest,
    page_context: PageContext,
    form: AnswersForm,
    file_form: DataFileForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    competition = page_context.competition
    context = {
        **wizard_context(request, page_context, "data"),
        **last_check_report(competition),
        "form": form,
        "history": competition.ground_truths.select_related("published_by").order_by("-number"),
    }
    if competition.launched_at is None:
        context |= {"file_form": file_form or _data_file_form(), "files": competition.data_files.all()}
    return render(request, "competitions/host_setup_data.html", context, status=status)


# --- what was found in a file -----------------------------------------------------------------------------------


def last_check_report(competition: Competition) -> dict[str, Any]:
    """What the last check found: of the draft, or of the published ground truth."""
    draft, ground_truth = draft_of(competition), competition.ground_truth
    if draft is not None:
        return {
            "draft": draft,
            "report": draft.report,
            "drafted": metric_or_none(draft.metric),
            "checked": draft,
            "needs_other_file": needs_other_file(draft),
            "answer_columns": _answer_columns(draft),
            "files_alone_block": truth_drafts.blocks_by_files_alone(draft.report),
        }
    check = TruthCheck.objects.filter(ground_truth=ground_truth).first() if ground_truth else None
    return {
        "draft": None,
        "report": check.report if check else None,
        "drafted": metric_or_none(ground_truth.metric) if ground_truth else None,
        "checked": ground_truth,
    }


def metric_or_none(key: str) -> metrics.Metric | None:
    """None when the metric's file is gone."""
    try:
        return metrics.get(key)
    except metrics.UnknownMetric:
        return None


def _answer_columns(draft: TruthDraft) -> dict[str, Any] | None:
    """The columns taken for answers, where there are several, and those of them that probably are some.

    Where further columns block, those that the ground truth has are proposed, else the last one: there a whole test set
    has its answers, as a rule.
    """
    names = truth_drafts.taken_for_answers(draft)
    if len(names) < 2:
        return None
    blocking = {one["code"]: one["column"] for one in draft.report["findings"] if one["blocking"]}
    is_stuck = needs_other_file(draft) and not set(names).isdisjoint(blocking.values())
    is_asked = is_stuck or truth_drafts.TOO_MANY_COLUMNS in blocking
    ground_truth = draft.competition.ground_truth
    known = [name for name in names if ground_truth and name in ground_truth.submission_columns]
    return {
        "names": names,
        "likely": (known or names[-1:]) if is_asked else names,
        "is_asked": is_asked,
        # The rows are still to be split, so one of the others may say which belong together.
        "may_group": bool(draft.report["is_split_by_system"]) and not draft.group_column,
    }
