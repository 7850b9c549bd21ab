"""The answers with their split, and files for students: step 2 of the wizard, after the launch a page under Manage."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.storage import TooLarge
from leaderboard.scorer.job_slots import JobFailed

from ..access import Audience, PageContext, open_to
from ..forms.ground_truth import AnswersForm
from ..forms.host import DataFileForm
from ..models import Competition
from ..services import competitions, data_files, secondary_metrics, truth_drafts
from .host_responses import add_refusal, message_data_file_added, refuse_too_large
from .truth_context import BROKEN, draft_of, file_at_hand, initial_split, last_check_report
from .wizard import origin_query, truth_page_name, wizard_context, wizard_step


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
    actions = {"as_meant": _apply_spreadsheet_conversion, "keep": _select_answer_columns, "discard": _discard}
    if page_context.competition.launched_at is None:
        actions |= {"add": _add_file, "remove": _remove_file}
    return actions.get(request.POST.get("action", ""), _check_answers)(request, page_context)


def _answers_form(competition: Competition, request: HttpRequest | None = None) -> AnswersForm:
    """As the last look was asked for, or as it is asked for now."""
    draft = draft_of(competition)
    has_split = competition.ground_truth_id is not None if draft is None else not draft.report["is_split_by_system"]
    # Once students compete, each row keeps its part.
    has_split &= competition.launched_at is None
    about_file: dict[str, Any] = {"has_file": file_at_hand(competition, draft), "has_split": has_split}
    if request is not None:
        return AnswersForm(request.POST, request.FILES, **about_file)
    return AnswersForm(initial=initial_split(competition, draft), **about_file)


def _check_answers(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Look at a file. Before the launch a new one gets the metric that is most usual for its answers, until another is
    chosen; a correction keeps the metric that counts."""
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


def _see_data(request: HttpRequest, competition: Competition, fragment: str = "") -> HttpResponse:
    page = truth_page_name(competition, "data")
    return see_other(page, query=origin_query(request), fragment=fragment, slug=competition.slug)


def _apply_spreadsheet_conversion(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """A spreadsheet's file, read as the page offered to."""
    return _convert_draft(
        request,
        page_context,
        lambda: truth_drafts.apply_spreadsheet_conversion(competition=page_context.competition),
    )


def _select_answer_columns(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """A file of which some columns alone are answers."""
    names, group = request.POST.getlist("answers"), request.POST.get("group", "")
    return _convert_draft(
        request,
        page_context,
        lambda: truth_drafts.select_answer_columns(competition=page_context.competition, names=names, group=group),
    )


def _convert_draft(request: HttpRequest, page_context: PageContext, read: Callable[[], object]) -> HttpResponse:
    form, status = _answers_form(page_context.competition), 422
    try:
        read()
        return _see_data(request, page_context.competition, "#check")
    except competitions.CannotHost as error:
        words: object = error
    except JobFailed:
        words, status = BROKEN, 503
    messages.error(request, str(words))
    return _data_page(request, page_context, form, status=status)


def _discard(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    truth_drafts.discard_draft(competition=page_context.competition)
    messages.info(request, _("The checked file is thrown away."))
    return _see_data(request, page_context.competition)


def _draft_from_form(competition: Competition, form: AnswersForm) -> None:
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
        secondary=_secondary_of(held),
        wants_fits=True,
        redraws_split=filled.get("redraws_split", False) and not file,
    )


def data_file_form(request: HttpRequest | None = None) -> DataFileForm:
    """With a prefix, because the answer file's form has fields of the same names."""
    data, files = (request.POST, request.FILES) if request else (None, None)
    return DataFileForm(data, files, auto_id="id_data_%s")


def _add_file(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    form, status = data_file_form(request), 422
    try:
        refuse_too_large(request)
        if form.is_valid():
            file, words = form.cleaned_data["file"], form.cleaned_data["description"]
            user, chunks = signed_in_user(page_context.user), file.chunks()
            added = data_files.add_data_file(
                competition=competition, file_name=file.name, chunks=chunks, description=words, user=user
            )
            message_data_file_added(request, added)
            return _see_data(request, competition, "#files")
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    return _data_page(request, page_context, _answers_form(competition), form, status=status)


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
        context |= {"file_form": file_form or data_file_form(), "files": competition.data_files.all()}
    return render(request, "competitions/host_setup_data.html", context, status=status)


def _secondary_of(held: Any) -> list[secondary_metrics.MetricWithParams]:
    return [(one["key"], one["params"]) for one in held.secondary] if held else []
